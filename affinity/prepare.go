package affinity

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Prepared is a pod together with what the graph knows of pods like it, found once, say when the pod enters a queue, instead of
// anew when it is decided on and when it is bound. Make one with Graph.Prepare. The pod must not be changed as long as it is
// in use, but for the GPUs that it is to get (GPU.Devices). It needs no release, and it may be used again after its pod was released.
type Prepared struct {
	graph *Graph
	class *class
	pod   *berth.Pod
	// What of the pod a decision and a binding read, so that the pod itself need not be fetched.
	name, node string
	start      int64
	hash       uint32 // of the key, in podTable
}

// Prepare finds out about a pod what Profile.BestPrepared and BindPrepared need. The error is a *berth.Fault.
// O(spec) for a known class.
func (g *Graph) Prepare(pod *berth.Pod) (*Prepared, error) {
	c, err := g.validClass(pod)
	if err != nil {
		return nil, err
	}
	w := g.prepared(pod, c)
	return &w, nil
}

func (g *Graph) prepared(pod *berth.Pod, c *class) Prepared {
	return Prepared{
		graph: g, class: c, pod: pod, name: pod.Name, node: pod.NodeName,
		start: startOf(pod), hash: g.podByKey.hash(c.ns, pod.Name),
	}
}

func startOf(pod *berth.Pod) int64 {
	if pod.StartTime.IsZero() {
		return noStart
	}
	return pod.StartTime.UnixNano()
}

// Pod returns the pod.
func (w *Prepared) Pod() *berth.Pod { return w.pod }

// classFor returns the class of a prepared pod in g. It is found again if the pod was prepared for another graph or its class was
// dropped meanwhile, because nobody used it.
func (w *Prepared) classFor(g *Graph) (*class, error) {
	if w.graph != g || w.class.dropped {
		c, err := g.validClass(w.pod)
		if err != nil {
			return nil, err
		}
		*w = g.prepared(w.pod, c)
	} else if w.class.idle {
		g.refresh(w.class)
	}
	return w.class, nil
}

// BestPrepared is Best for a prepared pod. It doesn't read the spec.
func (p *Profile) BestPrepared(w *Prepared) (Choice, bool, error) {
	cl, err := w.classFor(p.g)
	if err != nil {
		return Choice{Node: topology.None}, false, err
	}
	choice := p.choose(cl, w.pod, w.node)
	return choice, choice.Node != topology.None, nil
}

// BindPrepared is Bind for a prepared pod. O(matching terms).
func (g *Graph) BindPrepared(w *Prepared, node string) error {
	if _, err := w.classFor(g); err != nil {
		return err
	}
	n, ok := g.Lookup(node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	return g.bind(w, n)
}
