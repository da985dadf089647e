package strategy

import (
	"slices"

	"github.com/berth-go/berth"
)

// placed is what the pods that were placed since a node was measured last are expected to use, by node: measurements lag,
// and without it all pods of a burst would go where one was best. The zero value is empty.
type placed struct {
	nodes map[string][]placedPod
}

type placedPod struct {
	key berth.PodKey
	use float64
}

func (p *placed) add(node string, key berth.PodKey, use float64) {
	p.remove(node, key)
	if p.nodes == nil {
		p.nodes = make(map[string][]placedPod)
	}
	p.nodes[node] = append(p.nodes[node], placedPod{key, use})
}

func (p *placed) remove(node string, key berth.PodKey) {
	list := slices.DeleteFunc(p.nodes[node], func(q placedPod) bool { return q.key == key })
	if len(list) == 0 {
		delete(p.nodes, node)
		return
	}
	p.nodes[node] = list
}

// settle drops the pods of a node: a measurement has them.
func (p *placed) settle(node string) { delete(p.nodes, node) }

// on returns the sum over a node's pods, in the order in which they came. O(pods placed there since it was measured).
func (p *placed) on(node string) float64 {
	if len(p.nodes) == 0 {
		return 0
	}
	var sum float64
	for _, q := range p.nodes[node] {
		sum += q.use
	}
	return sum
}
