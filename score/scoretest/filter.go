package scoretest

import (
	"context"
	"slices"
	"testing"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Filter tests a filter. newFilter makes it, the same at each call.
func (s Suite) Filter(tb testing.TB, newFilter func() score.Filter) {
	tb.Helper()
	r := &filterRun{s.run(tb, newFilter()), newFilter}
	first := r.script()
	if len(r.reported) > 0 {
		return
	}
	if !slices.EqualFunc(first, r.script(), slices.Equal) {
		r.fault("is not deterministic", "two new filters, asked the same, leave different nodes")
	}
	_, questions := r.world()
	q, f := &questions[0], newFilter()
	r.cancelled("Filter", func(ctx context.Context) {
		_ = f.Filter(q.in.WithContext(ctx), topology.NewNodeSet(q.nodes...)) // it may fail, and need not
	})
}

type filterRun struct {
	*run
	newFilter func() score.Filter
}

// script asks a new filter in a new world about all pods, one after the other, and returns what it left.
func (r *filterRun) script() (answers [][]topology.NodeID) {
	r.Helper()
	f := r.newFilter()
	_, questions := r.world()
	var last topology.NodeSet // the set of the call before, and what the call left of it
	lastPtr := &last
	var left topology.NodeSet
	for i := range questions {
		q := &questions[i]
		set := topology.NewNodeSet(q.nodes...)
		if !r.call(&q.in, "Filter", func() error { return f.Filter(&q.in, set) }) {
			return nil
		}
		added := set.Clone()
		added.Subtract(topology.NewNodeSet(q.nodes...))
		if !added.Empty() {
			r.fault("adds nodes", "for pod %v: %d", q.in.Pod.Key(), added.Len())
			return nil
		}
		if !lastPtr.Equal(&left) {
			r.fault("keeps what it was handed", "a set was changed when another was to be narrowed")
			return nil
		}
		answers = append(answers, set.AppendTo(nil))
		set.Clear() // whoever kept it will fill it again, or take it for what is feasible
		lastPtr, left = set, *set.Clone()
	}
	return answers
}

// Reserver tests a reserver. newReserver makes it, the same at each call; it must be able to reserve for each pod alone.
func (s Suite) Reserver(tb testing.TB, newReserver func() score.Reserver) {
	tb.Helper()
	r := s.run(tb, newReserver())
	_, questions := r.world()
	v := newReserver()
	for i := range questions {
		q := &questions[i]
		n := q.nodes[i%len(q.nodes)]
		for _, what := range []string{"Reserve", "Reserve after Unreserve"} {
			if !r.call(&q.in, what, func() error { return v.Reserve(&q.in, n) }) {
				return
			}
			if !r.call(&q.in, "Unreserve", func() error { v.Unreserve(&q.in, n); return nil }) {
				return
			}
		}
	}
	q := &questions[0]
	r.cancelled("Reserve", func(ctx context.Context) {
		_ = v.Reserve(q.in.WithContext(ctx), q.nodes[0]) // it may fail, and need not
	})
}
