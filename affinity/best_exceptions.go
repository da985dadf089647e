package affinity

import "github.com/berth-go/berth/topology"

// exceptions are the nodes with counts of fine keys, for a plan that decides by shared columns. They are taken out of their
// groups for the decision and looked at one by one. Reused by the next decision.
type exceptions struct {
	nodes []topology.NodeID
	epoch uint32
	mark  []uint32 // epoch in which the node was an exception last, by NodeID
	taken []int32  // exceptions by group, 0 for most
	used  []int32  // groups where taken is not 0
	fine  []int64  // memory for their fine parts
	queue []int32  // scratch of topOf
}

// reset empties x. It is not needed if no node was marked in this epoch.
//
//go:noinline
func (x *exceptions) reset() {
	x.nodes = x.nodes[:0]
	for _, gr := range x.used {
		x.taken[gr] = 0
	}
	x.used = x.used[:0]
	if x.epoch++; x.epoch == 0 {
		clear(x.mark)
		x.epoch = 1
	}
}

// collect finds the exceptions of a plan. O(domains with counts * their size).
func (x *exceptions) collect(pl *plan, c *columns) {
	index := &pl.p.g.x
	if len(x.mark) < index.Cap() {
		x.mark = append(x.mark, make([]uint32, index.Cap()-len(x.mark))...)
	}
	if len(x.taken) < len(c.groups) {
		x.taken = append(x.taken, make([]int32, len(c.groups)-len(x.taken))...)
	}
	for i := range pl.fineRules {
		f := &pl.fineRules[i]
		f.counts.each(func(v topology.ValueID) {
			if f.key == perNode {
				x.add(topology.NodeID(v), c)
				return
			}
			for n := range index.Nodes(topology.Domain{Key: f.key, Value: v}) {
				x.add(n, c)
			}
		})
	}
}

func (x *exceptions) add(n topology.NodeID, c *columns) {
	if x.mark[n] == x.epoch {
		return
	}
	x.mark[n] = x.epoch
	x.nodes = append(x.nodes, n)
	if gr := c.slots[n].group; gr != noGroup {
		if x.taken[gr] == 0 {
			x.used = append(x.used, gr)
		}
		x.taken[gr]++
	}
}

func (x *exceptions) has(n topology.NodeID) bool { return len(x.nodes) > 0 && x.mark[n] == x.epoch }

// in returns the number of exceptions of a group.
func (x *exceptions) in(gr int32) int { return int(x.taken[gr]) }

// topOf returns the best node of a group that is not an exception; there must be one. It searches the heap from the top, best
// first, by a queue of indices: O(k log k) for k exceptions above the node.
func (x *exceptions) topOf(c *columns, h *group) standing {
	q := append(x.queue[:0], 0)
	before := func(i, k int) bool { return c.p.g.beats(&h.heap[q[i]], &h.heap[q[k]]) }
	for {
		i := int(q[0])
		if s := h.heap[i]; !x.has(s.node) {
			x.queue = q
			return s
		}
		last := len(q) - 1
		q[0] = q[last]
		q = q[:last]
		for p := 0; ; { // sift down
			k := 2*p + 1
			if k+1 < len(q) && before(k+1, k) {
				k++
			}
			if k >= len(q) || !before(k, p) {
				break
			}
			q[p], q[k] = q[k], q[p]
			p = k
		}
		for child := arity*i + 1; child < min(arity*i+1+arity, len(h.heap)); child++ {
			q = append(q, int32(child))
			for k := len(q) - 1; k > 0 && before(k, (k-1)/2); k = (k - 1) / 2 { // sift up
				q[k], q[(k-1)/2] = q[(k-1)/2], q[k]
			}
		}
	}
}
