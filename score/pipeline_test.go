package score_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// TestPathsAgree holds the decision from the groups of the graph equal to the one by columns, which a scorer of nothing
// but zeros forces: node, score, scores by plugin, number of feasible nodes, and reasons.
func TestPathsAgree(t *testing.T) {
	configs := map[string]score.Config{
		"kube default":     score.KubeDefault(),
		"least allocated":  score.LeastAllocated(),
		"most allocated":   score.MostAllocated(),
		"ratio":            score.RequestedToCapacityRatio(affinity.ShapePoint{Utilization: 0, Score: 10}, affinity.ShapePoint{Utilization: 100, Score: 0}),
		"balanced":         score.BalancedAllocation(),
		"images":           score.Single(affinity.ScoreImageLocality),
		"no scores at all": {Profile: affinity.ProfileConfig{NoScores: true}},
	}
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			placed, refused := 0, 0
			for seed, preset := range []gen.Options{gen.Everything(), gen.Plain(), gen.Affine(), gen.Spreading(), gen.Crowded()} {
				w := newWorld(t, uint64(seed), small(preset))
				groups := w.pipeline(cfg)
				cfg.Scorers = []score.Weighted{{Scorer: constant{}}}
				columns := w.pipeline(cfg)
				cfg.Scorers = nil
				for range 30 {
					pod := w.pod()
					want, wantErr := groups.Decide(pod)
					got, err := columns.Decide(pod)
					require.Equal(t, wantErr, err)
					if err != nil {
						refused++
						checkReasons(t, w.graph, err)
						continue
					}
					require.Equal(t, []int64{0}, got.Own)
					got.Own = nil
					require.Equal(t, want, got, "seed %d, pod %v", seed, pod.Key())
					_, err = groups.Place(pod)
					require.NoError(t, err)
					placed++
					w.placed = append(w.placed, pod.Key())
					w.change()
				}
			}
			assert.Greater(t, placed, 20)
			assert.Greater(t, refused, 5)
		})
	}
}

// checkReasons: every node is refused by exactly one rule.
func checkReasons(t *testing.T, g *affinity.Graph, err error) {
	var u *score.Unschedulable
	require.ErrorAs(t, err, &u)
	require.ErrorIs(t, err, score.ErrUnschedulable)
	sum := 0
	for _, n := range u.Refused {
		sum += n
	}
	require.Equal(t, u.Nodes, sum)
	require.Equal(t, g.Topology().Len(), u.Nodes)
	require.Zero(t, u.Refused[affinity.Feasible])
	require.LessOrEqual(t, u.Resolvable, u.Nodes)
}

func TestUnschedulableSaysHowManyNodesEachRuleRefused(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for _, n := range []berth.Node{
		{Name: "small", Allocatable: berth.Resources{MilliCPU: 100, Pods: 10}},
		{Name: "full", Allocatable: berth.Resources{MilliCPU: 1000, Pods: 10}},
		{Name: "cordoned", Unschedulable: true, Allocatable: berth.Resources{MilliCPU: 9000, Pods: 10}},
		{Name: "tainted", Taints: []berth.Taint{{Key: "k", Effect: berth.NoSchedule}}, Allocatable: berth.Resources{MilliCPU: 9000, Pods: 10}},
	} {
		require.NoError(t, g.AddNode(&n))
	}
	require.NoError(t, g.Bind(&berth.Pod{Namespace: "d", Name: "old", Requests: berth.Resources{MilliCPU: 800}}, "full"))
	p, err := score.New(g, score.KubeDefault())
	require.NoError(t, err)

	_, err = p.Decide(&berth.Pod{Namespace: "d", Name: "new", Requests: berth.Resources{MilliCPU: 500}})
	var u *score.Unschedulable
	require.ErrorAs(t, err, &u)
	want := score.Unschedulable{Pod: berth.PodKey{Namespace: "d", Name: "new"}, Nodes: 4, Resolvable: 1}
	want.Refused[affinity.NodeUnschedulable] = 1
	want.Refused[affinity.TaintToleration] = 1
	want.Refused[affinity.NodeResourcesFit] = 2
	assert.Equal(t, want, *u)
	assert.Equal(t, "score: pod d/new: 0/4 nodes are available: 1 NodeUnschedulable, 1 TaintToleration, 2 NodeResourcesFit", err.Error())
}

func TestNoNodesIsUnschedulable(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for name, cfg := range map[string]score.Config{"groups": {}, "columns": {Scorers: []score.Weighted{{Scorer: constant{}}}}} {
		t.Run(name, func(t *testing.T) {
			p, err := score.New(g, cfg)
			require.NoError(t, err)
			_, err = p.Decide(&berth.Pod{Namespace: "d", Name: "p"})
			assert.Equal(t, &score.Unschedulable{Pod: berth.PodKey{Namespace: "d", Name: "p"}}, err)
		})
	}
}

func TestBadPodIsAFaultAndPlacesNothing(t *testing.T) {
	w := newWorld(t, 1, small(gen.Plain()))
	before := w.graph.Pods()
	bad := &berth.Pod{Namespace: "d", Name: "p", Requests: berth.Resources{MilliCPU: -1}}
	for name, cfg := range map[string]score.Config{"groups": {}, "columns": {Scorers: []score.Weighted{{Scorer: constant{}}}}} {
		t.Run(name, func(t *testing.T) {
			_, err := w.pipeline(cfg).Place(bad)
			var fault *berth.Fault
			require.ErrorAs(t, err, &fault)
			assert.Contains(t, err.Error(), "-1")
			assert.Equal(t, before, w.graph.Pods())
		})
	}
}

func TestConfigErrors(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	one := score.Weighted{Scorer: constant{}}
	for name, c := range map[string]struct {
		cfg  score.Config
		is   error
		says string
	}{
		"no scorer":         {score.Config{Scorers: []score.Weighted{one, {}}}, score.ErrConfig, "Scorers[1] is nil"},
		"negative weight":   {score.Config{Scorers: []score.Weighted{{Scorer: constant{}, Weight: -3}}}, score.ErrConfig, "Scorers[0] (constant): weight -3"},
		"huge weight":       {score.Config{Scorers: []score.Weighted{{Scorer: constant{}, Weight: 1<<20 + 1}}}, score.ErrConfig, "weight 1048577"},
		"name twice":        {score.Config{Scorers: []score.Weighted{one, one}}, score.ErrConfig, `Scorers[1]: the name "constant" is taken`},
		"no filter":         {score.Config{Filters: []score.Filter{nil}}, score.ErrConfig, "Filters[0] is nil"},
		"no reserver":       {score.Config{Reservers: []score.Reserver{nil}}, score.ErrConfig, "Reservers[0] is nil"},
		"filter twice":      {score.Config{Filters: []score.Filter{without("x"), without("x")}}, score.ErrConfig, `Filters[1]: the name "x" is taken`},
		"negative workers":  {score.Config{Workers: -1}, score.ErrConfig, "Workers is -1"},
		"negative memory":   {score.Config{MaxColumnBytes: -1}, score.ErrConfig, "MaxColumnBytes is -1"},
		"bad profile":       {score.Config{Profile: affinity.ProfileConfig{HardPodAffinityWeight: 101}}, affinity.ErrConfig, "101"},
		"ratio with no map": {score.RequestedToCapacityRatio(), affinity.ErrConfig, "FitShape"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := score.New(g, c.cfg)
			assert.Nil(t, p)
			require.ErrorIs(t, err, c.is)
			assert.Contains(t, err.Error(), c.says)
		})
	}
}

// TestAllocations: on a known class a decision by built-in scores allocates nothing, one by columns only what it returns.
func TestAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  score.Config
		want float64
	}{
		"built-in scores": {score.KubeDefault(), 0},
		"columns":         {score.Config{Scorers: []score.Weighted{{Scorer: constant{1}}, {Scorer: quiet{}}}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, small(gen.Plain()))
			p := w.pipeline(c.cfg)
			pod := &berth.Pod{Namespace: "d", Name: "p", Requests: berth.Resources{MilliCPU: 1, Memory: 1}}
			_, err := p.Decide(pod)
			require.NoError(t, err)
			assert.Equal(t, c.want, testing.AllocsPerRun(100, func() {
				if _, err := p.Decide(pod); err != nil {
					panic(err)
				}
			}))
		})
	}
}

// quiet is a Local scorer with a Normalizer that allocates nothing.
type quiet struct{ byName }

func (quiet) Local() {}

func (quiet) Normalize(*score.Input, []topology.NodeID, []int64) error { return nil }

func TestSameCallsSameDecisions(t *testing.T) {
	run := func() (nodes []string) {
		w := newWorld(t, 9, small(gen.Everything()))
		p := w.pipeline(score.KubeDefault())
		for range 40 {
			d, err := p.Place(w.pod())
			if err != nil && !errors.Is(err, score.ErrUnschedulable) {
				t.Fatal(err)
			}
			nodes = append(nodes, d.Node)
		}
		return nodes
	}
	assert.Equal(t, run(), run())
}
