package affinity

import (
	"math"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// evaluation is the scratch of one decision over the groups of some columns, reused by the next.
type evaluation struct {
	c *columns
	// only, if not None, is the one node that may be chosen.
	only topology.NodeID
	// key is the pod, whose own nomination does not count.
	key      berth.PodKey
	feasible []scoredGroup
	mins     []int32 // smallest count of each hard constraint
	weights  []float64
	sizes    []domainSet // of each soft constraint
	// extremes over the feasible groups, for normalising
	maxTaints, maxPrefer   int64
	minInter, maxInter     int64
	minSpread, maxSpread   int64
	feasibleNodes, ignored int
}

// scoredGroup is a feasible group with its raw scores.
type scoredGroup struct {
	group         int32
	ignored       bool
	inter, spread int64
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
	e := p.evaluate(cl, pod)
	choice := e.best()
	return choice, choice.Node != topology.None, nil
}

// validClass checks p and returns its class.
func (g *Graph) validClass(p *berth.Pod) (*class, error) {
	g.enc.class(p)
	if id, ok := g.classByKey[string(g.enc.buf)]; ok && p.Name != "" && p.Namespace != "" {
		return g.classes[id], nil // it was checked when it was new
	}
	if err := berth.ValidatePod(p).Err(); err != nil {
		return nil, err
	}
	return g.newClass(p), nil
}

// evaluate brings the columns of the class up to date and scores its groups.
func (p *Profile) evaluate(cl *class, pod *berth.Pod) *evaluation {
	e := &p.eval
	e.c, e.only, e.key = p.columnsOf(cl), topology.None, pod.Key()
	e.feasible = e.feasible[:0]
	if pod.NodeName != "" {
		n, ok := p.g.x.Lookup(pod.NodeName)
		if !ok {
			return e
		}
		e.only = n
	}
	e.filter()
	e.score()
	return e
}

// filter collects the feasible groups.
func (e *evaluation) filter() {
	c := e.c
	e.mins = e.mins[:0]
	for i := range c.r.spread {
		s := &c.r.spread[i]
		var least int32
		if s.counter != nil {
			least = s.counter.stats.smallest(s.minDomains)
		}
		e.mins = append(e.mins, least)
	}
	first := c.r.mayBeFirst()
	for _, gr := range c.active {
		if e.only != topology.None && (gr != c.group[e.only] || c.group[e.only] == noGroup) {
			continue
		}
		if e.groupFeasible(&c.groups[gr], first) {
			e.feasible = append(e.feasible, scoredGroup{group: gr})
		}
	}
}

// mayBeFirst reports whether the required affinity of the pod is met anywhere, since no pod matches it and it matches
// itself (plugins/interpodaffinity/filtering.go, satisfiesSelfAffinityCheck).
func (r *rules) mayBeFirst() bool {
	if !r.first {
		return false
	}
	for _, ctr := range r.affinity {
		if ctr.total != 0 {
			return false
		}
	}
	return true
}

// groupFeasible applies the rules that look at counts.
func (e *evaluation) groupFeasible(h *group, first bool) bool {
	c, t := e.c, h.tuple
	r := c.r
	for i := range r.spread {
		s := &r.spread[i]
		if s.counter == nil {
			continue
		}
		count := int32(t[c.layout.spread[i].at])
		if !c.layout.spread[i].fine {
			count = s.counter.counts.at(topology.ValueID(count))
		}
		if count+s.self-e.mins[i] > s.maxSkew {
			return false
		}
	}
	if len(r.affinity) > 0 && !first {
		if t[tupleFlags]&flagFineAffinity == 0 {
			return false
		}
		for i, ctr := range r.affinity {
			if pl := c.affinity[i]; !pl.fine && ctr.counts.at(topology.ValueID(t[pl.at])) <= 0 {
				return false
			}
		}
	}
	for i, ctr := range r.anti {
		if pl := c.anti[i]; !pl.fine && t[pl.at] >= 0 && ctr.counts.at(topology.ValueID(t[pl.at])) > 0 {
			return false
		}
	}
	for i := range c.blocking {
		if b := &c.blocking[i]; !b.fine && t[b.at] >= 0 && b.o.antiPods > 0 && b.o.anti.at(topology.ValueID(t[b.at])) > 0 {
			return false
		}
	}
	if guest := t[tupleGuest]; guest != 0 {
		return c.p.withNominated(r, topology.NodeID(guest-1), e.key, nil).Rule == Feasible
	}
	return true
}

// score computes the raw scores of the feasible groups and their extremes.
func (e *evaluation) score() {
	c := e.c
	e.maxTaints, e.maxPrefer = 0, 0
	e.minInter, e.maxInter = math.MaxInt64, math.MinInt64
	e.minSpread, e.maxSpread = math.MaxInt64, 0
	e.feasibleNodes, e.ignored = 0, 0
	for i := range e.feasible {
		f := &e.feasible[i]
		h := &c.groups[f.group]
		t := h.tuple
		e.maxTaints = max(e.maxTaints, t[tupleTaints])
		e.maxPrefer = max(e.maxPrefer, t[tuplePrefer])
		f.inter = c.inter(t)
		e.minInter, e.maxInter = min(e.minInter, f.inter), max(e.maxInter, f.inter)
		size := len(h.heap)
		if e.only != topology.None {
			size = 1
		}
		e.feasibleNodes += size
		f.ignored = t[tupleFlags]&flagIgnored != 0
		if f.ignored {
			e.ignored += size
		}
	}
	if len(c.r.scored) > 0 && c.p.cfg.Weights[ScorePodTopologySpread] != 0 {
		e.weighSpread()
		for i := range e.feasible {
			f := &e.feasible[i]
			if !f.ignored {
				f.spread = e.rawSpread(c.groups[f.group].tuple)
				e.minSpread, e.maxSpread = min(e.minSpread, f.spread), max(e.maxSpread, f.spread)
			}
		}
	}
}

// inter is the raw InterPodAffinity score of a group (plugins/interpodaffinity/scoring.go).
func (c *columns) inter(t tuple) int64 {
	sum := t[tupleFine]
	for i, s := range c.r.soft {
		if pl := c.soft[i]; !pl.fine && t[pl.at] >= 0 {
			sum += s.weight * int64(s.counter.counts.at(topology.ValueID(t[pl.at])))
		}
	}
	for i := range c.wishing {
		if w := &c.wishing[i]; !w.fine && t[w.at] >= 0 {
			sum += c.p.wish(w.o, topology.ValueID(t[w.at]))
		}
	}
	return sum
}

// weighSpread computes the weight of each soft constraint from the number of its feasible domains
// (plugins/podtopologyspread/scoring.go, initPreScoreState).
func (e *evaluation) weighSpread() {
	c := e.c
	for len(e.sizes) < len(c.r.scored) {
		e.sizes = append(e.sizes, domainSet{})
	}
	e.weights = e.weights[:0]
	for i := range c.r.scored {
		s := &c.r.scored[i]
		size := e.feasibleNodes - e.ignored
		if !s.hostname {
			d := &e.sizes[i]
			d.reset()
			for _, f := range e.feasible {
				if f.ignored {
					continue
				}
				v := topology.ValueID(c.groups[f.group].tuple[c.layout.scored[i].at])
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

func (e *evaluation) rawSpread(t tuple) int64 {
	c := e.c
	var sum float64
	for i := range c.r.scored {
		s := &c.r.scored[i]
		pl := c.layout.scored[i]
		var count int64
		switch {
		case s.hostname && t[tupleFlags]&flagHostname == 0, !s.hostname && t[pl.at] < 0:
			continue // the node lacks the key
		case s.hostname:
			count = t[pl.at]
		case s.counter != nil:
			count = int64(s.counter.counts.at(topology.ValueID(t[pl.at])))
		}
		sum += float64(count)*e.weights[i] + float64(s.maxSkew-1)
	}
	return int64(math.Round(sum))
}

// normalised returns a score of a feasible group, 0..100, before its weight. The group's nodes have it in common.
func (e *evaluation) normalised(s Scorer, f *scoredGroup) int64 {
	t := e.c.groups[f.group].tuple
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
		case len(e.c.r.scored) == 0 || f.ignored:
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

// best picks the winner: of each group only the top of the heap can win.
func (e *evaluation) best() Choice {
	c := e.c
	choice := Choice{Node: topology.None, Feasible: e.feasibleNodes}
	var winner *scoredGroup
	for i := range e.feasible {
		f := &e.feasible[i]
		n := c.groups[f.group].heap[0]
		if e.only != topology.None {
			n = e.only
		}
		total := e.shared(f) + int64(c.local[n])
		if choice.Node == topology.None || total > choice.Score || total == choice.Score && c.p.g.before(n, choice.Node) {
			choice.Node, choice.Score, winner = n, total, f
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
	state, need := &p.g.nodes[n], &e.c.r.class.need
	switch s {
	case ScoreNodeResourcesFit:
		return p.fitScore(state, need)
	case ScoreNodeResourcesBalancedAllocation:
		if !p.balances(need) {
			return 0
		}
		return p.balancedScore(state, need)
	case ScoreImageLocality:
		return p.g.imageScore(state, need)
	}
	return e.normalised(s, f)
}
