package affinity

import (
	"encoding/binary"

	"github.com/berth-go/berth/topology"
)

// columns are what a profile keeps of a class: its nodes, sorted into groups, and in each group a heap of the nodes by
// the part of the score that depends on the node alone.
//
// The nodes of a group answer alike to every rule that looks at counts: they carry the same domains of the coarse keys, the same
// counts of the fine keys, and have the same raw static scores. Whether a group is feasible and what it scores is decided
// for the group, from the counters as they are; a change of a count by domain thus costs nothing here. Nodes that a rule
// of their own refuses (taints, resources, ...) are in no group. A decision looks at every group and at the top of the
// best one's heap, not at nodes. A change of a node costs O(log nodes).
//
// A key is coarse if its domains are few and large (zone), fine if they are many and small (hostname): then the nodes of a domain
// are looked at again when a count of it changes.
type columns struct {
	p *Profile
	r *rules
	layout

	groups  []group
	byTuple map[string]int32
	active  []int32 // groups with nodes

	group []int32 // of each node, noGroup if it is in none
	at    []int32 // its index in the heap of its group
	local []int32 // its score

	version    uint32 // of the class when built
	imageEpoch uint32
	seen       int64 // position in the dirty log
	bytes      int   // as accounted for in Graph.columnBytes
	prev, next *columns
	// scratch
	tuple tuple
	key   []byte
}

const noGroup = -1

// group is a set of nodes that differ only in their local score.
type group struct {
	tuple tuple
	heap  []topology.NodeID // 4-ary: highest local score first, then the graph's order
	at    int32             // index in active
}

// tuple is what the nodes of a group have in common. The first elements are named below; then come the domain of each
// coarse key and the fine counts.
type tuple []int64

const (
	tupleFlags   = iota
	tupleTaints  // PreferNoSchedule taints not tolerated
	tuplePrefer  // sum of the weights of the preferred node affinity terms
	tupleFine    // InterPodAffinity score from fine keys
	tupleGuest   // 1 + the node, if it is promised to pods that this one must make room for
	tupleDomains // first coarse domain
)

const (
	flagFineAffinity = 1 << iota // fine required affinity terms have a pod
	flagIgnored                  // lacks the key of a soft constraint
	flagHostname                 // has a hostname
)

// layout says which keys are followed how, and where in the tuple each rule finds its domain or count.
type layout struct {
	coarse   []topology.KeyID
	fine     []topology.KeyID
	affinity []place
	anti     []place
	soft     []place
	spread   []place
	scored   []place
	blocking []ownersPlace // placed pods' anti-affinity against the class
	wishing  []ownersPlace // placed pods' other terms for the class
	width    int
}

// place is an index in the tuple: of the domain if the key is coarse, of the count itself if it is fine. Fine pod
// affinity terms have none; they are summed up when the node is looked at.
type place struct {
	fine bool
	at   int
}

type ownersPlace struct {
	o *owners
	place
}

// coarseMax is the number of domains up to which a key is always coarse.
const coarseMax = 64

// newLayout sorts the keys of the class by how they are followed: node by node where a change of a count concerns fewer
// nodes than a decision would otherwise have groups to look at.
func (c *columns) newLayout() {
	g, r := c.p.g, c.r
	l := layout{width: tupleDomains}
	forced := make(map[topology.KeyID]bool) // the number of feasible domains counts: needs groups
	for i := range r.scored {
		if !r.scored[i].hostname {
			forced[r.scored[i].key] = true
		}
	}
	places := make(map[topology.KeyID]place)
	of := func(k topology.KeyID) place {
		if pl, ok := places[k]; ok {
			return pl
		}
		var pl place
		if d := g.x.Domains(k); d > coarseMax && g.x.MeanSize(k) < float64(d) && !forced[k] {
			pl = place{fine: true, at: -1}
			l.fine = append(l.fine, k)
		} else {
			pl = place{at: l.width}
			l.coarse = append(l.coarse, k)
			l.width++
		}
		places[k] = pl
		return pl
	}
	for _, ctr := range r.affinity {
		l.affinity = append(l.affinity, of(ctr.key))
	}
	for _, ctr := range r.anti {
		l.anti = append(l.anti, of(ctr.key))
	}
	for _, t := range r.soft {
		l.soft = append(l.soft, of(t.counter.key))
	}
	for _, link := range r.class.matchers {
		for _, o := range link.matcher.owners {
			pl := ownersPlace{o, of(o.key)}
			l.blocking = append(l.blocking, pl)
			l.wishing = append(l.wishing, pl)
		}
	}
	for i := range r.spread {
		l.spread = append(l.spread, of(r.spread[i].key))
	}
	for i := range r.scored {
		if r.scored[i].hostname {
			l.scored = append(l.scored, place{fine: true})
		} else {
			l.scored = append(l.scored, of(r.scored[i].key))
		}
	}
	// Counts of fine keys that are compared or weighed at decision time follow the domains.
	count := func(ps []place) {
		for i := range ps {
			if ps[i].fine {
				ps[i].at = l.width
				l.width++
			}
		}
	}
	count(l.spread)
	count(l.scored)
	if c.p.cfg.IgnorePreferredTermsOfExistingPods && len(r.soft) == 0 {
		l.wishing = nil
	}
	for _, k := range l.fine {
		g.fine[k]++
	}
	c.layout = l
	c.tuple = make(tuple, l.width)
}

func (c *columns) dropLayout() {
	for _, k := range c.fine {
		c.p.g.fine[k]--
	}
	c.fine = nil
}

// columnsOf returns the up-to-date columns of a class. O(changes since) if it has some, else O(nodes).
func (p *Profile) columnsOf(cl *class) *columns {
	g := p.g
	c := p.byClass[cl.id]
	if c == nil {
		c = &columns{p: p}
		c.prev, c.next = c, c
		p.byClass[cl.id] = c
		g.use(cl)
		c.r = p.compile(cl)
		c.build()
	} else {
		c.prev.next, c.next.prev = c.next, c.prev
		if !c.sync() {
			c.build()
		}
	}
	c.prev, c.next = g.lru.prev, &g.lru
	c.prev.next, g.lru.prev = c, c
	if size := c.size(); size != c.bytes {
		g.columnBytes += size - c.bytes
		c.bytes = size
	}
	for g.columnBytes > g.cfg.MaxColumnBytes && g.lru.next != c {
		g.lru.next.drop()
	}
	return c
}

func (c *columns) size() int {
	return 12*cap(c.group) + 4*c.p.g.x.Len() + len(c.groups)*(64+8*c.width*2) + 1024
}

// drop forgets the columns and the compiled rules.
func (c *columns) drop() {
	c.prev.next, c.next.prev = c.next, c.prev
	c.p.g.columnBytes -= c.bytes
	c.dropLayout()
	delete(c.p.byClass, c.r.class.id)
	c.p.release(c.r)
	c.p.g.unuse(c.r.class)
}

// build computes the columns from nothing.
func (c *columns) build() {
	g := c.p.g
	c.dropLayout()
	c.newLayout()
	c.version, c.imageEpoch = c.r.class.version, g.imageEpoch
	c.seen = g.log.end()
	g.log.read = c.seen
	c.groups, c.active = c.groups[:0], c.active[:0]
	c.byTuple = make(map[string]int32)
	n := g.x.Cap()
	c.group, c.at, c.local = resize(c.group, n), resize(c.at, n), resize(c.local, n)
	for i := range c.group {
		c.group[i] = noGroup
	}
	candidates := g.x.Live()
	if c.r.match != nil {
		candidates = &c.r.match.set
	}
	for n := candidates.Next(0); n != topology.None; n = candidates.Next(n + 1) {
		if c.look(n) {
			gr := c.groupOf()
			c.group[n] = gr
			c.local[n] = c.localScore(n)
			h := &c.groups[gr]
			c.at[n] = int32(len(h.heap))
			h.heap = append(h.heap, n)
		}
	}
	for _, gr := range c.active {
		c.heapify(gr)
	}
}

func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/8)
	}
	return s[:n]
}

// sync looks again at the nodes that changed. It reports false if it takes a build to be up to date.
func (c *columns) sync() bool {
	g := c.p.g
	l := &g.log
	if c.version != c.r.class.version || c.seen < l.first ||
		c.imageEpoch != g.imageEpoch && len(c.r.class.need.images) > 0 {
		return false
	}
	dirty := l.nodes[c.seen-l.first:]
	if len(dirty) > g.x.Len()/2+8 {
		return false
	}
	for n := len(c.group); n < g.x.Cap(); n++ {
		c.group, c.at, c.local = append(c.group, noGroup), append(c.at, 0), append(c.local, 0)
	}
	for _, n := range dirty {
		c.repair(n)
	}
	c.seen = l.end()
	l.read = c.seen
	return true
}

// repair brings one node up to date.
func (c *columns) repair(n topology.NodeID) {
	was := c.group[n]
	if !c.look(n) {
		if was != noGroup {
			c.leave(n)
		}
		return
	}
	score := c.localScore(n)
	if was != noGroup && c.groups[was].tuple.equal(c.tuple) {
		if score != c.local[n] {
			better := score > c.local[n]
			c.local[n] = score
			c.fix(was, int(c.at[n]), better)
		}
		return
	}
	if was != noGroup {
		c.leave(n)
	}
	gr := c.groupOf()
	c.group[n], c.local[n] = gr, score
	h := &c.groups[gr]
	c.at[n] = int32(len(h.heap))
	h.heap = append(h.heap, n)
	c.up(gr, len(h.heap)-1)
}

func (t tuple) equal(o tuple) bool {
	for i, v := range t {
		if v != o[i] {
			return false
		}
	}
	return true
}

// groupOf returns the group of c.tuple, active.
func (c *columns) groupOf() int32 {
	c.key = c.key[:0]
	for _, v := range c.tuple {
		c.key = binary.AppendVarint(c.key, v)
	}
	gr, ok := c.byTuple[string(c.key)]
	if !ok {
		gr = int32(len(c.groups))
		c.byTuple[string(c.key)] = gr
		c.groups = append(c.groups, group{tuple: append(tuple(nil), c.tuple...), at: -1})
	}
	if h := &c.groups[gr]; h.at < 0 {
		h.at = int32(len(c.active))
		c.active = append(c.active, gr)
	}
	return gr
}

// leave takes node n out of its group. Empty groups are kept for the next node of their kind until they are many.
func (c *columns) leave(n topology.NodeID) {
	gr := c.group[n]
	h := &c.groups[gr]
	i, last := int(c.at[n]), len(h.heap)-1
	c.group[n] = noGroup
	moved := h.heap[last]
	h.heap = h.heap[:last]
	if i < last {
		h.heap[i] = moved
		c.at[moved] = int32(i)
		c.fix(gr, i, true)
		c.fix(gr, int(c.at[moved]), false)
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

// compact drops the empty groups.
func (c *columns) compact() {
	clear(c.byTuple)
	kept := make([]group, 0, 2*len(c.active))
	for i, gr := range c.active {
		h := c.groups[gr]
		h.at = int32(i)
		c.active[i] = int32(len(kept))
		for _, n := range h.heap {
			c.group[n] = c.active[i]
		}
		c.key = c.key[:0]
		for _, v := range h.tuple {
			c.key = binary.AppendVarint(c.key, v)
		}
		c.byTuple[string(c.key)] = c.active[i]
		kept = append(kept, h)
	}
	c.groups = kept
}

// look evaluates the rules that depend on node n alone and, if none refuses, fills in c.tuple.
func (c *columns) look(n topology.NodeID) bool {
	g, r := c.p.g, c.r
	if !g.x.Live().Has(n) || c.nodeRule(n) != Feasible {
		return false
	}
	t := c.tuple
	s := &g.nodes[n]
	var flags int64
	t[tupleTaints] = int64(r.tolerator.of(g, s.taints).prefer)
	t[tuplePrefer] = 0
	for _, w := range r.preferred {
		if w.m.set.Has(n) {
			t[tuplePrefer] += w.weight
		}
	}
	t[tupleGuest] = 0
	if s.extra != nil {
		for i := range s.extra.nominated {
			if s.extra.nominated[i].class.spec.Priority >= r.class.spec.Priority {
				t[tupleGuest] = int64(n) + 1
			}
		}
	}
	for i, k := range c.coarse {
		t[tupleDomains+i] = int64(g.x.Value(n, k))
	}
	if !c.lookInterPod(n, &flags) {
		return false
	}
	for i := range r.spread {
		v := g.x.Value(n, r.spread[i].key)
		if v == topology.NoValue {
			return false
		}
		if pl := c.layout.spread[i]; pl.fine {
			t[pl.at] = 0
			if ctr := r.spread[i].counter; ctr != nil {
				t[pl.at] = int64(ctr.counts.at(v))
			}
		}
	}
	for i := range r.scored {
		if g.x.Value(n, r.scored[i].key) == topology.NoValue {
			if r.allKeys {
				flags |= flagIgnored
			}
		} else if r.scored[i].hostname {
			flags |= flagHostname
		}
		if pl := c.layout.scored[i]; pl.fine {
			t[pl.at] = 0
			if ctr := r.scored[i].counter; ctr != nil {
				t[pl.at] = int64(ctr.counts.at(topology.ValueID(n)))
			}
		}
	}
	t[tupleFlags] = flags
	return true
}

// lookInterPod does the part of look that concerns pod affinity on fine keys. It reports false if the node is refused.
func (c *columns) lookInterPod(n topology.NodeID, flags *int64) bool {
	g, r := c.p.g, c.r
	*flags |= flagFineAffinity
	for i, ctr := range r.affinity {
		v := g.x.Value(n, ctr.key)
		if v == topology.NoValue {
			return false
		}
		if c.affinity[i].fine && ctr.counts.at(v) <= 0 {
			*flags &^= flagFineAffinity
		}
	}
	for i, ctr := range r.anti {
		if v := g.x.Value(n, ctr.key); c.anti[i].fine && v != topology.NoValue && ctr.counts.at(v) > 0 {
			return false
		}
	}
	for i := range c.blocking {
		if b := &c.blocking[i]; b.fine {
			if v := g.x.Value(n, b.o.key); v != topology.NoValue && b.o.anti.at(v) > 0 {
				return false
			}
		}
	}
	var fine int64
	for i, s := range r.soft {
		if c.soft[i].fine {
			if v := g.x.Value(n, s.counter.key); v != topology.NoValue {
				fine += s.weight * int64(s.counter.counts.at(v))
			}
		}
	}
	for i := range c.wishing {
		if w := &c.wishing[i]; w.fine {
			if v := g.x.Value(n, w.o.key); v != topology.NoValue {
				fine += c.p.wish(w.o, v)
			}
		}
	}
	c.tuple[tupleFine] = fine
	return true
}

// wish is what the terms of placed pods add to the score of a domain.
func (p *Profile) wish(o *owners, v topology.ValueID) int64 {
	return int64(o.soft.at(v)) + p.cfg.HardPodAffinityWeight*int64(o.hard.at(v))
}

// nodeRule returns the first rule that refuses node n whatever the counts are.
func (c *columns) nodeRule(n topology.NodeID) Rule {
	rule, _ := c.p.nodeVerdict(c.r, n, nil)
	return rule
}

// localScore is the weighted sum of the scores that depend on the node alone.
func (c *columns) localScore(n topology.NodeID) int32 {
	w := &c.p.cfg.Weights
	s, need := &c.p.g.nodes[n], &c.r.class.need
	var sum int64
	if w[ScoreNodeResourcesFit] != 0 {
		sum += w[ScoreNodeResourcesFit] * c.p.fitScore(s, need)
	}
	if w[ScoreNodeResourcesBalancedAllocation] != 0 && c.p.balances(need) {
		sum += w[ScoreNodeResourcesBalancedAllocation] * c.p.balancedScore(s, need)
	}
	if w[ScoreImageLocality] != 0 {
		sum += w[ScoreImageLocality] * c.p.g.imageScore(s, need)
	}
	return int32(sum)
}

// wins reports whether node a stands above b in a heap.
func (c *columns) wins(a, b topology.NodeID) bool {
	if c.local[a] != c.local[b] {
		return c.local[a] > c.local[b]
	}
	return c.p.g.before(a, b)
}

func (c *columns) heapify(gr int32) {
	for i := (len(c.groups[gr].heap) - 2) / 4; i >= 0; i-- {
		c.down(gr, i)
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
	n := h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !c.wins(n, h[parent]) {
			break
		}
		h[i] = h[parent]
		c.at[h[i]] = int32(i)
		i = parent
	}
	h[i] = n
	c.at[n] = int32(i)
}

func (c *columns) down(gr int32, i int) {
	h := c.groups[gr].heap
	n := h[i]
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for k := first + 1; k < min(first+4, len(h)); k++ {
			if c.wins(h[k], h[best]) {
				best = k
			}
		}
		if !c.wins(h[best], n) {
			break
		}
		h[i] = h[best]
		c.at[h[i]] = int32(i)
		i = best
	}
	h[i] = n
	c.at[n] = int32(i)
}
