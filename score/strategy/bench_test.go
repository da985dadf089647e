package strategy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

// BenchmarkScore asks each strategy about all of 10,000 nodes with two pods each: what a decision costs where the column is not
// kept.
func BenchmarkScore(b *testing.B) {
	const size = 10_000
	g := graphOf(b)
	for i := range size {
		require.NoError(b, g.AddNode(node(fmt.Sprint("node-", i), "zone", fmt.Sprint(i%3), "rack", fmt.Sprint(i%40), "capacity", fmt.Sprint(i%2))))
		for k := range 2 {
			require.NoError(b, g.Bind(pod(fmt.Sprint(i, "-", k), 100, "app", []string{"web", "db", "batch"}[(i+k)%3]), fmt.Sprint("node-", i)))
		}
	}
	known := peaks{}
	bandwidth := must(strategy.NewBandwidth(strategy.BandwidthConfig{}))
	machines := must(strategy.NewNUMA(strategy.NUMAConfig{}))
	layout := must(numa.Compile(machineOf(2, 16)))
	for i := range size {
		name := fmt.Sprint("node-", i)
		known[name] = float64(i % 5000)
		require.NoError(b, bandwidth.Set(name, strategy.NodeBandwidth{Capacity: 1000, Used: float64(i % 1000)}))
		require.NoError(b, machines.Set(name, must(numa.NewState(layout, numa.Config{}))))
	}
	groups := []strategy.PodGroup{group("web"), group("db"), group("batch")}
	for _, s := range []score.Scorer{
		must(strategy.NewForecast(strategy.ForecastConfig{Model: known})),
		bandwidth,
		machines,
		must(strategy.NewSpot(strategy.SpotConfig{Offers: []strategy.Offer{
			{Labels: map[string]string{"capacity": "0"}, Price: strategy.Price{Hourly: 1, Reclaims: 0.1}}, {Price: strategy.Price{Hourly: 3}},
		}})),
		must(strategy.NewInterference(strategy.InterferenceConfig{Groups: groups, Slowdown: [][]float64{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}}})),
		must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone", "rack"}, Flows: []strategy.Flow{{From: app("web"), To: app("db"), Rate: 1}}})),
		must(strategy.NewIsolation(strategy.IsolationConfig{PodLabel: "app", Classes: []strategy.IsolationClass{
			{Value: "web", NodeLabels: map[string]string{"capacity": "0"}}, {Value: "db", NodeLabels: map[string]string{"zone": "1"}, Exclusive: true},
		}})),
	} {
		b.Run(s.Name(), func(b *testing.B) {
			p := pod("p", 2000, "app", "web")
			p.Requests.Memory = 10
			in, all, column := input(b, g, p), g.Topology().Live().AppendTo(nil), make([]int64, size)
			ask := func() {
				if prep, ok := s.(score.Preparer); ok {
					require.NoError(b, prep.Prepare(in, all))
				}
				require.NoError(b, s.Score(in, all, column))
			}
			ask() // what is kept is kept
			for b.Loop() {
				ask()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/node")
		})
	}
}

// BenchmarkNUMAPlan is a class of pods that is new, or states that are: each node is planned.
func BenchmarkNUMAPlan(b *testing.B) {
	g := graphOf(b, node("n"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{}))
	state := stateOf(machineOf(2, 16), numa.Config{})
	p := pod("p", 2000)
	in, column := input(b, g, p), make([]int64, 1)
	for b.Loop() {
		require.NoError(b, s.Set("n", state))
		require.NoError(b, s.Prepare(in, nil))
		require.NoError(b, s.Score(in, []topologyID{0}, column))
	}
}

// BenchmarkHoltWinters takes in a sample in seasons of 288, a day of five minutes each, and predicts an hour.
func BenchmarkHoltWinters(b *testing.B) {
	cfg := hourly(288, 12*3600e9)
	h := must(strategy.NewHoltWinters(cfg))
	k := 0
	for b.Loop() {
		if h.Observe("n", hour(k), float64(k%288)) != nil {
			b.Fatal("refused")
		}
		k++
	}
}
