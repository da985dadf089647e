package affinity

import (
	"github.com/berth-go/berth/internal/hashtable"
	"github.com/berth-go/berth/topology"
)

// columns are the nodes that a demand (static) fits on, sorted into groups, and in each group a heap of the nodes by the
// part of the score that depends on the node alone.
//
// The nodes of a group answer alike to every rule that looks at counts: they carry the same domains of the coarse keys,
// carry or lack the same fine keys, have the same static scores and, in the columns of a single plan, the same fine
// counts. Whether a group is feasible and what it scores is decided for the group, from the counters as they are; a
// change of a count by domain thus costs nothing here. A decision looks at every group and at the top of the best one's heap,
// not at nodes. A change of a node costs O(log nodes).
type columns struct {
	p *Profile
	static
	coarse, fine []topology.KeyID
	own          *plan            // whose fine counts are part of the tuples, or nil
	followed     []topology.KeyID // by those counts
	balances     bool             // whether the demand has a score of balanced allocation

	groups  []group
	tuples  []int64 // of the groups, one after the other
	byTuple hashtable.Table[int32]
	active  []int32 // groups with nodes

	slots []slot // by NodeID

	built      bool
	dropped    bool
	grown      bool // since the memory was counted
	imageEpoch uint32
	labelled   uint64 // the graph's, when the memory was counted
	seen       int64  // position in the dirty log
	bytes      int    // as accounted for in Graph.columnBytes
	prev, next *columns
	// scratch
	tuple tuple

	// What groups, tuples, active and tuple begin with, as in evaluation.
	groupsInPlace [4]group
	tuplesInPlace [4 * (tupleDomains + 1)]int64
	activeInPlace [4]int32
	tupleInPlace  [tupleDomains + 2]int64
}

// slot is where a node stands.
type slot struct {
	group int32 // noGroup if it is in none
	at    int32 // index in the heap of its group
}

const noGroup = -1

// group is a set of nodes that differ only in their local score.
type group struct {
	heap []standing // best first; see arity
	at   int32      // index in active
}

// arity is the number of children in a heap. Those of a node lie beside each other, so a wider heap is fewer places on the way down:
// that is what counts with cold caches, and with hot ones it costs a few comparisons more.
const arity = 8

// standing is a node in a heap with what decides on its place, so that a sift reads the heap and nothing else: on 5,000 nodes
// with cold caches each further place to look at costs more than the sift itself.
type standing struct {
	// rank is higher for the better of two nodes: the sum of the scores that depend on the node alone, times their weights, and below it
	// how early the node comes in the graph's order.
	rank uint64
	node topology.NodeID
	// parts are those scores, 0..100, from ScoreNodeResourcesFit on; 0 for one whose weight is 0.
	parts [Scorers - ScoreNodeResourcesFit]uint8
}

// orderBits is the part of a rank below the scores.
const orderBits = 32

// local is the part of the score that depends on the node alone.
func (s *standing) local() int64 { return int64(s.rank >> orderBits) }

// tuple is what the nodes of a group have in common: the elements named here, the domain of each coarse key, and in the
// columns of one plan the fine part.
type tuple []int64

const (
	tuplePresent = iota // which fine keys the nodes carry, as bits
	tupleTaints         // PreferNoSchedule taints not tolerated
	tuplePrefer         // sum of the weights of the preferred node affinity terms
	tupleGuest          // 1 + the node, if it is promised to nominated pods
	tupleDomains        // first coarse domain
)

// The fine part of a tuple: the counts of the fine keys.
const (
	fineInter  = iota // InterPodAffinity score
	fineMet           // 1 if each required affinity term has a pod
	fineCounts        // first count of a spread constraint
)

// newColumns returns empty columns for the demand and keys of a plan: those of the plan alone if own.
func (p *Profile) newColumns(pl *plan, own bool) *columns {
	c := &columns{p: p, static: p.g.holdStatic(&pl.r.static), coarse: pl.coarse, fine: pl.fine, balances: p.balances(pl.r.need)}
	c.prev, c.next = c, c
	width := tupleDomains + len(c.coarse)
	for _, k := range c.fine {
		p.g.keepKey(k)
	}
	for _, k := range c.coarse {
		p.g.keepKey(k)
	}
	if own {
		c.own, c.followed = pl, pl.followed()
		width += pl.suffix
		for _, k := range c.followed {
			p.g.fine[k]++
		}
	}
	c.groups, c.tuples, c.active = c.groupsInPlace[:0], c.tuplesInPlace[:0], c.activeInPlace[:0]
	if c.tuple = c.tupleInPlace[:0]; width > cap(c.tuple) {
		c.tuple = make(tuple, 0, width)
	}
	c.tuple = c.tuple[:width]
	return c
}

// drop forgets the columns.
func (c *columns) drop() {
	g := c.p.g
	c.prev.next, c.next.prev = c.next, c.prev
	g.columnBytes -= c.bytes
	c.dropped = true
	if g.decided == c {
		g.decided = nil
	}
	for _, k := range c.followed {
		g.fine[k]--
	}
	for _, k := range c.fine {
		g.dropKey(k)
	}
	for _, k := range c.coarse {
		g.dropKey(k)
	}
	g.releaseStatic(&c.static)
	// A plan may still point here; the memory goes now.
	c.groups, c.tuples, c.byTuple, c.active, c.slots = nil, nil, hashtable.Table[int32]{}, nil, nil
	clear(c.groupsInPlace[:])
}

func (g *Graph) maxColumnBytes() int {
	if g.cfg.MaxColumnBytes > 0 {
		return g.cfg.MaxColumnBytes
	}
	return max(16<<20, 128*g.x.Len())
}

func (c *columns) size() int {
	return 8*cap(c.slots) + 16*c.p.g.x.Len() + len(c.groups)*(80+16*len(c.tuple)) + 1024
}

// build computes the columns from nothing.
func (c *columns) build() {
	g := c.p.g
	c.built, c.grown, c.imageEpoch = true, true, g.imageEpoch
	c.seen = g.log.end()
	g.log.read = c.seen
	c.groups, c.tuples, c.active = c.groups[:0], c.tuples[:0], c.active[:0]
	c.byTuple = hashtable.Table[int32]{}
	n := g.x.Cap()
	if cap(c.slots) < n {
		c.slots = make([]slot, n, n+n/8)
	}
	c.slots = c.slots[:n]
	for i := range c.slots {
		c.slots[i].group = noGroup
	}
	candidates := g.x.Live()
	if c.match != nil {
		candidates = &c.match.set
	}
	for n := candidates.Next(0); n != topology.None; n = candidates.Next(n + 1) {
		if c.look(n) {
			gr := c.groupOf()
			h := &c.groups[gr]
			c.slots[n] = slot{gr, int32(len(h.heap))}
			h.heap = append(h.heap, c.rate(n))
		}
	}
	for _, gr := range c.active {
		c.heapify(gr)
	}
}

// standing returns that of node n, which is in a group.
func (c *columns) standing(n topology.NodeID) *standing {
	sl := c.slots[n]
	return &c.groups[sl.group].heap[sl.at]
}

// tupleOf returns what the nodes of a group have in common. It is valid until there is a new group.
func (c *columns) tupleOf(gr int32) tuple {
	w := len(c.tuple)
	return tuple(c.tuples[int(gr)*w : (int(gr)+1)*w])
}

func (t tuple) equal(o tuple) bool {
	for i, v := range t {
		if v != o[i] {
			return false
		}
	}
	return true
}

// hash is for byTuple.
func (t tuple) hash() uint32 {
	var h uint64
	for _, v := range t {
		h = (h ^ uint64(v)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return hashtable.Fold(h)
}

// forget takes out node n, which is about to be removed: its id may soon be that of a node with another place in the order
// of a heap, and a heap whose order changes behind its back is none.
func (c *columns) forget(n topology.NodeID) {
	if int(n) < len(c.slots) && c.slots[n].group != noGroup {
		c.leave(n)
	}
}

// compact drops the empty groups.
func (c *columns) compact() {
	c.byTuple = hashtable.Table[int32]{}
	kept, tuples := make([]group, 0, 2*len(c.active)), make([]int64, 0, 2*len(c.active)*len(c.tuple))
	for i, gr := range c.active {
		h := c.groups[gr]
		h.at = int32(i)
		c.active[i] = int32(len(kept))
		for _, s := range h.heap {
			c.slots[s.node].group = c.active[i]
		}
		c.byTuple.Add(c.tupleOf(gr).hash(), c.active[i])
		kept, tuples = append(kept, h), append(tuples, c.tupleOf(gr)...)
	}
	clear(c.groupsInPlace[:]) // or what they hold would stay
	c.groups, c.tuples = kept, tuples
}

// look evaluates the rules that depend on node n alone and, if none refuses, fills in c.tuple.
func (c *columns) look(n topology.NodeID) bool {
	g := c.p.g
	if !g.x.Live().Has(n) {
		return false
	}
	if rule, _ := c.p.nodeVerdict(&c.static, n, nil); rule != Feasible {
		return false
	}
	t, s := c.tuple, &g.nodes[n]
	t[tupleTaints] = int64(c.tolerator.of(g, s.taints).prefer)
	t[tuplePrefer] = 0
	for _, w := range c.preferred {
		if w.m.set.Has(n) {
			t[tuplePrefer] += w.weight
		}
	}
	t[tupleGuest] = 0
	if s.extra != nil && len(s.extra.nominated) > 0 {
		t[tupleGuest] = int64(n) + 1
	}
	t[tuplePresent] = 0
	for i, k := range c.fine {
		if g.x.Value(n, k) != topology.NoValue {
			t[tuplePresent] |= 1 << i
		}
	}
	for i, k := range c.coarse {
		t[tupleDomains+i] = int64(g.x.Value(n, k))
	}
	return c.own == nil || c.own.lookFine(n, t[tupleDomains+len(c.coarse):])
}

func (c *columns) heapify(gr int32) {
	for i := (len(c.groups[gr].heap) - 2) / arity; i >= 0; i-- {
		c.down(gr, i)
	}
}
