package scoretest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/berth-go/berth/score"
)

// Source tests a source. newSource makes it. Its answers may differ from call to call, as the world outside does.
func (s Suite) Source(tb testing.TB, newSource func() score.Source) {
	tb.Helper()
	r := s.run(tb, newSource())
	_, questions := r.world()
	source := newSource()
	var last, copied score.Query
	for i := range questions {
		q := r.query(&questions[i])
		if !r.fetch(source, &questions[i], q) {
			return
		}
		if !slices.Equal(last.Scores, copied.Scores) || !slices.Equal(last.Refused, copied.Refused) {
			r.fault("keeps what it was handed", "an answer was changed when another was asked for")
			return
		}
		last, copied = *q, score.Query{Scores: slices.Clone(q.Scores), Refused: slices.Clone(q.Refused)}
	}
	before, amid := r.query(&questions[0]), r.query(&questions[0])
	r.cancelled("Fetch", func(ctx context.Context) {
		_ = source.Fetch(ctx, before) // it may fail, and need not
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.comesBack("Fetch", func() {
		go cancel()
		_ = source.Fetch(ctx, amid)
	})
}

func (r *run) query(q *question) *score.Query {
	pod := *q.in.Pod
	query := &score.Query{Pod: &pod, Scores: make([]int64, len(q.nodes)), Refused: make([]bool, len(q.nodes))}
	for _, n := range q.nodes {
		query.Nodes = append(query.Nodes, name(q.in.Graph, n))
	}
	return query
}

func (r *run) fetch(source score.Source, question *question, q *score.Query) bool {
	r.Helper()
	was, pod := *q, r.podOf(q)
	nodes := slices.Clone(q.Nodes)
	if !r.call(&question.in, "Fetch", func() error { return source.Fetch(context.Background(), q) }) {
		return false
	}
	if q.Pod != was.Pod || r.podOf(q) != pod || !slices.Equal(q.Nodes, nodes) {
		r.fault("changes its input", "pod or nodes of the query for pod %v", q.Pod.Key())
		return false
	}
	if len(q.Scores) != len(nodes) || len(q.Refused) != len(nodes) {
		r.fault("changes its input", "there are %d scores and %d refusals for %d nodes", len(q.Scores), len(q.Refused), len(nodes))
		return false
	}
	for i, v := range q.Scores {
		if v < -score.MaxScore || v > score.MaxScore {
			r.fault("scores out of range", "pod %v, node %q: %d", q.Pod.Key(), q.Nodes[i], v)
			return false
		}
	}
	return true
}

func (r *run) podOf(q *score.Query) string {
	b, err := json.Marshal(q.Pod)
	if err != nil {
		r.Fatalf("pod %v: %v", q.Pod.Key(), err)
	}
	return string(b)
}
