package score

import (
	"context"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// decide is the general path: a set of feasible nodes, a column a scorer, their weighted sum, its maximum.
func (p *Pipeline) decide(ctx context.Context, pod *berth.Pod) (Decision, error) {
	if err := p.enter(ctx, pod); err != nil {
		return Decision{}, err
	}
	defer p.leave()
	var plugins []PluginID
	if p.registry != nil {
		plugins = p.registry.Plugins(pod)
		p.with.take(p, plugins)
	}
	if err := p.profile.Feasible(pod, &p.feasible); err != nil {
		return Decision{}, err
	}
	if err := p.filter(); err != nil {
		return Decision{}, err
	}
	p.nodes = p.feasible.AppendTo(p.nodes[:0])
	if len(p.nodes) == 0 {
		return Decision{}, p.unschedulable(pod)
	}
	if err := p.scoreBuiltin(ctx, pod); err != nil {
		return Decision{}, err
	}
	outcomes, err := p.score(ctx)
	if err != nil {
		return Decision{}, err
	}
	if len(p.nodes) == 0 {
		return Decision{}, p.unschedulable(pod)
	}
	best := p.pass.winner()
	d := Decision{Node: p.graph.Topology().Name(best), Score: p.pass.total[best], Signals: outcomes, Plugins: plugins, Feasible: len(p.nodes)}
	if len(p.with.scorers) > 0 {
		d.Own = make([]int64, len(p.with.scorers))
	}
	for i := range d.Own {
		d.Own[i] = p.pass.columns[i][best]
	}
	for i := range d.Signals {
		d.Signals[i].Score = p.signals.columns[i][best]
	}
	for s, weight := range p.profile.Weights() {
		if weight > 0 {
			d.Builtin[s] = p.eval.Scores[s][best]
		}
	}
	if d.Devices, err = p.pickDevices(best); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// enter begins a decision: from now on p.in is about the pod.
func (p *Pipeline) enter(ctx context.Context, pod *berth.Pod) error {
	class, err := p.graph.Class(pod)
	if err != nil {
		return err
	}
	p.in = Input{Pod: pod, Graph: p.graph, Class: class, ctx: ctx, serial: p.in.serial + 1}
	return nil
}

// leave drops what is the caller's and not to be kept.
func (p *Pipeline) leave() {
	p.in.Pod, p.in.ctx, p.pass.ctx, p.signals.fallback.ctx = nil, nil, nil, nil
}

// reenter goes back to the decision on the pod that was the last, if p.in is about that, so that what plugins put into slots
// is there.
func (p *Pipeline) reenter(ctx context.Context, pod *berth.Pod) error {
	serial := p.in.serial
	if err := p.enter(ctx, pod); err != nil {
		return err
	}
	p.in.serial = serial
	return nil
}

// score brings the sums of all nodes, and takes out those that sources refuse.
func (p *Pipeline) score(ctx context.Context) ([]Outcome, error) {
	if len(p.signals.all) == 0 {
		chosen, err := p.pass.score(ctx, p.with.scorers, true)
		if err == nil && !chosen {
			err = p.pass.choose()
		}
		return nil, err
	}
	fetches := p.signals.start(p)
	defer stop(fetches)
	if _, err := p.pass.score(ctx, p.with.scorers, false); err != nil {
		return nil, err
	}
	if err := p.signals.prepare(ctx, fetches); err != nil {
		return nil, err
	}
	outcomes, err := p.signals.collect(p, fetches)
	if err != nil || len(p.nodes) == 0 {
		return nil, err
	}
	return outcomes, p.pass.choose()
}

// scoreBuiltin brings the built-in scores of the nodes that rules and filters leave, if there are any such scores.
func (p *Pipeline) scoreBuiltin(ctx context.Context, pod *berth.Pod) error {
	if p.profile.Weights() == (affinity.Weights{}) {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := p.profile.EvaluateWithin(ctx, pod, &p.feasible, &p.eval); err != nil {
		if ctx.Err() != nil {
			return interrupted(ctx.Err())
		}
		return err
	}
	return nil
}

// builtin returns the column of the sum of the built-in scores, nil without any.
func (p *Pipeline) builtin() []int64 {
	if p.profile.Weights() == (affinity.Weights{}) {
		return nil
	}
	return p.eval.Total
}

// better returns the best of nodes and best, which may be none.
func (p *Pipeline) better(total []int64, best topology.NodeID, nodes []topology.NodeID) topology.NodeID {
	if best == topology.None {
		best, nodes = nodes[0], nodes[1:]
	}
	most := total[best]
	for _, n := range nodes {
		if t := total[n]; t > most || t == most && p.graph.Before(n, best) {
			best, most = n, t
		}
	}
	return best
}

func (p *Pipeline) pickDevices(n topology.NodeID) (devices []int, err error) {
	if p.in.Pod.GPU.Count == 0 {
		return nil, nil
	}
	for _, s := range p.with.scorers {
		if picker, ok := s.Scorer.(DevicePicker); ok {
			err = p.pass.guard(s, func() error {
				devices = picker.PickDevices(&p.in, n)
				return nil
			})
			return devices, err
		}
	}
	return nil, nil
}
