package strategy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

// peaks is a model that knows what it is told.
type peaks map[string]float64

func (p peaks) Peak(node string) (float64, bool) {
	v, ok := p[node]
	return v, ok
}

func TestForecastPrefersTheLowestPredictedPeak(t *testing.T) {
	small, none := node("small"), node("none")
	small.Allocatable.MilliCPU, none.Allocatable.MilliCPU = 5000, 0
	g := graphOf(t, node("busy"), node("quiet"), node("over"), node("unknown"), small, none)
	require.NoError(t, g.Bind(pod("held", 7000), "unknown"))
	require.NoError(t, g.Bind(pod("asks much, uses little", 9000), "quiet"))
	f := must(strategy.NewForecast(strategy.ForecastConfig{Model: peaks{"busy": 6000, "quiet": 500, "over": 20_000, "small": 500, "none": 0}}))
	require.Equal(t, map[string]int64{
		"busy":    30, // (6000 + 1000) of 10,000
		"quiet":   85,
		"small":   70,
		"over":    0,
		"unknown": 20, // what pods request
		"none":    0,
	}, scores(t, f, g, pod("p", 1000)))
}

func TestForecastOfAnotherResourceAndUse(t *testing.T) {
	g := graphOf(t, node("n"))
	f := must(strategy.NewForecast(strategy.ForecastConfig{
		Model: peaks{"n": 25}, Resource: berth.ResourceMemory, Use: func(p *berth.Pod) float64 { return float64(p.Requests.MilliCPU) / 100 },
	}))
	require.Equal(t, int64(65), scores(t, f, g, pod("p", 1000))["n"])
}

func TestForecastRegardsPodsPlacedSinceTheLastSample(t *testing.T) {
	g := graphOf(t, node("a"), node("b"))
	f := must(strategy.NewForecast(strategy.ForecastConfig{Model: peaks{"a": 1000, "b": 2000}}))
	cfg := score.Only(f)
	cfg.Reservers = []score.Reserver{f}
	p := must(score.New(g, cfg))
	var at []string
	for i := range 4 {
		d, err := p.Place(pod(fmt.Sprint(i), 600))
		require.NoError(t, err)
		at = append(at, d.Node)
	}
	require.Equal(t, []string{"a", "a", "b", "a"}, at, "a has 1000, 1600, 2200, b 2000, 2600")

	require.NoError(t, p.Unplace(pod("3", 600), score.Decision{Node: "a"}))
	require.Equal(t, map[string]int64{"a": 78, "b": 74}, scores(t, f, g, pod("p", 0)))
	f.Settle("a")
	require.Equal(t, map[string]int64{"a": 90, "b": 74}, scores(t, f, g, pod("p", 0)), "the samples have them")
}

func TestForecastRefusesWhatIsNoAmount(t *testing.T) {
	_, err := strategy.NewForecast(strategy.ForecastConfig{})
	refused(t, err, score.ErrConfig, "Model is nil")

	g := graphOf(t, node("n"))
	for _, v := range badAmounts {
		f := must(strategy.NewForecast(strategy.ForecastConfig{Model: peaks{"n": v}}))
		_, err := try(t, f, g, pod("p", 0))
		refused(t, err, strategy.ErrData, `Model.Peak("n")`, fmt.Sprint(v))

		f = must(strategy.NewForecast(strategy.ForecastConfig{Model: peaks{}, Use: func(*berth.Pod) float64 { return v }}))
		_, err = try(t, f, g, pod("p", 0))
		refused(t, err, strategy.ErrData, "Use of pod d/p", fmt.Sprint(v))
		refused(t, f.Reserve(input(t, g, pod("p", 0)), 0), strategy.ErrData, "Use")
	}
}

func TestForecastKeepsTheContract(t *testing.T) {
	h := must(strategy.NewHoltWinters(hourly(3, 5*60e9)))
	for i, name := range nodes {
		for k := range i % 9 {
			require.NoError(t, h.Observe(name, hour(k), float64(i*100+k%3*500)))
		}
	}
	newForecast := func() *strategy.Forecast { return must(strategy.NewForecast(strategy.ForecastConfig{Model: h})) }
	suite().Scorer(t, func() score.Scorer { return newForecast() })
	suite().Reserver(t, func() score.Reserver { return newForecast() })
}
