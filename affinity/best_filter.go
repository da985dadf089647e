package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// filter collects the feasible groups.
func (e *evaluation) filter() {
	c, r := e.c, e.pl.r
	if len(r.spread) > 0 {
		e.findMins()
	}
	first := len(r.affinity) > 0 && r.mayBeFirst()
	x := &e.exceptions
	if len(x.nodes) > 0 || x.epoch == 0 {
		x.reset()
	}
	if c.own == nil && len(e.pl.fineRules) > 0 {
		x.collect(e.pl, c)
		e.filterExceptions(first)
	}
	special := len(x.nodes) > 0 || e.only != topology.None
	for _, gr := range c.active {
		h, f := &c.groups[gr], e.next()
		f.t, f.fine, f.group, f.size, f.top = c.tupleOf(gr), e.zeros, gr, len(h.heap), h.heap[0]
		if c.own != nil {
			f.fine = f.t[tupleDomains+len(c.coarse):]
		}
		if special && !e.narrow(f) || (e.pl.counted || f.t[tupleGuest] != 0) && !e.groupFeasible(f, first) {
			e.feasible = e.feasible[:len(e.feasible)-1]
		}
	}
}

// next adds an empty group to the feasible ones.
func (e *evaluation) next() *scoredGroup {
	n := len(e.feasible)
	if n == cap(e.feasible) {
		e.grow()
	}
	e.feasible = e.feasible[:n+1]
	e.feasible[n] = scoredGroup{}
	return &e.feasible[n]
}

// grow is rare; see encoder for why that is told to the compiler.
//
//go:noinline
func (e *evaluation) grow() { e.feasible = slices.Grow(e.feasible, 1) }

// findMins finds the smallest count of each hard spread constraint.
func (e *evaluation) findMins() {
	e.mins = e.mins[:0]
	for i := range e.pl.r.spread {
		s := &e.pl.r.spread[i]
		var least int32
		if s.counter != nil {
			least = s.counter.stats.smallest(s.minDomains)
		}
		e.mins = append(e.mins, least)
	}
}

// mayBeFirst reports whether the required affinity of the pod is met anywhere, since no pod matches it and it matches
// itself (plugins/interpodaffinity/filtering.go, satisfiesSelfAffinityCheck). Whether it does may change with its namespace's labels.
func (r *rules) mayBeFirst() bool {
	for _, ctr := range r.affinity {
		if ctr.total != 0 {
			return false
		}
	}
	return len(r.affinity) > 0 && slices.ContainsFunc(r.class.matchers, func(l matcherLink) bool { return l.matcher == r.affinity[0].m })
}

// groupFeasible applies the rules that look at counts.
func (e *evaluation) groupFeasible(f *scoredGroup, first bool) bool {
	pl, r := e.pl, e.pl.r
	for i := range r.spread {
		s, at := &r.spread[i], pl.spread[i]
		if !at.carried(f.t) {
			return false
		}
		if s.counter != nil && at.count(f, &s.counter.counts)+int64(s.self-e.mins[i]) > int64(s.maxSkew) {
			return false
		}
	}
	if len(r.affinity) > 0 && !e.affinityMet(f, first) {
		return false
	}
	for i, ctr := range r.anti {
		if at := pl.anti[i]; !at.fine && f.t[at.at] >= 0 && ctr.counts.at(topology.ValueID(f.t[at.at])) > 0 {
			return false
		}
	}
	for i := range pl.owners {
		if o := &pl.owners[i]; !o.fine && f.t[o.at] >= 0 && o.o.antiPods > 0 && o.o.anti.at(topology.ValueID(f.t[o.at])) > 0 {
			return false
		}
	}
	if guest := f.t[tupleGuest]; guest != 0 {
		return pl.p.withNominated(r, topology.NodeID(guest-1), e.pod.Key(), nil).Rule == Feasible
	}
	return true
}

func (e *evaluation) affinityMet(f *scoredGroup, first bool) bool {
	pl, r := e.pl, e.pl.r
	met := true
	for i, ctr := range r.affinity {
		at := pl.affinity[i]
		if !at.carried(f.t) {
			return false
		}
		if at.fine {
			met = met && f.fine[fineMet] != 0
		} else {
			met = met && ctr.counts.at(topology.ValueID(f.t[at.at])) > 0
		}
	}
	return met || first
}

// carried reports whether the nodes of a group carry the key.
func (at place) carried(t tuple) bool {
	if at.fine {
		return t[tuplePresent]&at.bit != 0
	}
	return t[at.at] >= 0
}

// count returns the count of a group, whose nodes carry the key.
func (at place) count(f *scoredGroup, c *counts) int64 {
	if at.fine {
		return f.fine[at.at]
	}
	return int64(c.at(topology.ValueID(f.t[at.at])))
}

// narrow takes out of a group what is not to be chosen as one of it: exceptions, and all but the only node if there is but
// one. It reports false if nothing is left.
func (e *evaluation) narrow(f *scoredGroup) bool {
	c := e.c
	if len(e.exceptions.nodes) > 0 {
		if f.size -= e.exceptions.in(f.group); f.size == 0 {
			return false
		}
		f.top = e.exceptions.topOf(c, &c.groups[f.group])
	}
	if e.only != topology.None {
		if c.slots[e.only].group != f.group || e.exceptions.has(e.only) {
			return false
		}
		f.top, f.size, f.single = *c.standing(e.only), 1, true
	}
	return true
}

// filterExceptions tests the exceptions, each as a group of its own.
func (e *evaluation) filterExceptions(first bool) {
	c, x := e.c, &e.exceptions
	x.fine = x.fine[:0]
	for _, n := range x.nodes {
		gr := c.slots[n].group
		if gr == noGroup || e.only != topology.None && n != e.only {
			continue
		}
		from := len(x.fine)
		for range e.pl.suffix {
			x.fine = append(x.fine, 0)
		}
		fine := x.fine[from:len(x.fine):len(x.fine)]
		f := scoredGroup{t: c.tupleOf(gr), fine: fine, top: *c.standing(n), size: 1, group: gr, single: true}
		if e.pl.lookFine(n, fine) && e.groupFeasible(&f, first) {
			e.feasible = append(e.feasible, f)
		}
	}
	for len(e.zeros) < e.pl.suffix { // the fine part of all other nodes
		e.zeros = append(e.zeros, 0)
	}
}

// lookFine fills in the fine part of node n: its counts of fine keys. It reports false if one of them refuses the node.
func (pl *plan) lookFine(n topology.NodeID, fine []int64) bool {
	clear(fine)
	fine[fineMet] = 1
	for i := range pl.fineRules {
		f := &pl.fineRules[i]
		v := topology.ValueID(n)
		if f.key != perNode {
			v = pl.p.g.x.Value(n, f.key)
		}
		var count int32
		if v != topology.NoValue {
			count = f.counts.at(v)
		}
		switch f.does {
		case fineRequires:
			if count <= 0 {
				fine[fineMet] = 0
			}
		case fineRefuses:
			if count > 0 {
				return false
			}
		case fineAdds:
			fine[fineInter] += f.weight * int64(count)
		case fineShows:
			fine[f.at] = int64(count)
		}
	}
	return true
}
