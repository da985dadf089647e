package strategy

import (
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// peerIndex counts the placed pods of each selection by domain, and keeps the counts up to date from the changes of a graph.
// Domains are those of a topology.Tree; but a Tree is of one moment, and knows distances of pairs, not their sum over all
// pods. That sum is, level by level, the number of pods that are not in the node's domain:
//
//	sum over pods of distance(n, pod's node) = sum over levels of (total - count in n's domain of the level)
type peerIndex struct {
	graph  *affinity.Graph // to tell one from another
	seen   int64           // position among its changes
	keys   []topology.KeyID
	levels int

	domains map[domainEdge]int32
	weight  [][]int64 // by selection and domain
	total   []int64   // by selection

	path  []int32 // by node and level: the domain, or noDomain from some level on
	count []int32 // by node and selection
}

// domainEdge is a domain within its parent.
type domainEdge struct {
	parent int32
	value  topology.ValueID
}

const noDomain = -1

// follow brings the counts up to date.
func (x *peerIndex) follow(g *affinity.Graph, levels []string, selections []selection) {
	if x.graph != g {
		*x = peerIndex{graph: g, levels: len(levels), domains: make(map[domainEdge]int32)}
		x.weight, x.total = make([][]int64, len(selections)), make([]int64, len(selections))
	}
	top := g.Topology()
	x.keys = x.keys[:0]
	for _, level := range levels {
		key, ok := top.FindKey(level)
		if !ok {
			break // no node has a domain from here on
		}
		x.keys = append(x.keys, key)
	}
	for len(x.path) < top.Cap()*x.levels {
		x.path = append(x.path, noDomain)
	}
	if more := top.Cap()*len(selections) - len(x.count); more > 0 {
		x.count = append(x.count, make([]int32, more)...)
	}
	changed, now, ok := g.Changes(x.seen)
	x.seen = now
	if ok {
		for _, n := range changed {
			x.update(n, selections)
		}
		return
	}
	for n := range topology.NodeID(len(x.count) / len(selections)) { // removed ones too
		x.update(n, selections)
	}
}

// update counts a node again, as it is now.
func (x *peerIndex) update(n topology.NodeID, selections []selection) {
	count := x.count[int(n)*len(selections):][:len(selections)]
	x.move(n, count, -1)
	clear(count)
	path := x.path[int(n)*x.levels:][:x.levels]
	for l := range path {
		path[l] = noDomain
	}
	top := x.graph.Topology()
	if !top.Live().Has(n) {
		return
	}
	parent := int32(noDomain)
	for l, key := range x.keys {
		v := top.Value(n, key)
		if v == topology.NoValue {
			break
		}
		parent = x.domain(domainEdge{parent, v})
		path[l] = parent
	}
	for _, p := range x.graph.PodsOn(n) {
		for i := range selections {
			if selections[i].has(p) {
				count[i]++
			}
		}
	}
	x.move(n, count, +1)
}

// move adds a node's counts, times sign, to its domains.
func (x *peerIndex) move(n topology.NodeID, count []int32, sign int64) {
	for i, c := range count {
		if c == 0 {
			continue
		}
		x.total[i] += sign * int64(c)
		for _, d := range x.path[int(n)*x.levels:][:x.levels] {
			if d != noDomain {
				x.weight[i][d] += sign * int64(c)
			}
		}
	}
}

func (x *peerIndex) domain(e domainEdge) int32 {
	d, ok := x.domains[e]
	if !ok {
		d = int32(len(x.domains))
		x.domains[e] = d
		for i := range x.weight {
			x.weight[i] = append(x.weight[i], 0)
		}
	}
	return d
}

// distance returns the sum of the distances from node n to the pods of a selection. O(levels).
func (x *peerIndex) distance(n topology.NodeID, selection int) int64 {
	var sum int64
	for _, d := range x.path[int(n)*x.levels:][:x.levels] {
		if d != noDomain {
			sum += x.total[selection] - x.weight[selection][d]
		} else { // nothing is shared but the node itself
			sum += x.total[selection] - int64(x.count[int(n)*len(x.total)+selection])
		}
	}
	return sum
}
