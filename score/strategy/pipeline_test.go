package strategy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

// allTogether is a config with a new one of every strategy; data is handed in for some of the first hundred nodes.
func allTogether(workers int) score.Config {
	known := peaks{}
	bandwidth := must(strategy.NewBandwidth(strategy.BandwidthConfig{}))
	machines := must(strategy.NewNUMA(strategy.NUMAConfig{MaxClasses: 2}))
	layout := must(numa.Compile(machineOf(2, 4)))
	for i := range 100 {
		name := fmt.Sprint("n", i)
		if i%3 > 0 {
			known[name] = float64(i * 90)
			must(0, bandwidth.Set(name, strategy.NodeBandwidth{Capacity: 1000, Used: float64(i * 9)}))
		}
		if i%4 > 0 {
			must(0, machines.Set(name, must(numa.NewState(layout, numa.Config{Policy: numa.PolicyBestEffort}))))
		}
	}
	isolation := must(strategy.NewIsolation(strategy.IsolationConfig{PodLabel: "domain", Classes: []strategy.IsolationClass{
		{Value: "db", NodeLabels: map[string]string{"zone": "1"}, Nodes: []string{"n7"}, Preferred: true, Exclusive: true},
	}}))
	cfg := score.Config{
		Profile: affinity.ProfileConfig{NoScores: true}, Workers: workers, Filters: []score.Filter{isolation, machines},
	}
	for i, s := range []score.Scorer{
		isolation, machines, bandwidth, must(strategy.NewForecast(strategy.ForecastConfig{Model: known})),
		must(strategy.NewSpot(strategy.SpotConfig{Offers: []strategy.Offer{
			{Labels: map[string]string{"zone": "0"}, Price: strategy.Price{Hourly: 1, Reclaims: 0.1}}, {Price: strategy.Price{Hourly: 3}},
		}, Lost: func(p *berth.Pod) float64 { return float64(p.Requests.MilliCPU) / 1000 }})),
		must(strategy.NewInterference(strategy.InterferenceConfig{
			Groups: []strategy.PodGroup{group("web"), group("db")}, Slowdown: [][]float64{{0.1, 0.5}, {0.2, 0.9}},
		})),
		must(strategy.NewPeers(strategy.PeersConfig{
			Levels: []string{"zone", "rack"}, Flows: []strategy.Flow{{From: app("web"), To: app("db"), Rate: 1}},
		})),
	} {
		cfg.Scorers = append(cfg.Scorers, score.Weighted{Scorer: s, Weight: int64(i + 1)})
	}
	return cfg
}

// TestColumnsThatAreKeptAreNotStale: while nodes change, and pods come and go, a pipeline decides as a new one does, whose
// strategies have seen nothing yet, with any number of workers.
func TestColumnsThatAreKeptAreNotStale(t *testing.T) {
	for size, steps := range map[int]int{100: 50, 2000: 8} { // of many nodes, parts are scored by several goroutines
		t.Run(fmt.Sprint(size, " nodes"), func(t *testing.T) { decideAnew(t, size, steps) })
	}
}

func decideAnew(t *testing.T, size, steps int) {
	rng := rand.New(rand.NewPCG(11, uint64(size)))
	random := func(i int) *berth.Node {
		n := node(fmt.Sprint("n", i), "zone", fmt.Sprint(rng.IntN(4)), "rack", fmt.Sprint(rng.IntN(9)))
		n.Allocatable.MilliCPU = int64(4000 + 1000*rng.IntN(8))
		return n
	}
	g := graphOf(t)
	for i := range size {
		require.NoError(t, g.AddNode(random(i)))
	}
	one, four := must(score.New(g, allTogether(1))), must(score.New(g, allTogether(4)))
	var placed []berth.PodKey
	for step := range steps {
		p := pod(fmt.Sprint("p", step), int64(500*rng.IntN(5)), "app", []string{"web", "db", "other"}[rng.IntN(3)])
		p.Requests.Memory = 10
		if rng.IntN(3) == 0 {
			p.Labels["domain"] = "db"
		}
		want, err := must(score.New(g, allTogether(0))).Decide(p)
		require.NoError(t, err)
		for _, kept := range []*score.Pipeline{one, four} {
			got, err := kept.Decide(p)
			require.NoError(t, err)
			require.Equal(t, want, got, "step %d, pod %s", step, p.Labels["app"])
		}
		require.NoError(t, g.Bind(p, want.Node))
		placed = append(placed, p.Key())
		for range 3 {
			require.NoError(t, g.UpdateNode(random(rng.IntN(size))))
		}
		if step%3 == 2 {
			k := rng.IntN(len(placed))
			require.NoError(t, g.Release(placed[k]))
			placed[k] = placed[len(placed)-1]
			placed = placed[:len(placed)-1]
		}
	}
}
