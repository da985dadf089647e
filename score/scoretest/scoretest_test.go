package scoretest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/scoretest"
	"github.com/berth-go/berth/topology"
)

// TestOwnPlugins: the strategies that come with package score keep the contract.
func TestOwnPlugins(t *testing.T) {
	typical := []score.TypicalPod{
		{MilliCPU: 500, GPU: berth.GPURequest{Count: 1, Milli: 300}, Share: 0.5},
		{MilliCPU: 500, GPU: berth.GPURequest{Count: 2, Milli: berth.GPUMilli, Models: []string{"A100"}}, Share: 0.5},
	}
	for name, newScorer := range map[string]func() score.Scorer{
		"BestFit":       func() score.Scorer { return score.BestFit{} },
		"DotProduct":    func() score.Scorer { return score.DotProduct{} },
		"GPUPacking":    func() score.Scorer { return score.GPUPacking{} },
		"GPUClustering": func() score.Scorer { return score.GPUClustering{} },
		"Random":        func() score.Scorer { return score.NewRandom(1) },
		"FGD": func() score.Scorer {
			f, err := score.NewFGD(typical)
			require.NoError(t, err)
			return f
		},
		"Headroom": func() score.Scorer {
			h, err := score.NewHeadroom(score.HeadroomConfig{Typical: typical, GPUs: map[string]int64{"T4": 20_000, "A100": 40_000}})
			require.NoError(t, err)
			return h
		},
	} {
		t.Run(name, func(t *testing.T) { scoretest.Suite{}.Scorer(t, newScorer) })
	}
}

// good is a plugin that keeps the contract; the planted faults are made by changing one thing of it.
type good struct {
	score     func(in *score.Input, nodes []topology.NodeID, column []int64) error
	normalise func(in *score.Input, feasible []topology.NodeID, column []int64) error
}

func (good) Name() string { return "planted" }

func (g good) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	if g.score != nil {
		return g.score(in, nodes, column)
	}
	return right(in, nodes, column)
}

func (g good) Normalize(in *score.Input, feasible []topology.NodeID, column []int64) error {
	if g.normalise != nil {
		return g.normalise(in, feasible, column)
	}
	return nil
}

func right(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		column[n] = in.Graph.FreeMilliCPU(n) / 100
	}
	return nil
}

// promising is good with all promises.
type promising struct{ good }

func (promising) Local()      {}
func (promising) Concurrent() {}

// recorder takes the place of a test that is to fail.
type recorder struct {
	testing.TB
	faults []string
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// patience returns a short one for plugins that are planted to exhaust it, and for the others the default, which a busy
// machine does not exhaust.
func patience(says string) time.Duration {
	if says == "ignores cancellation" {
		return 20 * time.Millisecond
	}
	return 0
}

type scoreFunc = func(in *score.Input, nodes []topology.NodeID, column []int64) error

// planted are the faults in Score, each by what must be said of it; a function makes a new one for each scorer.
var planted = []struct {
	name, says string
	newScore   func(stop chan struct{}) scoreFunc
}{
	{"score too high", "scores out of range", func(chan struct{}) scoreFunc {
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = int64(n) % 2 * (score.MaxScore + 1)
			}
			return nil
		}
	}},
	{"score too low", "scores out of range", func(chan struct{}) scoreFunc {
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = -score.MaxScore - 1
			}
			return nil
		}
	}},
	{"keeps the column", "keeps what it was handed", func(chan struct{}) scoreFunc {
		var kept []int64
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for i := range kept {
				kept[i] = 7
			}
			kept = column
			return right(in, nodes, column)
		}
	}},
	{"looks into a kept column", "keeps what it was handed", func(chan struct{}) scoreFunc {
		var kept []int64
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = 0
				if kept != nil && kept[n] < 0 {
					column[n] = 1
				}
			}
			kept = column
			return nil
		}
	}},
	{"keeps the nodes", "keeps what it was handed", func(chan struct{}) scoreFunc {
		var kept []topology.NodeID
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			var sum int64
			for _, n := range kept {
				sum += int64(n)
			}
			for _, n := range nodes {
				column[n] = sum
			}
			kept = nodes
			return nil
		}
	}},
	{"draws from a source that nobody seeded", "is not deterministic", func(chan struct{}) scoreFunc {
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = rand.Int64N(1 << 30)
			}
			return nil
		}
	}},
	{"goes by the order of a map", "is not deterministic", func(chan struct{}) scoreFunc {
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			m := make(map[topology.NodeID]bool)
			for _, n := range nodes {
				m[n] = true
			}
			i := int64(0)
			for n := range maps.Keys(m) {
				column[n] = i
				i++
			}
			return nil
		}
	}},
	{"waits for what never comes", "ignores cancellation", func(stop chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			if in.Context().Err() != nil {
				<-stop
			}
			return right(in, nodes, column)
		}
	}},
	{"writes a node that is not asked for", "writes outside of nodes", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for n := range column {
				column[n] = 1
			}
			return nil
		}
	}},
	{"writes to a node that nobody has", "writes outside of nodes", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			if in.Pod.GPU.Count > 0 {
				column[0]++
			}
			return right(in, nodes, column)
		}
	}},
	{"leaves a node out", "leaves nodes out", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			return right(in, nodes[1:], column)
		}
	}},
	{"changes the pod", "changes its input", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			in.Pod.Labels["seen"] = "yes"
			return right(in, nodes, column)
		}
	}},
	{"changes the nodes", "changes its input", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			defer func() { nodes[0] = nodes[len(nodes)-1] }()
			return right(in, nodes, column)
		}
	}},
	{"changes the graph", "changes its input", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			placed := *in.Pod
			placed.Name += "-tried"
			if err := in.Graph.Bind(&placed, in.Graph.Topology().Name(nodes[0])); err != nil {
				return err
			}
			defer func() { _ = in.Graph.Release(placed.Key()) }()
			return right(in, nodes, column)
		}
	}},
	{"panics for some pods", "panics", func(chan struct{}) scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = 1000 / in.Pod.Requests.MilliCPU
			}
			return nil
		}
	}},
	{"fails", "fails", func(chan struct{}) scoreFunc {
		return func(*score.Input, []topology.NodeID, []int64) error { return errors.New("no") }
	}},
}

// plantedPromises are faults that only the promises make faults.
var plantedPromises = []struct {
	name, says string
	newScore   func() scoreFunc
}{
	{"ranks the nodes of a call", "depends on how nodes are split", func() scoreFunc {
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			for i, n := range nodes {
				column[n] = int64(i)
			}
			return nil
		}
	}},
	{"counts calls", "is not deterministic", func() scoreFunc {
		calls := int64(0)
		return func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			calls++
			for _, n := range nodes {
				column[n] = calls
			}
			return nil
		}
	}},
	{"looks at another node", "is not local", func() scoreFunc {
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				column[n] = int64(in.Graph.Pods())
			}
			return nil
		}
	}},
	{"shares scratch memory", "races", func() scoreFunc {
		var scratch atomic.Int64 // a race of what it means, not one of memory, which the race detector would find here
		return func(in *score.Input, nodes []topology.NodeID, column []int64) error {
			for _, n := range nodes {
				scratch.Store(int64(n))
				if n%8 == 0 {
					runtime.Gosched()
				}
				column[n] = scratch.Load()
			}
			return nil
		}
	}},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, c := range planted {
		t.Run(c.name, func(t *testing.T) {
			stop := make(chan struct{})
			defer close(stop)
			rec := &recorder{TB: t}
			scoretest.Suite{Patience: patience(c.says)}.Scorer(rec, func() score.Scorer { return good{score: c.newScore(stop)} })
			requireFault(t, rec, c.says)
		})
	}
	for _, c := range plantedPromises {
		t.Run(c.name, func(t *testing.T) {
			rec := &recorder{TB: t}
			scoretest.Suite{Patience: patience(c.says)}.Scorer(rec, func() score.Scorer { return promising{good{score: c.newScore()}} })
			requireFault(t, rec, c.says)
			if c.says != "is not deterministic" { // without a promise it is none
				scoretest.Suite{}.Scorer(t, func() score.Scorer { return good{score: c.newScore()} })
			}
		})
	}
	for name, normalise := range map[string]scoreFunc{
		"writes outside of nodes": func(_ *score.Input, _ []topology.NodeID, column []int64) error { column[len(column)-1]++; return nil },
		"scores out of range": func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			column[nodes[0]] = 1 << 50
			return nil
		},
		"is not deterministic": func(_ *score.Input, nodes []topology.NodeID, column []int64) error {
			column[nodes[0]] = rand.Int64N(1 << 30)
			return nil
		},
	} {
		t.Run("normalising "+name, func(t *testing.T) {
			rec := &recorder{TB: t}
			scoretest.Suite{}.Scorer(rec, func() score.Scorer { return good{normalise: normalise} })
			requireFault(t, rec, name)
		})
	}
	t.Run("none", func(t *testing.T) {
		scoretest.Suite{}.Scorer(t, func() score.Scorer { return promising{} })
	})
}

func requireFault(t *testing.T, rec *recorder, says string) {
	t.Helper()
	require.NotEmpty(t, rec.faults)
	assert.True(t, strings.HasPrefix(rec.faults[0], `plugin "planted" `+says+": "), rec.faults)
}

type filter func(in *score.Input, feasible *topology.NodeSet) error

func (filter) Name() string { return "planted" }

func (f filter) Filter(in *score.Input, feasible *topology.NodeSet) error { return f(in, feasible) }

func TestPlantedFilters(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for _, c := range []struct {
		says      string
		newFilter func() score.Filter
	}{
		{"", func() score.Filter {
			return filter(func(in *score.Input, feasible *topology.NodeSet) error {
				for n := range feasible.All() {
					feasible.Set(n, in.Graph.FreeMilliCPU(n) > 6000)
				}
				return nil
			})
		}},
		{"adds nodes", func() score.Filter {
			return filter(func(in *score.Input, feasible *topology.NodeSet) error {
				feasible.Fill(in.Graph.Topology().Cap())
				return nil
			})
		}},
		{"is not deterministic", func() score.Filter {
			return filter(func(_ *score.Input, feasible *topology.NodeSet) error {
				for n := range feasible.All() {
					feasible.Set(n, rand.IntN(2) == 0)
				}
				return nil
			})
		}},
		{"keeps what it was handed", func() score.Filter {
			var kept *topology.NodeSet
			return filter(func(_ *score.Input, feasible *topology.NodeSet) error {
				if kept != nil {
					kept.Add(1)
				}
				kept = feasible
				return nil
			})
		}},
		{"changes its input", func() score.Filter {
			return filter(func(in *score.Input, _ *topology.NodeSet) error { in.Pod.Priority++; return nil })
		}},
		{"panics", func() score.Filter {
			return filter(func(*score.Input, *topology.NodeSet) error { panic("lost") })
		}},
		{"fails", func() score.Filter {
			return filter(func(*score.Input, *topology.NodeSet) error { return errors.New("no") })
		}},
		{"ignores cancellation", func() score.Filter {
			return filter(func(in *score.Input, _ *topology.NodeSet) error {
				if in.Context().Err() != nil {
					<-stop
				}
				return nil
			})
		}},
	} {
		t.Run(c.says, func(t *testing.T) {
			rec := &recorder{TB: t}
			scoretest.Suite{Patience: patience(c.says)}.Filter(rec, c.newFilter)
			if c.says == "" {
				require.Empty(t, rec.faults)
				return
			}
			requireFault(t, rec, c.says)
		})
	}
}

// licences are a limited number of seats.
type licences struct {
	left       int
	forgetful  bool // does not give back
	loud, deaf bool
	stop       chan struct{}
}

func (*licences) Name() string { return "planted" }

func (l *licences) Reserve(in *score.Input, _ topology.NodeID) error {
	if l.deaf && in.Context().Err() != nil {
		<-l.stop
	}
	if l.left == 0 {
		return errors.New("no licence is left")
	}
	l.left--
	return nil
}

func (l *licences) Unreserve(*score.Input, topology.NodeID) {
	if l.loud {
		panic("lost")
	}
	if !l.forgetful {
		l.left++
	}
}

func TestPlantedReservers(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for _, c := range []struct {
		says string
		l    licences
	}{
		{"", licences{left: 1}},
		{"fails", licences{left: 1, forgetful: true}},
		{"panics", licences{left: 1, loud: true}},
		{"ignores cancellation", licences{left: 1, deaf: true, stop: stop}},
	} {
		t.Run(c.says, func(t *testing.T) {
			rec := &recorder{TB: t}
			scoretest.Suite{Patience: patience(c.says)}.Reserver(rec, func() score.Reserver { l := c.l; return &l })
			if c.says == "" {
				require.Empty(t, rec.faults)
				return
			}
			requireFault(t, rec, c.says)
		})
	}
}

type source func(ctx context.Context, q *score.Query) error

func (source) Name() string { return "planted" }

func (s source) Fetch(ctx context.Context, q *score.Query) error { return s(ctx, q) }

func TestPlantedSources(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	var kept []int64
	for says, s := range map[string]source{
		"":                         func(ctx context.Context, q *score.Query) error { q.Scores[0] = rand.Int64N(9); return ctx.Err() },
		"scores out of range":      func(_ context.Context, q *score.Query) error { q.Scores[0] = 1 << 41; return nil },
		"changes its input":        func(_ context.Context, q *score.Query) error { q.Nodes[0] = "mine"; return nil },
		"panics":                   func(_ context.Context, q *score.Query) error { _ = q.Scores[len(q.Nodes)]; return nil },
		"fails":                    func(_ context.Context, q *score.Query) error { return errors.New("no") },
		"ignores cancellation":     func(ctx context.Context, q *score.Query) error { return ignore(ctx, stop) },
		"keeps what it was handed": func(_ context.Context, q *score.Query) error { keep(&kept, q.Scores); return nil },
	} {
		t.Run(says, func(t *testing.T) {
			rec := &recorder{TB: t}
			scoretest.Suite{Patience: patience(says)}.Source(rec, func() score.Source { return s })
			if says == "" {
				require.Empty(t, rec.faults)
				return
			}
			requireFault(t, rec, says)
		})
	}
}

func ignore(ctx context.Context, stop chan struct{}) error {
	if ctx.Err() != nil {
		<-stop
	}
	return nil
}

func keep(kept *[]int64, scores []int64) {
	if *kept != nil {
		(*kept)[0]++
	}
	*kept = scores
}

// TestOwnWorlds: a suite asks about the world that it is given, and says so if that makes no sense.
func TestOwnWorlds(t *testing.T) {
	asked := make(map[string]bool)
	seen := good{score: func(in *score.Input, nodes []topology.NodeID, column []int64) error {
		asked[in.Pod.Name] = true
		return right(in, nodes, column)
	}}
	g := func() (scoretest.World, error) {
		graph, err := affinity.New(affinity.Config{})
		if err != nil {
			return scoretest.World{}, err
		}
		err = graph.AddNode(&berth.Node{Name: "n", Allocatable: berth.Resources{MilliCPU: 1000, Pods: 5}})
		return scoretest.World{Graph: graph, Pods: []*berth.Pod{{Namespace: "d", Name: "mine"}}}, err
	}
	scoretest.Suite{World: g}.Scorer(t, func() score.Scorer { return seen })
	assert.Equal(t, map[string]bool{"mine": true}, asked)
}
