package scoretest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Two values that no scorer writes: what is still one of them was not written.
const untouched, alsoUntouched = -1 << 62, -1<<62 + 1

// Scorer tests a scorer, and what else it implements of score.Local, score.Concurrent, score.Preparer and score.Normalizer.
// newScorer makes it, the same at each call.
func (s Suite) Scorer(tb testing.TB, newScorer func() score.Scorer) {
	tb.Helper()
	r := &scorerRun{s.run(tb, newScorer()), newScorer}
	first := r.script(untouched)
	if len(r.reported) > 0 {
		return // what follows would say the same again
	}
	if !slices.EqualFunc(first, r.script(alsoUntouched), slices.Equal) {
		r.fault("is not deterministic", "two new scorers, asked the same, give different scores")
		return
	}
	r.keeps()
	r.cancellation()
	_, local := newScorer().(score.Local)
	_, concurrent := newScorer().(score.Concurrent)
	if local || concurrent {
		r.again()
		r.parts()
	}
	if len(r.reported) > 0 {
		return
	}
	if concurrent {
		r.goroutines()
	}
	if local {
		r.local()
	}
}

type scorerRun struct {
	*run
	newScorer func() score.Scorer
}

// score returns the scores of nodes in their order, of which all else is checked. fill is what the column holds before.
func (r *scorerRun) score(s score.Scorer, in *score.Input, nodes []topology.NodeID, fill int64) (scores []int64, ok bool) {
	r.Helper()
	size := in.Graph.Topology().Cap()
	column, handed := filled(size, fill), slices.Clone(nodes)
	if !r.call(in, "Score", func() error { return s.Score(in, handed, column) }) {
		return nil, false
	}
	if !slices.Equal(handed, nodes) {
		r.fault("changes its input", "the slice of nodes, for pod %v", in.Pod.Key())
		return nil, false
	}
	asked := topology.NewNodeSet(nodes...)
	for n, v := range column {
		name := in.Graph.Topology().Name
		switch n := topology.NodeID(n); {
		case asked.Has(n) && (v == untouched || v == alsoUntouched):
			r.fault("leaves nodes out", "pod %v has no score for node %q", in.Pod.Key(), name(n))
			return nil, false
		case asked.Has(n) && (v < -score.MaxScore || v > score.MaxScore):
			r.fault("scores out of range", "pod %v, node %q: %d", in.Pod.Key(), name(n), v)
			return nil, false
		case !asked.Has(n) && v != fill:
			r.fault("writes outside of nodes", "pod %v: column[%d] is %d, but the node was not asked for", in.Pod.Key(), n, v)
			return nil, false
		}
	}
	for _, n := range nodes {
		scores = append(scores, column[n])
	}
	return scores, true
}

// prepare calls Prepare if there is one.
func (r *scorerRun) prepare(s score.Scorer, q *question) bool {
	r.Helper()
	p, ok := s.(score.Preparer)
	return !ok || r.call(&q.in, "Prepare", func() error { return p.Prepare(&q.in, slices.Clone(q.nodes)) })
}

// prepared yields the questions of a new world, each after s was prepared for it, until that fails.
func (r *scorerRun) prepared(s score.Scorer) iter.Seq[*question] {
	return func(yield func(*question) bool) {
		r.Helper()
		_, questions := r.world()
		for i := range questions {
			if q := &questions[i]; !r.prepare(s, q) || !yield(q) {
				return
			}
		}
	}
}

// script asks a new scorer in a new world about all pods, one after the other, and returns its scores, normalised too.
func (r *scorerRun) script(fill int64) (answers [][]int64) {
	r.Helper()
	s := r.newScorer()
	_, questions := r.world()
	for i := range questions {
		q := &questions[i]
		if !r.prepare(s, q) {
			return nil
		}
		scores, ok := r.score(s, &q.in, q.nodes, fill)
		if !ok {
			return nil
		}
		answers = append(answers, scores)
		if norm, ok := s.(score.Normalizer); ok {
			if scores, ok = r.normalise(norm, q, scores, fill); !ok {
				return nil
			}
			answers = append(answers, scores)
		}
	}
	return answers
}

func (r *scorerRun) normalise(s score.Normalizer, q *question, scores []int64, fill int64) ([]int64, bool) {
	r.Helper()
	column := filled(q.in.Graph.Topology().Cap(), fill)
	for i, n := range q.nodes {
		column[n] = scores[i]
	}
	scorer := func(in *score.Input, nodes []topology.NodeID, c []int64) error { return s.Normalize(in, nodes, c) }
	return r.score(normaliser{scorer, column}, &q.in, q.nodes, fill)
}

// normaliser lets Normalize be held to what Score is: it is handed a column that has the scores already.
type normaliser struct {
	normalise func(*score.Input, []topology.NodeID, []int64) error
	scores    []int64
}

func (normaliser) Name() string { return "" }

func (s normaliser) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	copy(column, s.scores)
	return s.normalise(in, nodes, column)
}

// keeps looks for memory that is kept: what a call was handed must not change in later ones, and must not be looked at.
func (r *scorerRun) keeps() {
	r.Helper()
	var plain, spoilt [2][]int64
	for k, answers := range []*[2][]int64{&plain, &spoilt} {
		s := r.newScorer()
		_, questions := r.world()
		var column, copied []int64
		for i := range answers {
			q := &questions[min(i, len(questions)-1)]
			if !r.prepare(s, q) {
				return
			}
			nodes, c := slices.Clone(q.nodes), filled(q.in.Graph.Topology().Cap(), untouched)
			if !r.call(&q.in, "Score", func() error { return s.Score(&q.in, nodes, c) }) {
				return
			}
			answers[i] = slices.Clone(c)
			if i > 0 && !slices.Equal(column, copied) {
				r.fault("keeps what it was handed", "a column was written to when another was to be filled")
				return
			}
			if k == 1 { // whoever looks at what it kept finds something else there
				for j := range nodes {
					nodes[j] = 0
				}
				for j := range c {
					c[j] = alsoUntouched
				}
			}
			column, copied = c, slices.Clone(c)
		}
	}
	if !slices.EqualFunc(plain[:], spoilt[:], slices.Equal) {
		r.fault("keeps what it was handed", "scores follow from nodes or scores of an earlier call")
	}
}

func (r *scorerRun) cancellation() {
	r.Helper()
	_, questions := r.world()
	q := &questions[0]
	s := r.newScorer()
	column := make([]int64, q.in.Graph.Topology().Cap())
	r.cancelled("Score", func(ctx context.Context) {
		in := q.in.WithContext(ctx)
		if p, ok := s.(score.Preparer); ok && p.Prepare(in, q.nodes) != nil {
			return
		}
		_ = s.Score(in, q.nodes, column) // it may fail, and need not
	})
}

// again asks the same scorer twice, which may not be about the past if it is Local or Concurrent.
func (r *scorerRun) again() {
	r.Helper()
	s := r.newScorer()
	for q := range r.prepared(s) {
		one, ok1 := r.score(s, &q.in, q.nodes, untouched)
		two, ok2 := r.score(s, &q.in, q.nodes, untouched)
		if ok1 && ok2 && !slices.Equal(one, two) {
			r.fault("is not deterministic", "pod %v, asked twice, has different scores", q.in.Pod.Key())
			return
		}
	}
}

// parts splits the nodes in several ways.
func (r *scorerRun) parts() {
	r.Helper()
	s := r.newScorer()
	for q := range r.prepared(s) {
		whole, ok := r.score(s, &q.in, q.nodes, untouched)
		if !ok {
			return
		}
		for _, size := range []int{1, 2, 7, 32} {
			var scores []int64
			for part := range slices.Chunk(q.nodes, size) {
				some, ok := r.score(s, &q.in, part, untouched)
				if !ok {
					return
				}
				scores = append(scores, some...)
			}
			if !slices.Equal(scores, whole) {
				r.fault("depends on how nodes are split", "pod %v has other scores if it is asked for %d nodes at a time", q.in.Pod.Key(), size)
				return
			}
		}
	}
}

// goroutines asks for parts of the nodes at the same time.
func (r *scorerRun) goroutines() {
	r.Helper()
	const rounds, size = 50, 8
	s := r.newScorer()
	for q := range r.prepared(s) {
		want := filled(q.in.Graph.Topology().Cap(), untouched)
		if err := s.Score(&q.in, q.nodes, want); err != nil {
			return // reported before
		}
		for range rounds {
			column := filled(len(want), untouched)
			begin := make(chan struct{})
			var all sync.WaitGroup
			var mu sync.Mutex
			var faults []string
			for part := range slices.Chunk(q.nodes, size) {
				all.Go(func() {
					<-begin
					defer func() {
						if v := recover(); v != nil {
							mu.Lock()
							faults = append(faults, fmt.Sprint(v))
							mu.Unlock()
						}
					}()
					if err := s.Score(&q.in, part, column); err != nil {
						panic(err)
					}
				})
			}
			close(begin)
			all.Wait()
			if len(faults) > 0 {
				r.fault("races", "pod %v, asked by several goroutines: %s", q.in.Pod.Key(), faults[0])
				return
			}
			if !slices.Equal(column, want) {
				r.fault("races", "pod %v has other scores if several goroutines ask", q.in.Pod.Key())
				return
			}
		}
	}
}

// local changes a node and asks about the others.
func (r *scorerRun) local() {
	r.Helper()
	s := r.newScorer()
	g, questions := r.world()
	score := func(q *question) ([]int64, bool) {
		if !r.prepare(s, q) {
			return nil, false
		}
		return r.score(s, &q.in, q.nodes, untouched)
	}
	for i := range questions {
		q := &questions[i]
		before, ok := score(q)
		if !ok {
			return
		}
		changed := q.nodes[len(q.nodes)/2]
		other := pod(fmt.Sprint("other-", i), 1, 1)
		other.Tolerations = q.in.Pod.Tolerations
		if err := g.Bind(other, g.Topology().Name(changed)); err != nil {
			r.Fatalf("the world: %v", err)
		}
		after, ok := score(q)
		if !ok {
			return
		}
		for k, n := range q.nodes {
			if n != changed && before[k] != after[k] {
				r.fault("is not local", "the score of node %q for pod %v changed with node %q", name(g, n), q.in.Pod.Key(), name(g, changed))
				return
			}
		}
	}
}

func name(g *affinity.Graph, n topology.NodeID) string { return g.Topology().Name(n) }
