package score_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// filterFunc is a filter of the given name.
type filterFunc struct {
	name   string
	filter func(in *score.Input, feasible *topology.NodeSet) error
}

func (f filterFunc) Name() string { return f.name }

func (f filterFunc) Filter(in *score.Input, feasible *topology.NodeSet) error {
	return f.filter(in, feasible)
}

// without refuses the nodes of the given names.
func without(name string, nodes ...string) filterFunc {
	return filterFunc{name, func(in *score.Input, feasible *topology.NodeSet) error {
		for _, node := range nodes {
			if n, ok := in.Graph.Topology().Lookup(node); ok {
				feasible.Remove(n)
			}
		}
		return nil
	}}
}

func TestFiltersNarrow(t *testing.T) {
	for _, c := range []struct {
		name     string
		filters  []score.Filter
		want     string
		feasible int
	}{
		{"none", nil, "a", 3},
		{"one", []score.Filter{without("x", "a")}, "b", 2},
		{"each sees what those before it left", []score.Filter{without("x", "a"), without("y", "a", "b")}, "c", 1},
	} {
		for profile, noScores := range map[string]bool{"with built-in scores": false, "alone": true} {
			t.Run(c.name+", "+profile, func(t *testing.T) {
				p, err := score.New(three(t), score.Config{Profile: affinity.ProfileConfig{NoScores: noScores}, Filters: c.filters})
				require.NoError(t, err)
				d, err := p.Decide(plainPod("p"))
				require.NoError(t, err)
				assert.Equal(t, c.want, d.Node)
				assert.Equal(t, c.feasible, d.Feasible)
			})
		}
	}
}

func TestUnschedulableCountsFilters(t *testing.T) {
	g := three(t)
	full := plainPod("full")
	full.Requests.MilliCPU = 4000
	require.NoError(t, g.Bind(full, "a"))
	never := filterFunc{"never asked", func(*score.Input, *topology.NodeSet) error { panic("asked for no node") }}
	p, err := score.New(g, score.Config{Filters: []score.Filter{without("x", "a", "b"), without("idle", "b"), without("y", "c"), never}})
	require.NoError(t, err)
	_, err = p.Decide(plainPod("p"))
	want := score.Unschedulable{
		Pod: plainPod("p").Key(), Nodes: 3, Resolvable: 1, Filters: []score.FilterCount{{Name: "x", Nodes: 1}, {Name: "y", Nodes: 1}},
	}
	want.Refused[affinity.NodeResourcesFit] = 1
	require.Equal(t, &want, err)
	assert.Equal(t, "score: pod d/p: 0/3 nodes are available: 1 NodeResourcesFit, 1 x, 1 y", err.Error())

	huge := plainPod("huge") // the counts of the decision before are gone
	huge.Requests.MilliCPU = 5000
	_, err = p.Decide(huge)
	assert.Equal(t, "score: pod d/huge: 0/3 nodes are available: 3 NodeResourcesFit", err.Error())
}

func TestBadFiltersAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter func(*score.Input, *topology.NodeSet) error
		is     error
		says   string
	}{
		{"an error", func(*score.Input, *topology.NodeSet) error { return errBroken }, errBroken, "score: bad: broken"},
		{"a panic", func(*score.Input, *topology.NodeSet) error { panic("lost") }, score.ErrPlugin, "score: bad: plugin broke its contract: panic: lost"},
		{"a node more", func(_ *score.Input, s *topology.NodeSet) error { s.Add(7); return nil }, score.ErrPlugin, "added 1 nodes"},
		{"a node for another", func(_ *score.Input, s *topology.NodeSet) error { s.Add(7); s.Remove(0); return nil }, score.ErrPlugin, "added 1 nodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := three(t)
			p, err := score.New(g, score.Config{Filters: []score.Filter{filterFunc{"bad", c.filter}}})
			require.NoError(t, err)
			_, err = p.Place(plainPod("p"))
			require.ErrorIs(t, err, c.is)
			assert.Contains(t, err.Error(), c.says)
			assert.Zero(t, g.Pods())
		})
	}
}

// TestFiltersEqualPinning: on random clusters, a filter that leaves one node decides as the rules do for that node alone.
func TestFiltersEqualPinning(t *testing.T) {
	placed, refused := 0, 0
	for seed := range uint64(3) {
		w := newWorld(t, seed, small(gen.Everything()))
		var only string
		pin := filterFunc{"pin", func(in *score.Input, feasible *topology.NodeSet) error {
			n, _ := in.Graph.Topology().Lookup(only)
			keep := feasible.Has(n)
			feasible.Clear()
			feasible.Set(n, keep)
			return nil
		}}
		p := w.pipeline(score.Config{Filters: []score.Filter{pin}})
		for range 60 {
			pod := w.pod()
			only = w.nodes[w.rng.IntN(len(w.nodes))].Name
			if _, ok := w.graph.Topology().Lookup(only); !ok {
				continue
			}
			verdict, err := p.Profile().Verdict(pod, only, nil)
			require.NoError(t, err)
			d, err := p.Place(pod)
			if verdict.Rule == affinity.Feasible {
				require.NoError(t, err)
				require.Equal(t, only, d.Node)
				placed++
				w.placed = append(w.placed, pod.Key())
			} else {
				var u *score.Unschedulable
				require.ErrorAs(t, err, &u)
				sum := 0
				for _, f := range u.Filters {
					sum += f.Nodes
				}
				for _, n := range u.Refused {
					sum += n
				}
				require.Equal(t, u.Nodes, sum)
				refused++
			}
			w.change()
		}
	}
	assert.Greater(t, placed, 10)
	assert.Greater(t, refused, 10)
}
