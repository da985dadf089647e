package score

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Reserver takes note of where a pod goes, before it is bound: a licence, an address, a volume.
type Reserver interface {
	// Name names the reserver in errors.
	Name() string
	// Reserve takes what the pod needs on node n. An error means that nothing was taken; it ends the placement.
	Reserve(in *Input, n topology.NodeID) error
	// Unreserve gives back what Reserve took, because the placement ended later, or was taken back by Unplace.
	Unreserve(in *Input, n topology.NodeID)
}

// Place decides, lets the reservers take what the pod needs, and binds it. If one of them, or Graph.Bind, returns an error,
// those before give back what they took, in reverse order, and nothing has happened.
func (p *Pipeline) Place(pod *berth.Pod) (Decision, error) {
	return p.PlaceContext(context.Background(), pod)
}

// PlaceContext is Place with the decision of DecideContext. The reservers see the context too.
func (p *Pipeline) PlaceContext(ctx context.Context, pod *berth.Pod) (Decision, error) {
	d, err := p.DecideContext(ctx, pod)
	if err != nil {
		return d, err
	}
	if len(d.Devices) > 0 {
		placed := *pod
		placed.GPU.Devices = d.Devices
		pod = &placed
	}
	if len(p.with.reservers) == 0 {
		return d, p.graph.Bind(pod, d.Node)
	}
	n, _ := p.graph.Topology().Lookup(d.Node)
	if err := p.reenter(ctx, pod); err != nil {
		return d, err
	}
	defer p.leave()
	for i, r := range p.with.reservers {
		if err := p.reserve(r, n); err != nil {
			return d, errors.Join(err, p.unreserve(p.with.reservers[:i], n))
		}
	}
	if err := p.graph.Bind(pod, d.Node); err != nil {
		return d, errors.Join(err, p.unreserve(p.with.reservers, n))
	}
	return d, nil
}

// Unplace takes back a Place that returned d, because what had to follow it failed: it releases the pod, and the reservers
// give back what they took. The error is affinity.ErrUnknownPod, or ErrConfig if the pod is on another node; then
// nothing has happened. It is ErrPlugin if a reserver panicked; the others have been asked all the same.
func (p *Pipeline) Unplace(pod *berth.Pod, d Decision) error {
	if node, ok := p.graph.NodeOf(pod.Key()); ok && node != d.Node {
		return fmt.Errorf("%w: pod %v is on node %q, not on %q", ErrConfig, pod.Key(), node, d.Node)
	}
	if err := p.graph.Release(pod.Key()); err != nil {
		return err
	}
	p.with.take(p, d.Plugins)
	if len(p.with.reservers) == 0 {
		return nil
	}
	if err := p.reenter(context.Background(), pod); err != nil {
		return err
	}
	defer p.leave()
	n, _ := p.graph.Topology().Lookup(d.Node)
	return p.unreserve(p.with.reservers, n)
}

func (p *Pipeline) reserve(r Reserver, n topology.NodeID) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pluginError{r.Name(), panicked(v)}
		}
	}()
	if err := r.Reserve(&p.in, n); err != nil {
		return &pluginError{r.Name(), err}
	}
	return nil
}

// unreserve asks the reservers in reverse order.
func (p *Pipeline) unreserve(reservers []Reserver, n topology.NodeID) (err error) {
	if len(reservers) == 0 {
		return nil
	}
	last := len(reservers) - 1
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(&pluginError{reservers[last].Name(), panicked(v)}, p.unreserve(reservers[:last], n))
		}
	}()
	reservers[last].Unreserve(&p.in, n)
	return p.unreserve(reservers[:last], n)
}
