package strategy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

var monday = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func hour(t int) time.Time { return monday.Add(time.Duration(t) * time.Hour) }

func hourly(season int, horizon time.Duration) strategy.HoltWintersConfig {
	return strategy.HoltWintersConfig{Interval: time.Hour, Season: season, Horizon: horizon, Alpha: 0.5, Beta: 0.25, Gamma: 0.25}
}

func peak(t testing.TB, h *strategy.HoltWinters, node string) float64 {
	t.Helper()
	v, ok := h.Peak(node)
	require.True(t, ok)
	return v
}

func TestHoltWintersPredictsALineWithASeasonOnItExactly(t *testing.T) {
	for _, trend := range []float64{0, 3, -2} {
		for _, season := range [][]float64{{0}, {7, -7}, {0, 10, 50, 20}, {1, 2, 3, 4, 5, 6, 7}} {
			use := func(k int) float64 { return 1000 + trend*float64(k) + season[k%len(season)] }
			for _, horizon := range []int{1, 2, 5, 30} {
				h := must(strategy.NewHoltWinters(hourly(len(season), time.Duration(horizon)*time.Hour)))
				for k := range 40 {
					require.NoError(t, h.Observe("n", hour(k), use(k)))
					if k+1 < 2*len(season) {
						continue
					}
					want := 0.0
					for ahead := 1; ahead <= horizon; ahead++ {
						want = max(want, use(k+ahead))
					}
					require.InDelta(t, want, peak(t, h, "n"), 1e-6, "trend %v, season %v, horizon %d, sample %d", trend, season, horizon, k)
				}
			}
		}
	}
}

// textbook is the method written as in the book, from all samples; missing ones are NaN.
func textbook(c strategy.HoltWintersConfig, y []float64) float64 {
	m := c.Season
	if len(y) < 2*m {
		most := 0.0
		for _, v := range y {
			if !math.IsNaN(v) {
				most = max(most, v)
			}
		}
		return most
	}
	for k := 1; k < 2*m; k++ {
		if math.IsNaN(y[k]) {
			y[k] = y[k-1]
		}
	}
	var one, two float64
	for k := range m {
		one, two = one+y[k]/float64(m), two+y[m+k]/float64(m)
	}
	slope := (two - one) / float64(m)
	level, trend, season := map[int]float64{}, map[int]float64{}, map[int]float64{}
	for k := range m {
		season[k] = y[k] - (one + slope*(float64(k)-float64(m-1)/2))
	}
	level[m-1], trend[m-1] = one+slope*float64(m-1)/2, slope
	for k := m; k < len(y); k++ {
		if math.IsNaN(y[k]) {
			y[k] = level[k-1] + trend[k-1] + season[k-m]
		}
		level[k] = c.Alpha*(y[k]-season[k-m]) + (1-c.Alpha)*(level[k-1]+trend[k-1])
		trend[k] = c.Beta*(level[k]-level[k-1]) + (1-c.Beta)*trend[k-1]
		if m > 1 {
			season[k] = c.Gamma*(y[k]-level[k-1]-trend[k-1]) + (1-c.Gamma)*season[k-m]
		}
	}
	last, most := len(y)-1, 0.0
	for h := 1; h <= int((c.Horizon+c.Interval-1)/c.Interval); h++ {
		most = max(most, level[last]+float64(h)*trend[last]+season[last+h-m*((h-1)/m+1)])
	}
	return most
}

func TestHoltWintersIsTheTextbooksMethod(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		c := hourly(1+rng.IntN(6), time.Duration(1+rng.IntN(900))*time.Minute)
		c.Alpha, c.Beta = 0.01+0.98*rng.Float64(), rng.Float64()
		c.Gamma = (1 - c.Alpha) * rng.Float64()
		h := must(strategy.NewHoltWinters(c))
		var y []float64
		missing := 0
		for k := range 50 {
			if k > 0 && rng.IntN(8) == 0 && missing < 9 {
				y = append(y, math.NaN())
				missing++
				continue
			}
			missing = 0
			y = append(y, float64(rng.IntN(1000)))
			jitter := time.Duration(rng.IntN(59)-29) * time.Minute
			if k == 0 {
				jitter = 0
			}
			require.NoError(t, h.Observe("n", hour(k).Add(jitter), y[k]))
			want := textbook(c, append([]float64(nil), y...))
			require.InDelta(t, want, peak(t, h, "n"), 1e-6*(1+want), "round %d, sample %d, %+v", round, k, c)
		}
	}
}

func TestHoltWintersBeginsAnewAfterALongGap(t *testing.T) {
	for season, missing := range map[int]int{1: 10, 2: 10, 7: 14} {
		h := must(strategy.NewHoltWinters(hourly(season, time.Hour)))
		for k := range 20 {
			require.NoError(t, h.Observe("n", hour(k), 500))
		}
		require.NoError(t, h.Observe("n", hour(19+missing), 9))
		require.Greater(t, peak(t, h, "n"), 100.0, "it goes on")
		require.NoError(t, h.Observe("n", hour(19+missing+missing+1), 9))
		require.Equal(t, 9.0, peak(t, h, "n"), "%d samples are missing", missing)
	}
}

// TestHoltWintersBeginsAnewWhenErrorsGrow: under these parameters they do, until the level would be no number any more. After a
// single sample the prediction is the sample.
func TestHoltWintersBeginsAnewWhenErrorsGrow(t *testing.T) {
	c := hourly(12, time.Hour)
	c.Alpha, c.Beta, c.Gamma = 0.3, 0.8, 0.7
	h, rng, anew := must(strategy.NewHoltWinters(c)), rand.New(rand.NewPCG(3, 4)), 0
	for k := range 10_000 {
		use := 1 + 1000*rng.Float64()
		require.NoError(t, h.Observe("n", hour(k), use))
		if k > 24 && peak(t, h, "n") == use {
			anew++
		}
	}
	require.Greater(t, anew, 0)
}

func TestHoltWintersKeepsNodesApartAndForgets(t *testing.T) {
	h := must(strategy.NewHoltWinters(hourly(1, time.Hour)))
	require.NoError(t, h.Observe("a", hour(5), 1))
	require.NoError(t, h.Observe("b", hour(2), 2))
	require.Equal(t, 1.0, peak(t, h, "a"))
	require.Equal(t, 2.0, peak(t, h, "b"))
	h.Forget("a")
	_, ok := h.Peak("a")
	require.False(t, ok)
	_, ok = h.Peak("c")
	require.False(t, ok)
}

func TestHoltWintersRefusesBadSamplesAndChangesNothing(t *testing.T) {
	h := must(strategy.NewHoltWinters(hourly(1, time.Hour)))
	for k, use := range []float64{100, 200, 300} {
		require.NoError(t, h.Observe("n", hour(k), use))
	}
	before := peak(t, h, "n")
	for _, use := range badAmounts {
		refused(t, h.Observe("n", hour(3), use), strategy.ErrData, `"n"`, fmt.Sprint(use))
		refused(t, h.Observe("new", hour(3), use), strategy.ErrData)
	}
	for _, at := range []time.Time{hour(2), hour(2).Add(29 * time.Minute), hour(-5), {}} {
		refused(t, h.Observe("n", at, 1), strategy.ErrData, "later interval")
	}
	require.Equal(t, before, peak(t, h, "n"))
	_, ok := h.Peak("new")
	require.False(t, ok)
	require.NoError(t, h.Observe("n", hour(2).Add(30*time.Minute), 400), "half an interval later is the next")
	require.InDelta(t, 500, peak(t, h, "n"), 1e-9)
}

func TestHoltWintersRefusesABadConfig(t *testing.T) {
	for field, spoil := range map[string]func(c *strategy.HoltWintersConfig){
		"Interval is 0s":          func(c *strategy.HoltWintersConfig) { c.Interval = 0 },
		"Interval is -1ns":        func(c *strategy.HoltWintersConfig) { c.Interval = -1 },
		"Season is 0":             func(c *strategy.HoltWintersConfig) { c.Season = 0 },
		"Season is 10001":         func(c *strategy.HoltWintersConfig) { c.Season = 10_001 },
		"Horizon is 0s":           func(c *strategy.HoltWintersConfig) { c.Horizon = 0 },
		"Horizon is 1h0m0s":       func(c *strategy.HoltWintersConfig) { c.Interval, c.Horizon = time.Millisecond, time.Hour },
		"Alpha is 0":              func(c *strategy.HoltWintersConfig) { c.Alpha = 0 },
		"Alpha is NaN":            func(c *strategy.HoltWintersConfig) { c.Alpha = math.NaN() },
		"Alpha is 1.5":            func(c *strategy.HoltWintersConfig) { c.Alpha = 1.5 },
		"Beta is -0.5":            func(c *strategy.HoltWintersConfig) { c.Beta = -0.5 },
		"Beta is +Inf":            func(c *strategy.HoltWintersConfig) { c.Beta = math.Inf(1) },
		"Gamma is 0.75, want 0..": func(c *strategy.HoltWintersConfig) { c.Gamma = 0.75 },
		"Gamma is NaN":            func(c *strategy.HoltWintersConfig) { c.Gamma = math.NaN() },
	} {
		c := hourly(24, time.Hour)
		spoil(&c)
		_, err := strategy.NewHoltWinters(c)
		refused(t, err, score.ErrConfig, field)
	}
	for _, alpha := range []float64{0.1, 0.7, 0.8, 0.9, 1} { // at the border, where 1-alpha is not exact
		c := hourly(24, time.Hour)
		c.Alpha, c.Gamma = alpha, 1-alpha
		must(strategy.NewHoltWinters(c))
	}
}

// FuzzHoltWinters hands in any samples under any parameters: peaks are amounts, whatever happens.
func FuzzHoltWinters(f *testing.F) {
	f.Add(0.5, 0.2, 0.3, uint8(3), []byte("\x00\xff\x10\x20\xff\xff"))
	f.Add(1.0, 1.0, 0.0, uint8(1), []byte("abcabcabcabc"))
	f.Fuzz(func(t *testing.T, alpha, beta, gamma float64, season uint8, samples []byte) {
		c := strategy.HoltWintersConfig{Interval: time.Minute, Season: int(season), Horizon: time.Hour, Alpha: alpha, Beta: beta, Gamma: gamma}
		h, err := strategy.NewHoltWinters(c)
		if err != nil {
			require.ErrorIs(t, err, score.ErrConfig)
			return
		}
		at := monday
		for _, b := range samples {
			at = at.Add(time.Duration(b%16) * 20 * time.Second)
			use := float64(b>>4) / 15 * float64(berth.MaxAmount)
			if err := h.Observe("n", at, use); err != nil {
				require.ErrorIs(t, err, strategy.ErrData)
			}
			v := peak(t, h, "n")
			require.True(t, v >= 0 && v <= float64(berth.MaxAmount), v)
		}
	})
}
