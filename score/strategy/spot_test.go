package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

func TestSpotPrefersTheLowestExpectedCost(t *testing.T) {
	g := graphOf(t, node("demand"), node("spot", "capacity", "spot"), node("bargain"), node("free", "owner", "us"))
	s := must(strategy.NewSpot(strategy.SpotConfig{
		Offers: []strategy.Offer{
			{Labels: map[string]string{"capacity": "spot"}, Price: strategy.Price{Hourly: 4, Reclaims: 0.1}},
			{Labels: map[string]string{"owner": "us", "zone": "nowhere"}, Price: strategy.Price{Hourly: 1}},
			{Labels: map[string]string{"owner": "us"}},
			{Price: strategy.Price{Hourly: 10}},
		},
		Nodes: map[string]strategy.Price{"bargain": {Hourly: 1, Reclaims: 0.5}},
		Lost:  func(p *berth.Pod) float64 { return float64(p.Priority) },
	}))
	p := pod("p", 5000)   // half a node
	p.Requests.Memory = 1 // so that CPU dominates
	require.Equal(t, map[string]int64{"demand": 0, "spot": 60, "bargain": 90, "free": 100}, scores(t, s, g, p),
		"5, 2, 0.5 and 0 an hour: nothing is lost")
	p.Priority = 20
	require.Equal(t, map[string]int64{"demand": 53, "spot": 62, "bargain": 0, "free": 100}, scores(t, s, g, p),
		"5, 2 + 0.1*20, 0.5 + 0.5*20 and 0 an hour")
}

// TestSpotCountsThePodsDominantShare looks at scores before they are normalised: millionths, negative.
func TestSpotCountsThePodsDominantShare(t *testing.T) {
	n := node("n")
	n.GPUs = berth.GPUs{Model: "T4", Count: 4}
	g := graphOf(t, n, node("no gpu"))
	for _, test := range []struct {
		what                  string
		cpu, memory, gpuMilli int64
		whole                 bool
		share                 float64
	}{
		{"CPU", 5000, 20, 0, false, 0.5},
		{"memory", 1000, 30, 0, false, 0.3},
		{"GPUs", 1000, 10, 3000, false, 0.75},
		{"no request counts as a container's default, here more memory than there is", 0, 0, 0, false, 1},
		{"all of a node", 10_000, 1, 0, false, 1},
		{"more than all", 20_000, 1, 0, false, 1},
		{"the whole node", 5000, 1, 0, true, 1},
	} {
		s := must(strategy.NewSpot(strategy.SpotConfig{Offers: []strategy.Offer{{Price: strategy.Price{Hourly: 8}}}, Whole: test.whole}))
		p := pod("p", test.cpu)
		p.Requests.Memory = test.memory
		if test.gpuMilli > 0 {
			p.GPU = berth.GPURequest{Count: int(test.gpuMilli / 1000), Milli: 1000}
		}
		column := make([]int64, 2)
		require.NoError(t, s.Score(input(t, g, p), []topologyID{0}, column))
		require.Equal(t, -int64(8e6*test.share), column[0], test.what)
	}
}

func TestSpotTakesANodeOfUnknownPriceForTheDearest(t *testing.T) {
	g := graphOf(t, node("a", "kind", "a"), node("b", "kind", "b"), node("unknown"))
	s := must(strategy.NewSpot(strategy.SpotConfig{
		Whole: true, Lost: func(*berth.Pod) float64 { return 10 },
		Offers: []strategy.Offer{{Labels: map[string]string{"kind": "a"}, Price: strategy.Price{Hourly: 5}}},
		Nodes:  map[string]strategy.Price{"b": {Hourly: 1, Reclaims: 0.5}},
	}))
	require.Equal(t, map[string]int64{"a": 50, "b": 40, "unknown": 0}, scores(t, s, g, pod("p", 1)), "5, 6 and 5 + 5")
	nothing := must(strategy.NewSpot(strategy.SpotConfig{}))
	require.Equal(t, map[string]int64{"a": 100, "b": 100, "unknown": 100}, scores(t, nothing, g, pod("p", 1)))
}

func TestSpotStaysInRange(t *testing.T) {
	g := graphOf(t, node("n"), node("m"))
	s := must(strategy.NewSpot(strategy.SpotConfig{
		Whole: true, Lost: func(*berth.Pod) float64 { return 1e6 },
		Nodes: map[string]strategy.Price{"n": {Hourly: 1e6, Reclaims: 3600}, "m": {}},
	}))
	column := make([]int64, 2)
	require.NoError(t, s.Score(input(t, g, pod("p", 1)), []topologyID{0, 1}, column))
	require.Equal(t, []int64{-1e12, 0}, column)
	require.Equal(t, map[string]int64{"n": 0, "m": 100}, scores(t, s, g, pod("p", 1)))
}

func TestSpotRefusesBadInput(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), -1, 1e6 + 1}
	for _, v := range bad {
		_, err := strategy.NewSpot(strategy.SpotConfig{Offers: []strategy.Offer{{}, {Price: strategy.Price{Hourly: v}}}})
		refused(t, err, score.ErrConfig, "Offers[1].Price.Hourly", fmt.Sprint(v))
		_, err = strategy.NewSpot(strategy.SpotConfig{Nodes: map[string]strategy.Price{"n": {Reclaims: v}}})
		refused(t, err, score.ErrConfig, `Nodes["n"].Reclaims`, fmt.Sprint(v))
		s := must(strategy.NewSpot(strategy.SpotConfig{Lost: func(*berth.Pod) float64 { return v }}))
		_, err = try(t, s, graphOf(t, node("n")), pod("p", 1))
		refused(t, err, strategy.ErrData, "Lost of pod d/p", fmt.Sprint(v))
	}
	_, err := strategy.NewSpot(strategy.SpotConfig{Offers: make([]strategy.Offer, berth.MaxItems+1)})
	refused(t, err, score.ErrConfig, "10001 Offers")
}

func TestSpotKeepsTheContract(t *testing.T) {
	suite().Scorer(t, func() score.Scorer {
		return must(strategy.NewSpot(strategy.SpotConfig{
			Offers: []strategy.Offer{
				{Labels: map[string]string{"capacity": "spot", "zone": "z1"}, Price: strategy.Price{Hourly: 2, Reclaims: 0.2}},
				{Labels: map[string]string{"zone": "z2"}, Price: strategy.Price{Hourly: 8}},
			},
			Nodes: map[string]strategy.Price{"node-7": {Hourly: 3}},
			Lost:  func(p *berth.Pod) float64 { return float64(p.Requests.MilliCPU) / 100 },
		}))
	})
}
