package affinity

import "github.com/berth-go/berth/topology"

// refresh brings the columns up to date and makes them the most recently used. O(changes since) as a rule, else O(nodes).
func (c *columns) refresh() {
	g := c.p.g
	if c.seen != g.log.end() || c.imageEpoch != g.imageEpoch || !c.built { // else nothing has changed
		if !c.sync() {
			c.build()
		}
	}
	if c.next != &g.columnsLRU { // else it is there already
		c.prev.next, c.next.prev = c.next, c.prev
		c.prev, c.next = g.columnsLRU.prev, &g.columnsLRU
		c.prev.next, g.columnsLRU.prev = c, c
	}
	if c.grown || c.labelled != g.labelled {
		c.account()
	}
}

// account counts the memory of the columns, and drops the least recently used ones if all together take too much.
func (c *columns) account() {
	g := c.p.g
	c.grown, c.labelled = false, g.labelled
	size := c.size()
	g.columnBytes += size - c.bytes
	c.bytes = size
	for g.columnBytes > g.maxColumnBytes() && g.columnsLRU.next != c {
		g.columnsLRU.next.drop()
	}
}

// follow brings the columns up to date after the binding that they led to. It leaves the next decision less to do, and costs less now, as
// the node is at hand, than when it has to be fetched again.
func (c *columns) follow() {
	if l := &c.p.g.log; l.end()-c.seen <= followMax {
		c.sync()
	}
}

// followMax is the number of changed nodes up to which a binding brings columns up to date.
const followMax = 2

// sync looks again at the nodes that changed. It reports false if it takes a build to be up to date.
func (c *columns) sync() bool {
	g := c.p.g
	l := &g.log
	if !c.built || c.seen < l.first || c.imageEpoch != g.imageEpoch && len(c.need.images) > 0 {
		return false
	}
	dirty := l.nodes[c.seen-l.first:]
	if len(dirty) > g.x.Len()/2+8 {
		return false
	}
	for len(c.slots) < g.x.Cap() { // the graph's labels have changed, so the memory is counted anew
		c.slots = append(c.slots, slot{group: noGroup})
	}
	staticEnd := l.staticEnd()
	for i, n := range dirty {
		if at := c.seen + int64(i); at >= staticEnd || !l.isStatic(at) {
			c.reload(n)
		} else {
			c.repair(n)
		}
	}
	c.seen = l.end()
	l.read = c.seen
	return true
}

// reload brings a node up to date of which only pods or counts changed: what else makes its tuple stays as it is, and in shared
// columns that is all.
func (c *columns) reload(n topology.NodeID) {
	gr := c.slots[n].group
	if gr == noGroup {
		c.repair(n)
		return
	}
	if !c.p.fits(&c.static, n) {
		c.leave(n)
		return
	}
	s := c.rate(n)
	if c.own != nil {
		was := c.tupleOf(gr)
		copy(c.tuple, was)
		if !c.own.lookFine(n, c.tuple[tupleDomains+len(c.coarse):]) {
			c.leave(n)
			return
		}
		if !c.tuple.equal(was) {
			c.leave(n)
			c.join(s)
			return
		}
	}
	c.rescore(s)
}

// rescore gives a node, which is in a group, another standing.
func (c *columns) rescore(now standing) {
	sl := c.slots[now.node]
	s := &c.groups[sl.group].heap[sl.at]
	was := s.rank
	if *s = now; now.rank != was {
		c.fix(sl.group, int(sl.at), now.rank > was)
	}
}

func (c *columns) fix(gr int32, i int, better bool) {
	if better {
		c.up(gr, i)
	} else {
		c.down(gr, i)
	}
}

func (c *columns) up(gr int32, i int) {
	h := c.groups[gr].heap
	s := h[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !c.p.g.beats(&s, &h[parent]) {
			break
		}
		c.put(h, i, h[parent])
		i = parent
	}
	c.put(h, i, s)
}

func (c *columns) down(gr int32, i int) {
	h := c.groups[gr].heap
	s := h[i]
	for {
		first := arity*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for k := first + 1; k < min(first+arity, len(h)); k++ {
			if c.p.g.beats(&h[k], &h[best]) {
				best = k
			}
		}
		if !c.p.g.beats(&h[best], &s) {
			break
		}
		c.put(h, i, h[best])
		i = best
	}
	c.put(h, i, s)
}

func (c *columns) put(h []standing, i int, s standing) {
	h[i] = s
	c.slots[s.node].at = int32(i)
}

// beats reports whether a stands above b in a heap.
func (g *Graph) beats(a, b *standing) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return g.named(a.node, b.node)
}

// ahead is before.
func (g *Graph) ahead(a, b *standing) bool {
	if x, y := uint32(a.rank), uint32(b.rank); x != y {
		return x > y
	}
	return g.named(a.node, b.node)
}

// named reports whether the name of a comes first: two nodes hardly ever have the same place in the order.
//
//go:noinline
func (g *Graph) named(a, b topology.NodeID) bool { return g.x.Name(a) < g.x.Name(b) }

// repair brings one node up to date.
func (c *columns) repair(n topology.NodeID) {
	sl := c.slots[n]
	if !c.look(n) {
		if sl.group != noGroup {
			c.leave(n)
		}
		return
	}
	s := c.rate(n)
	if sl.group != noGroup {
		if c.tupleOf(sl.group).equal(c.tuple) {
			c.rescore(s)
			return
		}
		c.leave(n)
	}
	c.join(s)
}

// join puts a node, which is in no group, into that of c.tuple.
func (c *columns) join(s standing) {
	gr := c.groupOf()
	h := &c.groups[gr]
	c.slots[s.node] = slot{gr, int32(len(h.heap))}
	h.heap = append(h.heap, s)
	c.up(gr, len(h.heap)-1)
}

// leave takes node n out of its group. Empty groups are kept for the next node of their kind until they are many.
func (c *columns) leave(n topology.NodeID) {
	gr := c.slots[n].group
	h := &c.groups[gr]
	i, last := int(c.slots[n].at), len(h.heap)-1
	c.slots[n].group = noGroup
	moved := h.heap[last]
	h.heap = h.heap[:last]
	if i < last {
		h.heap[i] = moved
		c.slots[moved.node].at = int32(i)
		c.fix(gr, i, true)
		c.fix(gr, int(c.slots[moved.node].at), false)
	}
	if last > 0 {
		return
	}
	end := len(c.active) - 1
	c.active[h.at] = c.active[end]
	c.groups[c.active[h.at]].at = h.at
	c.active = c.active[:end]
	h.at = -1
	if len(c.groups) > 4*len(c.active)+256 {
		c.compact()
	}
}

// groupOf returns the group of c.tuple, active.
func (c *columns) groupOf() int32 {
	hash := c.tuple.hash()
	gr := c.find(c.tuple, hash)
	if gr == noGroup {
		gr = int32(len(c.groups))
		c.byTuple.Add(hash, gr)
		c.groups, c.grown = append(c.groups, group{at: -1}), true
		c.tuples = append(c.tuples, c.tuple...)
	}
	if h := &c.groups[gr]; h.at < 0 {
		h.at = int32(len(c.active))
		c.active = append(c.active, gr)
	}
	return gr
}

// find returns the group of tuple t, noGroup if there is none.
func (c *columns) find(t tuple, hash uint32) int32 {
	if c.byTuple.Len() == 0 {
		return noGroup
	}
	for i := c.byTuple.At(hash); c.byTuple.Entries[i].Hash != 0; i = c.byTuple.After(i) {
		if e := &c.byTuple.Entries[i]; e.Hash == hash && c.tupleOf(e.Item).equal(t) {
			return e.Item
		}
	}
	return noGroup
}
