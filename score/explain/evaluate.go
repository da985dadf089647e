package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// evaluation is a decision made the long way: every node, every filter, every score.
type evaluation struct {
	graph    *affinity.Graph
	profile  *affinity.Profile
	pod      *berth.Pod
	verdicts []affinity.Verdict // by NodeID
	filters  []score.Filter
	filtered []topology.NodeSet // by filter: what it refused
	weights  affinity.Weights
	builtin  affinity.Evaluation
	scorers  []score.Weighted
	own      [][]int64 // by scorer and NodeID
	total    []int64
	ranked   []topology.NodeID // the feasible nodes, the best first
}

func evaluate(p *score.Pipeline, pod *berth.Pod) (*evaluation, error) {
	ev := &evaluation{graph: p.Graph(), profile: p.Profile(), pod: pod, filters: p.Filters(), scorers: p.Scorers(),
		weights: p.Profile().Weights()}
	class, err := ev.graph.Class(pod)
	if err != nil {
		return nil, err
	}
	in := &score.Input{Pod: pod, Graph: ev.graph, Class: class}
	size := ev.graph.Topology().Cap()
	ev.verdicts, ev.total = make([]affinity.Verdict, size), make([]int64, size)
	err = ev.profile.Verdicts(pod, func(n topology.NodeID, v affinity.Verdict) { ev.verdicts[n] = v })
	if err != nil {
		return nil, err
	}
	if err := ev.profile.Evaluate(pod, &ev.builtin); err != nil {
		return nil, err
	}
	feasible := ev.builtin.Feasible.Clone()
	if err := ev.filter(in, feasible); err != nil {
		return nil, err
	}
	ev.ranked = feasible.AppendTo(nil)
	for _, n := range ev.ranked {
		for s, w := range ev.weights {
			ev.total[n] += w * ev.builtin.Scores[s][n]
		}
	}
	for _, w := range ev.scorers {
		column := make([]int64, size)
		if len(ev.ranked) > 0 {
			if err := guard(w.Scorer.Name(), func() error { return fill(in, w.Scorer, ev.ranked, column) }); err != nil {
				return nil, err
			}
		}
		ev.own = append(ev.own, column)
		for _, n := range ev.ranked {
			ev.total[n] += w.Weight * column[n]
		}
	}
	slices.SortFunc(ev.ranked, func(a, b topology.NodeID) int {
		switch {
		case ev.total[a] != ev.total[b]:
			return cmp.Compare(ev.total[b], ev.total[a])
		case a == b:
			return 0
		case ev.graph.Before(a, b):
			return -1
		}
		return 1
	})
	return ev, nil
}

// filter asks the filters in turn, as long as they leave nodes, and keeps what each refuses.
func (ev *evaluation) filter(in *score.Input, feasible *topology.NodeSet) error {
	ev.filtered = make([]topology.NodeSet, len(ev.filters))
	for i, f := range ev.filters {
		if feasible.Empty() {
			return nil
		}
		before := feasible.Clone()
		if err := guard(f.Name(), func() error { return f.Filter(in, feasible) }); err != nil {
			return err
		}
		left := feasible.Len()
		if feasible.Intersect(before); feasible.Len() < left {
			return fmt.Errorf("explain: %s: %w: the filter added %d nodes", f.Name(), score.ErrPlugin, left-feasible.Len())
		}
		before.Subtract(feasible)
		ev.filtered[i] = *before
	}
	return nil
}

// fill asks one scorer for its column, normalised.
func fill(in *score.Input, s score.Scorer, nodes []topology.NodeID, column []int64) error {
	if p, ok := s.(score.Preparer); ok {
		if err := p.Prepare(in, nodes); err != nil {
			return err
		}
	}
	if err := s.Score(in, nodes, column); err != nil {
		return err
	}
	if n, ok := s.(score.Normalizer); ok {
		return n.Normalize(in, nodes, column)
	}
	return nil
}

// guard names the error of a plugin, and makes one of a panic.
func guard(name string, call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("explain: %s: %w: panic: %v", name, score.ErrPlugin, r)
		}
	}()
	if err := call(); err != nil {
		return fmt.Errorf("explain: %s: %w", name, err)
	}
	return nil
}

// rank returns the place of a feasible node, from 0.
func (ev *evaluation) rank(n topology.NodeID) (int, bool) {
	i := slices.Index(ev.ranked, n)
	return i, i >= 0
}

func (ev *evaluation) name(n topology.NodeID) string { return ev.graph.Topology().Name(n) }
