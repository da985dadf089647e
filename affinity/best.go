package affinity

import (
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// evaluation is the scratch of one decision over the groups of some columns, reused by the next.
type evaluation struct {
	pl *plan
	c  *columns
	// only, if not None, is the one node that may be chosen.
	only topology.NodeID
	// pod is the one that is decided on: its own nomination does not count.
	pod      *berth.Pod
	feasible []scoredGroup
	mins     []int32 // smallest count of each hard constraint
	weights  []float64
	sizes    []domainSet // of each soft constraint
	// extremes over the feasible groups, for normalising
	maxTaints, maxPrefer   int64
	minInter, maxInter     int64
	minSpread, maxSpread   int64
	feasibleNodes, ignored int

	exceptions exceptions
	zeros      []int64 // the fine part of nodes without counts

	// What feasible and zeros begin with: few decisions need more, and what lies beside the rest is fetched with it.
	feasibleInPlace [4]scoredGroup
	zerosInPlace    [fineCounts + 2]int64
}

// scoredGroup is a feasible group, or a single node of one that is an exception, with its raw scores.
type scoredGroup struct {
	t, fine tuple
	top     standing // the best node
	size    int
	group   int32
	single  bool
	ignored bool
	inter   int64
	spread  int64
}

// domainSet counts distinct domains of one key.
type domainSet struct {
	seen  []uint32 // epoch in which the domain was seen last
	epoch uint32
	n     int
}

func (d *domainSet) reset() {
	d.n = 0
	if d.epoch++; d.epoch == 0 {
		clear(d.seen)
		d.epoch = 1
	}
}

func (d *domainSet) add(v topology.ValueID) {
	i := int(v) + 1
	if i >= len(d.seen) {
		d.seen = append(d.seen, make([]uint32, i+1-len(d.seen))...)
	}
	if d.seen[i] != d.epoch {
		d.seen[i] = d.epoch
		d.n++
	}
}

// Choice is the best node for a pod.
type Choice struct {
	Node topology.NodeID
	// Score is the sum of the normalised scores times their weights.
	Score int64
	// Scores are the node's scores, normalised to 0..100, before their weights. Those of weight 0 are left out (0).
	Scores [Scorers]int64
	// Feasible is the number of feasible nodes.
	Feasible int
}

// Best returns the feasible node of the highest score for p, the one that comes first in the graph's order if there are
// several. It reports false if no node is feasible. Every feasible node is taken into account. The error is a *berth.Fault.
//
// For a class that was seen before: O(spec + groups + changed nodes * log nodes), where groups are the combinations of
// domains and counts that its rules tell apart; it allocates nothing. For a new class: O(nodes).
func (p *Profile) Best(pod *berth.Pod) (Choice, bool, error) {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return Choice{Node: topology.None}, false, err
	}
	choice := p.choose(cl, pod, pod.NodeName)
	return choice, choice.Node != topology.None, nil
}

// choose returns the best node for a pod of class cl that may run on the node of that name only, if it isn't "".
func (p *Profile) choose(cl *class, pod *berth.Pod, only string) Choice {
	choice := p.evaluate(cl, pod, only).best()
	if choice.Node != topology.None {
		p.g.chosen = choice.Node
	}
	return choice
}

// validClass checks p and returns its class.
func (g *Graph) validClass(p *berth.Pod) (*class, error) {
	g.enc.class(p)
	if c := g.classByKey.get(g.enc.buf); c != nil && p.Name != "" && p.Namespace != "" {
		// It was checked when it was new.
		if c.idle {
			g.refresh(c)
		}
		return c, nil
	}
	if err := berth.ValidatePod(p).Err(); err != nil {
		return nil, err
	}
	return g.newClass(p), nil
}

// evaluate brings the columns of the class up to date and scores its groups.
func (p *Profile) evaluate(cl *class, pod *berth.Pod, only string) *evaluation {
	e := p.filtered(cl, pod, only)
	e.score()
	return e
}

// filtered brings the columns of the class up to date and finds the feasible groups.
func (p *Profile) filtered(cl *class, pod *berth.Pod, only string) *evaluation {
	e := &p.eval
	e.pl = p.planOf(cl)
	e.c, e.only, e.pod = e.pl.columns(), topology.None, pod
	e.feasible = e.feasible[:0]
	if only != "" {
		n, ok := p.g.x.Lookup(only)
		if !ok {
			return e
		}
		e.only = n
	}
	e.filter()
	return e
}

// filter collects the feasible groups.
func (e *evaluation) filter() {
	c, r := e.c, e.pl.r
	e.mins = e.mins[:0]
	for i := range r.spread {
		s := &r.spread[i]
		var least int32
		if s.counter != nil {
			least = s.counter.stats.smallest(s.minDomains)
		}
		e.mins = append(e.mins, least)
	}
	first := r.mayBeFirst()
	e.exceptions.reset()
	if c.own == nil && len(e.pl.fine) > 0 {
		e.exceptions.collect(e.pl, c)
		e.filterExceptions(first)
		for len(e.zeros) < e.pl.suffix {
			e.zeros = append(e.zeros, 0)
		}
	}
	special := len(e.exceptions.nodes) > 0 || e.only != topology.None
	for _, gr := range c.active {
		h := &c.groups[gr]
		last := len(e.feasible)
		e.feasible = append(e.feasible, scoredGroup{t: c.tupleOf(gr), fine: e.zeros, group: gr, size: len(h.heap), top: h.heap[0]})
		f := &e.feasible[last]
		if c.own != nil {
			f.fine = f.t[tupleDomains+len(c.coarse):]
		}
		if special && !e.narrow(f) || !e.groupFeasible(f, first) {
			e.feasible = e.feasible[:last]
		}
	}
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
		f.top, f.size, f.single = c.standing(e.only), 1, true
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
		f := scoredGroup{t: c.tupleOf(gr), fine: fine, top: c.standing(n), size: 1, group: gr, single: true}
		if e.pl.lookFine(n, fine) && e.groupFeasible(&f, first) {
			e.feasible = append(e.feasible, f)
		}
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

// score computes the raw scores of the feasible groups and their extremes.
func (e *evaluation) score() {
	e.maxTaints, e.maxPrefer = 0, 0
	e.minInter, e.maxInter = math.MaxInt64, math.MinInt64
	e.minSpread, e.maxSpread = math.MaxInt64, 0
	e.feasibleNodes, e.ignored = 0, 0
	hasInter := len(e.pl.fine)+len(e.pl.r.soft)+len(e.pl.owners) > 0
	for i := range e.feasible {
		f := &e.feasible[i]
		e.maxTaints = max(e.maxTaints, f.t[tupleTaints])
		e.maxPrefer = max(e.maxPrefer, f.t[tuplePrefer])
		if hasInter {
			f.inter = e.inter(f)
		}
		e.minInter, e.maxInter = min(e.minInter, f.inter), max(e.maxInter, f.inter)
		e.feasibleNodes += f.size
		if f.ignored = e.lacksKey(f); f.ignored {
			e.ignored += f.size
		}
	}
	if len(e.pl.r.scored) > 0 && e.pl.p.cfg.Weights[ScorePodTopologySpread] != 0 {
		e.weighSpread()
		for i := range e.feasible {
			if f := &e.feasible[i]; !f.ignored {
				f.spread = e.rawSpread(f)
				e.minSpread, e.maxSpread = min(e.minSpread, f.spread), max(e.maxSpread, f.spread)
			}
		}
	}
}

// lacksKey reports whether the nodes of a group are left out of spread scores, for lack of a key.
func (e *evaluation) lacksKey(f *scoredGroup) bool {
	if !e.pl.r.allKeys {
		return false
	}
	for _, at := range e.pl.scored {
		if !at.carried(f.t) {
			return true
		}
	}
	return false
}

// inter is the raw InterPodAffinity score of a group (plugins/interpodaffinity/scoring.go).
func (e *evaluation) inter(f *scoredGroup) int64 {
	pl := e.pl
	var sum int64
	if len(pl.fine) > 0 {
		sum = f.fine[fineInter]
	}
	for i, s := range pl.r.soft {
		if at := pl.soft[i]; !at.fine && f.t[at.at] >= 0 {
			sum += s.weight * int64(s.counter.counts.at(topology.ValueID(f.t[at.at])))
		}
	}
	if !pl.wishes {
		return sum
	}
	for i := range pl.owners {
		if o := &pl.owners[i]; !o.fine && f.t[o.at] >= 0 {
			sum += pl.p.wish(o.o, topology.ValueID(f.t[o.at]))
		}
	}
	return sum
}

// weighSpread computes the weight of each soft constraint from the number of its feasible domains
// (plugins/podtopologyspread/scoring.go, initPreScoreState).
func (e *evaluation) weighSpread() {
	r := e.pl.r
	for len(e.sizes) < len(r.scored) {
		e.sizes = append(e.sizes, domainSet{})
	}
	e.weights = e.weights[:0]
	for i := range r.scored {
		s := &r.scored[i]
		size := e.feasibleNodes - e.ignored
		if !s.hostname {
			d := &e.sizes[i]
			d.reset()
			for j := range e.feasible {
				f := &e.feasible[j]
				if f.ignored {
					continue
				}
				v := topology.ValueID(f.t[e.pl.scored[i].at])
				if v == topology.NoValue && s.counter != nil {
					v = s.counter.missing
				}
				d.add(v)
			}
			size = d.n
		}
		e.weights = append(e.weights, math.Log(float64(size+2)))
	}
}

func (e *evaluation) rawSpread(f *scoredGroup) int64 {
	var sum float64
	for i := range e.pl.r.scored {
		s, at := &e.pl.r.scored[i], e.pl.scored[i]
		if !at.carried(f.t) {
			continue
		}
		var count int64
		if s.counter != nil {
			count = at.count(f, &s.counter.counts)
		}
		sum += float64(count)*e.weights[i] + float64(s.maxSkew-1)
	}
	return int64(math.Round(sum))
}

// normalised returns a score of a feasible group, 0..100, before its weight. The group's nodes have it in common.
func (e *evaluation) normalised(s Scorer, f *scoredGroup) int64 {
	t := f.t
	switch s {
	case ScoreTaintToleration: // plugins/helper/normalize_score.go
		if e.maxTaints == 0 {
			return 100
		}
		return 100 - 100*t[tupleTaints]/e.maxTaints
	case ScoreNodeAffinity:
		if e.maxPrefer == 0 {
			return 0
		}
		return 100 * t[tuplePrefer] / e.maxPrefer
	case ScoreInterPodAffinity:
		if e.maxInter == e.minInter {
			return 0
		}
		return int64(100 * (float64(f.inter-e.minInter) / float64(e.maxInter-e.minInter)))
	case ScorePodTopologySpread:
		switch {
		case len(e.pl.r.scored) == 0 || f.ignored:
			return 0
		case e.maxSpread == 0:
			return 100
		}
		return 100 * (e.maxSpread + e.minSpread - f.spread) / e.maxSpread
	}
	return 0
}

// shared is the weighted sum of the scores that the nodes of a group have in common.
func (e *evaluation) shared(f *scoredGroup) int64 {
	var sum int64
	w := &e.c.p.cfg.Weights
	for s := ScoreTaintToleration; s <= ScoreInterPodAffinity; s++ {
		if w[s] != 0 {
			sum += w[s] * e.normalised(s, f)
		}
	}
	return sum
}

// best picks the winner: of each group only the top can win.
func (e *evaluation) best() Choice {
	c := e.c
	choice := Choice{Node: topology.None, Feasible: e.feasibleNodes}
	var winner *scoredGroup
	for i := range e.feasible {
		f := &e.feasible[i]
		total := e.shared(f) + int64(f.top.local)
		if winner == nil || total > choice.Score || total == choice.Score && c.p.g.ahead(f.top, winner.top) {
			choice.Node, choice.Score, winner = f.top.node, total, f
		}
	}
	if winner == nil {
		choice.Feasible = 0
		return choice
	}
	for s, w := range c.p.cfg.Weights {
		if w != 0 {
			choice.Scores[s] = e.scoreOf(Scorer(s), winner, choice.Node)
		}
	}
	return choice
}

// scoreOf returns one normalised score of a node of a feasible group.
func (e *evaluation) scoreOf(s Scorer, f *scoredGroup, n topology.NodeID) int64 {
	p := e.c.p
	state, need := &p.g.nodes[n], e.c.need
	switch s {
	case ScoreNodeResourcesFit:
		return p.fitScore(state, need)
	case ScoreNodeResourcesBalancedAllocation:
		if !e.c.balances {
			return 0
		}
		return p.balancedScore(state, need)
	case ScoreImageLocality:
		return p.g.imageScore(state, need)
	}
	return e.normalised(s, f)
}
