package score_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// drawn is a plugin of every kind whose opinion of a node follows from the node's name and a salt.
type drawn struct {
	name      string
	salt      uint64
	normalise bool
}

func (d drawn) Name() string { return d.name }

func (d drawn) opinion(node string) int64 {
	h := d.salt
	for i := range len(node) {
		h = (h ^ uint64(node[i])) * 1099511628211
	}
	return int64(h >> 59) // 0..31, so that there are ties
}

func (d drawn) refuses(node string) bool { return d.opinion(node) < 6 }

func (d drawn) Filter(in *score.Input, feasible *topology.NodeSet) error {
	for n := range feasible.All() {
		feasible.Set(n, !d.refuses(in.Graph.Topology().Name(n)))
	}
	return nil
}

func (d drawn) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		column[n] = d.opinion(in.Graph.Topology().Name(n))
	}
	return nil
}

func (d drawn) Fetch(_ context.Context, q *score.Query) error {
	for i, node := range q.Nodes {
		q.Scores[i], q.Refused[i] = d.opinion(node), d.refuses(node)
	}
	return nil
}

// drawnLocal and drawnNormal are the same with promises, and with normalising: the best node has 100.
type (
	drawnLocal  struct{ drawn }
	drawnNormal struct{ drawn }
)

func (drawnLocal) Local()      {}
func (drawnLocal) Concurrent() {}

func (drawnNormal) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	var most int64
	for _, n := range feasible {
		most = max(most, column[n])
	}
	for _, n := range feasible {
		column[n] = column[n] * 100 / max(most, 1)
	}
	return nil
}

// TestDecisionsEqualReference holds pipelines of drawn plugins, on random clusters that change, equal to what the words say,
// done node by node: who passes the rules, filters and sources, and of these the highest sum.
func TestDecisionsEqualReference(t *testing.T) {
	placed, refused := 0, 0
	for seed, preset := range []gen.Options{gen.Everything(), gen.Plain(), gen.Affine(), gen.Spreading(), gen.Crowded()} {
		w := newWorld(t, uint64(seed), small(preset))
		r := newReference(w)
		for range 60 {
			pod := w.pod()
			want, feasible := r.decide(pod)
			got, err := r.pipeline.Place(pod)
			if feasible == 0 {
				checkSum(t, w.graph, err)
				refused++
			} else {
				require.NoError(t, err)
				require.Equal(t, want, got.Node, "seed %d, pod %v", seed, pod.Key())
				require.Equal(t, feasible, got.Feasible)
				w.placed = append(w.placed, pod.Key())
				placed++
			}
			w.change()
		}
	}
	assert.Greater(t, placed, 50)
	assert.Greater(t, refused, 20)
}

// checkSum: every node is refused by one rule, filter or source.
func checkSum(t *testing.T, g *affinity.Graph, err error) {
	var u *score.Unschedulable
	require.ErrorAs(t, err, &u)
	sum := 0
	for _, n := range u.Refused {
		sum += n
	}
	for _, f := range u.Filters {
		sum += f.Nodes
	}
	require.Equal(t, g.Topology().Len(), sum)
}

// reference is the slow way.
type reference struct {
	pipeline *score.Pipeline
	filters  []drawn
	scorers  []drawn
	weights  []int64
}

func newReference(w *world) *reference {
	draw := func(name string, normalise bool) drawn { return drawn{name, w.rng.Uint64(), normalise} }
	f, s, l, n, q := draw("filter", false), draw("scorer", false), draw("local", false), draw("normal", true), draw("source", false)
	r := &reference{filters: []drawn{f, q}, scorers: []drawn{s, l, n, q}, weights: []int64{1, 3, 2, 5}}
	r.pipeline = w.pipeline(score.Config{
		Profile: affinity.ProfileConfig{NoScores: true},
		Filters: []score.Filter{f},
		Scorers: []score.Weighted{{Scorer: s}, {Scorer: drawnLocal{l}, Weight: 3}, {Scorer: drawnNormal{n}, Weight: 2}},
		Signals: []score.Signal{{Source: q, Weight: 5}},
		Workers: 1 + w.rng.IntN(3),
	})
	return r
}

// decide returns the best node, and the number of those that are feasible.
func (r *reference) decide(pod *berth.Pod) (best string, feasible int) {
	x := r.pipeline.Graph().Topology()
	var nodes []topology.NodeID
	for n := range x.Live().All() {
		v, err := r.pipeline.Profile().Verdict(pod, x.Name(n), nil)
		refused := slices.ContainsFunc(r.filters, func(f drawn) bool { return f.refuses(x.Name(n)) })
		if err == nil && v.Rule == affinity.Feasible && !refused {
			nodes = append(nodes, n)
		}
	}
	winner, highest := topology.None, int64(0)
	for _, n := range nodes {
		var total int64
		for i, s := range r.scorers {
			v := s.opinion(x.Name(n))
			if s.normalise {
				var most int64
				for _, m := range nodes {
					most = max(most, s.opinion(x.Name(m)))
				}
				v = v * 100 / max(most, 1)
			}
			total += r.weights[i] * v
		}
		if winner == topology.None || total > highest || total == highest && r.pipeline.Graph().Before(n, winner) {
			winner, highest = n, total
		}
	}
	if winner == topology.None {
		return "", 0
	}
	return x.Name(winner), len(nodes)
}
