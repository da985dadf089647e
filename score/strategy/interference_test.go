package strategy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

func group(name string) strategy.PodGroup {
	return strategy.PodGroup{Name: name, Labels: map[string]string{"app": name}}
}

func TestInterferenceCountsWhatAPodSuffersAndInflicts(t *testing.T) {
	g := graphOf(t, node("empty"), node("web"), node("batch"), node("both"), node("others"))
	for i, at := range []string{"web", "batch", "batch", "both", "both", "others"} {
		kind := []string{"web", "batch", "batch", "web", "batch", "unknown"}[i]
		require.NoError(t, g.Bind(pod(fmt.Sprint(i), 100, "app", kind, "i", fmt.Sprint(i)), at))
	}
	s := must(strategy.NewInterference(strategy.InterferenceConfig{
		Groups:   []strategy.PodGroup{group("web"), group("batch")},
		Slowdown: [][]float64{{0.25, 0.7}, {0.3, 0}},
	}))
	require.Equal(t, map[string]int64{
		"empty":  100,
		"web":    67, // 1 / (1 + 0.25 + 0.25)
		"batch":  33, // 1 / (1 + 2 * (0.7 + 0.3))
		"both":   40, // 1 / (1 + 0.5 + 1)
		"others": 100,
	}, scores(t, s, g, pod("p", 1, "app", "web")))
	require.Equal(t, int64(100), scores(t, s, g, pod("p", 1, "app", "batch"))["batch"], "batch does not mind batch")
	require.Equal(t, int64(100), scores(t, s, g, pod("p", 1))["both"], "a pod of no group")
}

// TestInterferenceIsTheObviousSum compares with a sum over pods, on random clusters whose pods come and go.
func TestInterferenceIsTheObviousSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	apps := []string{"a", "b", "c", "none"}
	for range 20 {
		slow := make([][]float64, 3)
		for a := range slow {
			slow[a] = []float64{rng.Float64(), rng.Float64(), float64(rng.IntN(3))}
		}
		s := must(strategy.NewInterference(strategy.InterferenceConfig{Groups: []strategy.PodGroup{group("a"), group("b"), group("c")}, Slowdown: slow}))
		g := graphOf(t, node("0"), node("1"), node("2"))
		on := map[string][]int{}
		for k := range 30 {
			kind, at := rng.IntN(4), fmt.Sprint(rng.IntN(3))
			require.NoError(t, g.Bind(pod(fmt.Sprint(k), 1, "app", apps[kind]), at))
			on[at] = append(on[at], kind)
		}
		for own := range 3 {
			for at, score := range scores(t, s, g, pod("p", 1, "app", apps[own])) {
				sum := 0.0
				for _, kind := range on[at] {
					if kind < 3 {
						sum += slow[own][kind] + slow[kind][own]
					}
				}
				require.InDelta(t, 100/(1+sum), score, 0.5+1e-9)
			}
		}
	}
}

func TestInterferenceTakesTheFirstGroupThatAPodIsOf(t *testing.T) {
	g := graphOf(t, node("n"))
	require.NoError(t, g.Bind(pod("q", 1, "app", "web", "tier", "front"), "n"))
	front := strategy.PodGroup{Name: "front", Labels: map[string]string{"app": "web", "tier": "front"}}
	s := must(strategy.NewInterference(strategy.InterferenceConfig{
		Groups: []strategy.PodGroup{front, group("web")}, Slowdown: [][]float64{{0, 0}, {1, 0}},
	}))
	require.Equal(t, int64(50), scores(t, s, g, pod("p", 1, "app", "web"))["n"])
	require.Equal(t, int64(100), scores(t, s, g, pod("p", 1, "tier", "front", "app", "web"))["n"])
}

func TestInterferenceRefusesABadConfig(t *testing.T) {
	two := []strategy.PodGroup{group("a"), group("b")}
	for want, cfg := range map[string]strategy.InterferenceConfig{
		"0 Groups":              {},
		"1001 Groups":           {Groups: make([]strategy.PodGroup, 1001)},
		"1 rows for 2 groups":   {Groups: two, Slowdown: [][]float64{{0, 0}}},
		"Slowdown[1] (b) has 3": {Groups: two, Slowdown: [][]float64{{0, 0}, {0, 0, 0}}},
		`Groups[1].Name = "a"`:  {Groups: []strategy.PodGroup{group("a"), group("a")}, Slowdown: [][]float64{{0, 0}, {0, 0}}},
		`Groups[0].Name = ""`:   {Groups: []strategy.PodGroup{{}}, Slowdown: [][]float64{{0}}},
		`"a" has no Labels`:     {Groups: []strategy.PodGroup{{Name: "a"}}, Slowdown: [][]float64{{0}}},
	} {
		_, err := strategy.NewInterference(cfg)
		refused(t, err, score.ErrConfig, want)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -0.1, 1e6 + 1} {
		_, err := strategy.NewInterference(strategy.InterferenceConfig{Groups: two, Slowdown: [][]float64{{0, 0}, {v, 0}}})
		refused(t, err, score.ErrConfig, "Slowdown[1][0] (b beside a)", fmt.Sprint(v))
	}
}

func TestInterferenceKeepsTheContract(t *testing.T) {
	suite().Scorer(t, func() score.Scorer {
		return must(strategy.NewInterference(strategy.InterferenceConfig{
			Groups: []strategy.PodGroup{group("web"), group("db"), group("batch")}, Slowdown: [][]float64{{0, 0.1, 0.5}, {0.2, 0, 0.9}, {0.1, 0, 0.3}},
		}))
	})
}
