package affinity

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Taints returns the taints of node n. The caller must not change them; they are valid until the next update of the node.
// O(1).
func (g *Graph) Taints(n topology.NodeID) []berth.Taint { return g.taintSets[g.nodes[n].taints].taints }

// Unschedulable reports whether node n is cordoned.
func (g *Graph) Unschedulable(n topology.NodeID) bool { return g.nodes[n].unschedulable }

// UnionTainted adds to s the nodes that carry a taint which match accepts. Match is asked once for each taint of each list
// of taints that nodes have in common, not for each node; it must not change the taint. O(lists + nodes).
func (g *Graph) UnionTainted(s *topology.NodeSet, match func(*berth.Taint) bool) {
	carry := make([]bool, len(g.taintSets))
	for i := range g.taintSets {
		for k := range g.taintSets[i].taints {
			carry[i] = carry[i] || match(&g.taintSets[i].taints[k])
		}
	}
	if !slices.Contains(carry, true) {
		return
	}
	for n := range g.x.Live().All() {
		if carry[g.nodes[n].taints] {
			s.Add(n)
		}
	}
}
