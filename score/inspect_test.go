package score_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// picky is a source that refuses one node and scores the others.
type picky struct {
	name, refuses string
	score         int64
	fail          error
}

func (s picky) Name() string { return s.name }

func (s picky) Fetch(_ context.Context, q *score.Query) error {
	for i, n := range q.Nodes {
		q.Scores[i], q.Refused[i] = s.score+int64(i), n == s.refuses
	}
	return s.fail
}

// without is a filter that refuses one node.
type lacks string

func (w lacks) Name() string { return "without " + string(w) }

func (w lacks) Filter(in *score.Input, feasible *topology.NodeSet) error {
	if n, ok := in.Graph.Topology().Lookup(string(w)); ok {
		feasible.Remove(n)
	}
	return nil
}

func TestInspectionNamesWhoRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		filters []score.Filter
		signals []score.Source
		want    map[string][]topology.NodeID
		best    string
	}{
		{"nobody", nil, nil, nil, "a"},
		{"a filter", []score.Filter{lacks("a")}, nil, map[string][]topology.NodeID{"without a": {0}}, "b"},
		{"each filter what those before it left", []score.Filter{lacks("a"), lacks("x"), lacks("c")}, nil,
			map[string][]topology.NodeID{"without a": {0}, "without c": {2}}, "b"},
		{"a signal", nil, []score.Source{picky{"s", "a", 0, nil}}, map[string][]topology.NodeID{"s": {0}}, "c"},
		{"a signal that fails refuses nothing", nil, []score.Source{picky{"s", "a", 0, errBroken}}, nil, "a"},
		{"filters and signals, and in the end all nodes", []score.Filter{lacks("a")}, []score.Source{picky{"s", "b", 0, nil}, picky{"t", "c", 0, nil}},
			map[string][]topology.NodeID{"without a": {0}, "s": {1}, "t": {2}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := three(t)
			cfg := score.Config{Filters: c.filters}
			for _, s := range c.signals {
				cfg.Signals = append(cfg.Signals, score.Signal{Source: s})
			}
			p, err := score.New(g, cfg)
			require.NoError(t, err)
			for range 2 { // and leaves nothing behind
				in, err := p.Inspect(t.Context(), plainPod("p"))
				require.NoError(t, err)
				got := map[string][]topology.NodeID{}
				for _, r := range in.Refused {
					got[r.Name] = r.Nodes.AppendTo(nil)
				}
				assert.Len(t, got, len(c.want))
				for name, nodes := range c.want {
					assert.Equal(t, nodes, got[name], name)
				}
				d, _ := p.Decide(plainPod("p"))
				assert.Equal(t, c.best, d.Node)
				if c.best != "" {
					assert.Equal(t, c.best, g.Topology().Name(in.Best))
				} else {
					assert.Equal(t, topology.None, in.Best)
				}
			}
		})
	}
}

// TestInspectionEqualsDecision compares the two on random clusters, with scorers, signals and a registry.
func TestInspectionEqualsDecision(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, small(gen.Everything()))
		var registry score.Registry
		require.NoError(t, registry.Register(score.Plugin{Name: "r", Version: "1", Scorer: score.GPUPacking{}, Share: 0.5}))
		require.NoError(t, registry.Register(score.Plugin{Name: "r", Version: "2", Filter: lacks("node-001"), Share: 0.5}))
		asked := 0
		p := w.pipeline(score.Config{
			Scorers:  []score.Weighted{{Scorer: localUse{use{"use", &asked}}, Weight: 2}, {Scorer: score.BestFit{}}},
			Filters:  []score.Filter{lacks("node-000")},
			Signals:  []score.Signal{{Source: picky{"s", "node-002", 3, nil}, Weight: 7}, {Source: picky{"broken", "", 0, errBroken}}},
			Registry: &registry,
		})
		for range 10 {
			pod := w.pod()
			in, err := p.Inspect(t.Context(), pod)
			require.NoError(t, err)
			d, err := p.Decide(pod)
			require.Equal(t, in.Feasible.Len(), d.Feasible)
			if in.Best == topology.None {
				require.ErrorIs(t, err, score.ErrUnschedulable)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, d.Node, w.graph.Topology().Name(in.Best))
			require.Equal(t, d.Score, in.Total[in.Best])
			var sum int64
			for s, weight := range affinity.DefaultWeights() {
				require.Equal(t, d.Builtin[s], in.Builtin.Scores[s][in.Best])
				sum += weight * d.Builtin[s]
			}
			require.Len(t, in.Columns, len(d.Own)+len(d.Signals))
			for i, c := range in.Columns {
				sum += c.Weight * c.Scores[in.Best]
				if i < len(d.Own) {
					require.Equal(t, d.Own[i], c.Scores[in.Best])
				} else {
					require.Equal(t, d.Signals[i-len(d.Own)].Signal, c.Name)
					require.Equal(t, c.Name == "broken", c.Late)
				}
			}
			require.Equal(t, d.Score, sum)
		}
	}
}
