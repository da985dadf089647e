package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// plan is how a profile decides on a class: its compiled rules, how their topology keys are followed, and where its nodes
// are sorted.
//
// A key is coarse if its domains are few and large (zone): nodes are grouped by it, and counts are looked up for the group.
// It is fine if they are many and small (hostname). A plan begins with columns that it shares with every class of the same
// demand, and looks at the nodes of the fine domains that have counts one by one (exceptions). With columns of its own, in
// which the fine counts are part of what makes a group, it would look at the nodes that changed since its last decision
// instead. It changes to the better way once the difference has cost as much as a pass over all nodes: so what it pays
// is never much more than twice what the better way costs, as in the ski rental problem.
type plan struct {
	p *Profile
	r *rules // those below
	layout
	version  uint32 // of the class, when the layout was made
	domains  int    // of its keys, then
	labelled uint64 // the graph's, when the domains were counted last

	demand      *demand
	shared, own *columns // nil, or dropped meanwhile, if there are none
	seen        int64    // position in the dirty log at the last decision
	rent        int      // what the worse way has cost so far
	prev, next  *plan    // in the graph's list; see dropPlans
	used        bool     // since the list was swept last

	rules rules // in place: what a decision reads is better in few places
}

// layout says how keys are followed, and where each rule finds its domain or count in a group.
type layout struct {
	coarse    []topology.KeyID
	fine      []topology.KeyID
	affinity  []place
	anti      []place
	soft      []place
	spread    []place
	scored    []place
	owners    []ownersPlace // those whose terms match the class
	wishes    bool          // owners score
	counted   bool          // there are rules that look at counts
	suffix    int           // length of the fine part of a tuple
	fineRules []fineRule
}

// place is where a rule finds what it needs: for a coarse key the domain, at an index of the tuple; for a fine key the
// count, at an index of the fine part (if the rule needs it there), and whether the node carries the key, as a bit.
type place struct {
	fine bool
	at   int
	bit  int64
}

type ownersPlace struct {
	o *owners
	place
}

const (
	// coarseMax is the number of domains up to which a key is always coarse.
	coarseMax = 64
	// fineMax is the number of fine keys that can be told apart; more are coarse.
	fineMax = 60
	// Up to so many exceptions a decision need no columns of their own.
	exceptionsMax = 32
	// What it costs to look at an exception, and to bring a changed node up to date, as measured against sorting a node into
	// new columns.
	exceptionCost, changeCost = 4, 2
)

// enlist puts a plan at the end of the graph's list.
func (pl *plan) enlist() {
	end := &pl.p.g.plansLRU
	pl.prev, pl.next = end.prev, end
	pl.prev.next, end.prev = pl, pl
}

func (pl *plan) delist() { pl.prev.next, pl.next.prev = pl.next, pl.prev }

// dropPlans makes room for a plan. Of the oldest plans it drops the first that was not used since it was looked at last, and
// puts those that were to the end (the clock algorithm): a use then writes to the plan alone, not to its neighbours.
func (g *Graph) dropPlans() {
	for g.planCount > 0 && g.planCount >= g.cfg.MaxPlans {
		pl := g.plansLRU.next
		if pl.used {
			pl.used = false
			pl.delist()
			pl.enlist()
			continue
		}
		pl.drop()
	}
}

func (pl *plan) countDomains() int {
	d := 0
	for _, k := range pl.coarse {
		d += pl.p.g.x.Domains(k)
	}
	for _, k := range pl.fine {
		d += pl.p.g.x.Domains(k)
	}
	return d
}

func (pl *plan) drop() {
	pl.delist()
	pl.p.g.planCount--
	pl.dropOwn()
	pl.p.plans[pl.r.class.id] = nil
	if pl.r.class.plan == pl {
		pl.r.class.plan = nil
	}
	pl.p.releaseDemand(pl.demand)
	pl.p.release(pl.r)
	pl.p.g.unuse(pl.r.class)
}

func (pl *plan) dropOwn() {
	if pl.own != nil && !pl.own.dropped {
		pl.own.drop()
	}
	pl.own = nil
}

// newLayout sorts the keys of the class into coarse and fine ones: a key is followed node by node where a change of a count
// concerns fewer nodes than a decision would otherwise have groups to look at.
//
// The plans of a demand share the order of their keys, so the layout is made twice: first to see which keys it takes.
func (pl *plan) newLayout() {
	p, was := pl.p, pl.demand
	pl.lay(nil, nil)
	pl.demand = p.demandOf(pl)
	p.releaseDemand(was)
	pl.lay(slices.Clone(pl.demand.coarse), slices.Clone(pl.demand.fine))
	pl.counted = len(pl.spread)+len(pl.affinity)+len(pl.anti)+len(pl.owners) > 0
	pl.version, pl.shared = pl.r.class.version, nil
	pl.newFineRules()
	pl.domains, pl.labelled = pl.countDomains(), p.g.labelled
}

// lay finds the places of the rules among the given keys, and those that have to be added to them.
func (pl *plan) lay(coarse, fine []topology.KeyID) {
	r := pl.r
	pl.layout = layout{coarse: coarse, fine: fine, suffix: fineCounts}
	forced := func(k topology.KeyID) bool { // where the number of feasible domains counts, there must be groups
		return slices.ContainsFunc(r.scored, func(s spreadScore) bool { return !s.hostname && s.key == k })
	}
	of := func(k topology.KeyID) place { return pl.layout.of(pl.p.g, k, forced(k)) }
	for _, ctr := range r.affinity {
		pl.affinity = append(pl.affinity, of(ctr.key))
	}
	for _, ctr := range r.anti {
		pl.anti = append(pl.anti, of(ctr.key))
	}
	for _, t := range r.soft {
		pl.soft = append(pl.soft, of(t.counter.key))
	}
	for _, link := range r.class.matchers {
		for _, o := range link.matcher.owners {
			pl.owners = append(pl.owners, ownersPlace{o, of(o.key)})
		}
	}
	pl.wishes = !pl.p.cfg.IgnorePreferredTermsOfExistingPods || len(r.soft) > 0
	for i := range r.spread {
		pl.spread = append(pl.spread, of(r.spread[i].key))
	}
	for i := range r.scored {
		if r.scored[i].hostname {
			pl.scored = append(pl.scored, pl.layout.ofFine(r.scored[i].key))
		} else {
			pl.scored = append(pl.scored, of(r.scored[i].key))
		}
	}
	for _, places := range [][]place{pl.spread, pl.scored} {
		for i := range places {
			if places[i].fine {
				places[i].at = pl.suffix
				pl.suffix++
			}
		}
	}
}

// of enters a key into the layout.
func (l *layout) of(g *Graph, k topology.KeyID, forced bool) place {
	if i := slices.Index(l.coarse, k); i >= 0 {
		return place{at: tupleDomains + i}
	}
	if d := g.x.Domains(k); !forced && (len(l.fine) < fineMax && d > g.coarseMax && g.x.MeanSize(k) < float64(d) || slices.Contains(l.fine, k)) {
		return l.ofFine(k)
	}
	l.coarse = append(l.coarse, k)
	return place{at: tupleDomains + len(l.coarse) - 1}
}

func (l *layout) ofFine(k topology.KeyID) place {
	i := slices.Index(l.fine, k)
	if i < 0 {
		i = len(l.fine)
		l.fine = append(l.fine, k)
	}
	return place{fine: true, bit: 1 << i}
}

// fineRule is a part of a rule that looks at the counts of a fine key. All of them are in one list: a node is looked at by one
// short loop over it.
type fineRule struct {
	counts *counts
	key    topology.KeyID // or perNode
	does   fineEffect
	at     int   // of the count, for fineShows
	weight int64 // for fineAdds
}

type fineEffect uint8

const (
	fineRequires fineEffect = iota // a count
	fineRefuses                    // the nodes with a count
	fineAdds                       // to the InterPodAffinity score
	fineShows                      // the count, in the fine part
)

// newFineRules gathers the fine parts of the rules.
func (pl *plan) newFineRules() {
	add := func(at place, counts *counts, key topology.KeyID, does fineEffect, weight int64) {
		if at.fine {
			pl.fineRules = append(pl.fineRules, fineRule{counts, key, does, at.at, weight})
		}
	}
	r := pl.r
	for i, ctr := range r.affinity {
		add(pl.affinity[i], &ctr.counts, ctr.key, fineRequires, 0)
	}
	for i, ctr := range r.anti {
		add(pl.anti[i], &ctr.counts, ctr.key, fineRefuses, 0)
	}
	for i, t := range r.soft {
		add(pl.soft[i], &t.counter.counts, t.counter.key, fineAdds, t.weight)
	}
	for _, at := range pl.owners {
		o := at.o
		add(at.place, &o.anti, o.key, fineRefuses, 0)
		if pl.wishes {
			add(at.place, &o.soft, o.key, fineAdds, 1)
			add(at.place, &o.hard, o.key, fineAdds, pl.p.cfg.HardPodAffinityWeight)
		}
	}
	for i := range r.spread {
		if ctr := r.spread[i].counter; ctr != nil {
			add(pl.spread[i], &ctr.counts, ctr.key, fineShows, 0)
		}
	}
	for i := range r.scored {
		if ctr := r.scored[i].counter; ctr != nil {
			add(pl.scored[i], &ctr.counts, ctr.key, fineShows, 0)
		}
	}
}

// share returns the columns of the demand, for which the layout is made anew if its keys have become more.
func (pl *plan) share() *columns {
	if d := pl.demand; len(d.coarse) > len(pl.coarse) || len(d.fine) > len(pl.fine) {
		pl.newLayout()
	}
	d := pl.demand
	if d.columns == nil || d.columns.dropped {
		d.columns = pl.p.newColumns(pl, false)
	}
	return d.columns
}

// followed are the keys whose counts are part of the tuples, in columns of the plan's own.
func (pl *plan) followed() []topology.KeyID {
	var keys []topology.KeyID
	for i := range pl.fineRules {
		if k := pl.fineRules[i].key; k != perNode && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// wish is what the terms of placed pods add to the score of a domain.
func (p *Profile) wish(o *owners, v topology.ValueID) int64 {
	return int64(o.soft.at(v)) + p.cfg.HardPodAffinityWeight*int64(o.hard.at(v))
}
