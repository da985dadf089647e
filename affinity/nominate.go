package affinity

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// nominated is a pod that waits for room on a node that a preemption makes there.
type nominated struct {
	key   berth.PodKey
	class *class
}

// Nominate promises a pod room on a node: pods of lower priority find the node as if the pod ran there. A pod has one
// nomination; a new one takes the place of the old. The errors are a *berth.Fault, ErrUnknownNode, or ErrPodExists if the
// pod is placed.
func (g *Graph) Nominate(p *berth.Pod, node string) error {
	c, err := g.validClass(p)
	if err != nil {
		return err
	}
	n, ok := g.x.Lookup(node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	if _, ok := g.lookup(p.Key()); ok {
		return fmt.Errorf("%w: %v", ErrPodExists, p.Key())
	}
	g.use(c)
	g.Denominate(p.Key())
	e := g.nodes[n].more()
	e.nominated = append(e.nominated, nominated{p.Key(), c})
	g.nominations[p.Key()] = n
	g.touchAll(n)
	return nil
}

// Denominate ends the nomination of a pod, if it has one.
func (g *Graph) Denominate(key berth.PodKey) {
	n, ok := g.nominations[key]
	if !ok {
		return
	}
	delete(g.nominations, key)
	e := g.nodes[n].extra
	i := slices.IndexFunc(e.nominated, func(o nominated) bool { return o.key == key })
	c := e.nominated[i].class
	e.nominated = slices.Delete(e.nominated, i, i+1)
	g.unuse(c)
	g.touchAll(n)
}
