package affinity

import (
	"math"

	"github.com/berth-go/berth/topology"
)

// score computes the raw scores of the feasible groups and their extremes.
func (e *evaluation) score() {
	e.maxTaints, e.maxPrefer = 0, 0
	e.minInter, e.maxInter = math.MaxInt64, math.MinInt64
	e.minSpread, e.maxSpread = math.MaxInt64, 0
	e.feasibleNodes, e.ignored = 0, 0
	hasInter := len(e.pl.fineRules)+len(e.pl.r.soft)+len(e.pl.owners) > 0
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
	if len(pl.fineRules) > 0 {
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

// best picks the winner: of each group only the top can win.
func (e *evaluation) best(choice *Choice) {
	c := e.c
	choice.Node, choice.Score, choice.Feasible = topology.None, 0, e.feasibleNodes
	var winner *scoredGroup
	for i := range e.feasible {
		f := &e.feasible[i]
		total := e.shared(f) + f.top.local()
		if winner == nil || total > choice.Score || total == choice.Score && c.p.g.ahead(&f.top, &winner.top) {
			choice.Node, choice.Score, winner = f.top.node, total, f
		}
	}
	if winner == nil {
		choice.Feasible = 0
		return
	}
	w := &c.p.cfg.Weights
	for s := range ScoreNodeResourcesFit {
		if w[s] != 0 {
			choice.Scores[s] = e.normalised(s, winner)
		}
	}
	for i, score := range winner.top.parts {
		choice.Scores[ScoreNodeResourcesFit+Scorer(i)] = int64(score)
	}
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
