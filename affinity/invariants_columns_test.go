package affinity

import (
	"fmt"
	"iter"
	"slices"

	"github.com/berth-go/berth/topology"
)

func (w *walker) plans() {
	g := w.g
	plans, listed := 0, 0
	for _, p := range w.profiles {
		for pl := range p.allPlans() {
			plans++
			w.equal("class of plan", pl.r.class, g.classes[pl.r.class.id])
			w.equal("plan of class", p.plans[pl.r.class.id], pl)
			for _, s := range pl.r.spread {
				w.equal("what is left of a what-if", s.shift, int32(0))
			}
		}
	}
	for pl := g.plansLRU.next; pl != &g.plansLRU; pl = pl.next {
		listed++
	}
	w.equal("plans listed", listed, plans)
	w.equal("plans counted", g.planCount, plans)
	if plans > max(g.cfg.MaxPlans, 1) {
		w.fault("%d plans are kept, more than %d", plans, g.cfg.MaxPlans)
	}
}

// allPlans iterates over the plans of a profile.
func (p *Profile) allPlans() iter.Seq[*plan] {
	return func(yield func(*plan) bool) {
		for _, pl := range p.plans {
			if pl != nil && !yield(pl) {
				return
			}
		}
	}
}

// columns looks again at every node of all columns that is not known to have changed since.
func (w *walker) columns() {
	g := w.g
	listed, bytes := 0, 0
	fine := make([]int32, len(g.fine))
	for c := g.columnsLRU.next; c != &g.columnsLRU; c = c.next {
		listed++
		bytes += c.bytes
		for _, k := range c.followed {
			fine[k]++
		}
		w.column(c)
	}
	kept := 0
	for _, p := range w.profiles {
		refs := make(map[*demand]int)
		for pl := range p.allPlans() {
			refs[pl.demand]++
			if pl.own != nil && !pl.own.dropped {
				kept++
			}
		}
		for key, d := range p.demands {
			w.equal("key of demand", d.key, key)
			w.references("demand", d.refs, refs[d])
			if d.columns != nil && !d.columns.dropped {
				kept++
			}
		}
		w.equal("demands", len(p.demands), len(refs))
	}
	w.equal("columns listed", listed, kept)
	w.equal("memory of columns", g.columnBytes, bytes)
	if !slices.Equal(fine, g.fine) {
		w.fault("keys followed node by node are %v, want %v", g.fine, fine)
	}
}

func (w *walker) column(c *columns) {
	g := w.g
	if !c.built || c.seen < g.log.first || c.imageEpoch != g.imageEpoch && len(c.need.images) > 0 {
		return // to be built anew
	}
	var dirty topology.NodeSet
	for _, n := range g.log.nodes[c.seen-g.log.first:] {
		dirty.Add(n)
	}
	grouped := 0
	for i, gr := range c.active {
		h := &c.groups[gr]
		w.equal("index of an active group", h.at, int32(i))
		if len(h.heap) == 0 {
			w.fault("an active group has no nodes")
		}
		grouped += len(h.heap)
		for at, s := range h.heap {
			if sl := c.slots[s.node]; sl.group != gr || sl.at != int32(at) {
				w.fault("node %d is at %+v, not at %d of group %d", s.node, sl, at, gr)
			}
			w.equal("order of a node in a heap", ^uint32(s.rank), g.nodes[s.node].order)
			if parent := (at - 1) / arity; at > 0 && g.beats(&s, &h.heap[parent]) {
				w.fault("node %d stands below node %d", s.node, h.heap[parent].node)
			}
		}
	}
	w.equal("tuples", len(c.tuples), len(c.groups)*len(c.tuple))
	w.equal("groups by tuple", c.byTuple.Len(), len(c.groups))
	for gr := range c.groups {
		h := &c.groups[gr]
		if h.at < 0 && len(h.heap) > 0 {
			w.fault("a group of %d nodes is not active", len(h.heap))
		}
		t := c.tupleOf(int32(gr))
		w.equal("group by its tuple", c.find(t, t.hash()), int32(gr))
	}
	for n := range c.slots {
		s := &c.slots[n]
		if s.group != noGroup {
			grouped--
		}
		if !dirty.Has(topology.NodeID(n)) {
			w.look(c, topology.NodeID(n), s)
		}
	}
	w.equal("nodes in groups but not in slots", grouped, 0)
}

// look compares where a node stands with a fresh look at it.
func (w *walker) look(c *columns, n topology.NodeID, s *slot) {
	fits := c.look(n)
	if fits != (s.group != noGroup) {
		w.fault("node %d is in group %d, but fits: %v", n, s.group, fits)
		return
	}
	if !fits {
		return
	}
	if !c.tupleOf(s.group).equal(c.tuple) {
		w.fault("node %d is %v, in a group of %v (own %v, coarse %v, fine %v)", n, c.tuple, c.tupleOf(s.group), c.own != nil, c.coarse, c.fine)
	}
	w.equal(fmt.Sprintf("score of node %d", n), *c.standing(n), c.rate(n))
}
