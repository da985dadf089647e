package score_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/score"
)

// service is what a limiter does not know: how many requests it works on at a time, the others wait, and how long one takes.
type service struct {
	capacity int
	base     time.Duration
	noise    float64
	rng      *rand.Rand
}

func (s *service) latency(inFlight int) time.Duration {
	d := float64(s.base) * max(1, float64(inFlight)/float64(s.capacity))
	if s.noise > 0 {
		d *= 1 + s.noise*s.rng.Float64()
	}
	return time.Duration(d)
}

// run drives a service at the limit.
func run(l *score.Limiter, s *service, measurements int) (limits []int) {
	for range measurements {
		k := l.Limit()
		limits = append(limits, l.Observe(score.Measurement{Latency: s.latency(k), InFlight: k}))
	}
	return limits
}

func limiter(t *testing.T, cfg score.LimiterConfig) *score.Limiter {
	l, err := score.NewLimiter(cfg)
	require.NoError(t, err)
	return l
}

func TestLimiterFindsTheCapacity(t *testing.T) {
	for _, capacity := range []int{1, 2, 7, 20, 100} {
		for _, noise := range []float64{0, 0.1} {
			t.Run(fmt.Sprintf("capacity %d, noise %v", capacity, noise), func(t *testing.T) {
				s := &service{capacity, 10 * ms, noise, rand.New(rand.NewPCG(1, 2))}
				l := limiter(t, score.LimiterConfig{Renew: -1})
				run(l, s, 16*200)
				for _, limit := range run(l, s, 16*50) {
					if noise == 0 {
						require.InDelta(t, capacity+3, limit, 1, "between 2 and 4 wait")
					} else {
						require.InDelta(t, capacity+3, limit, 3+0.1*float64(capacity))
					}
				}
			})
		}
	}
}

func TestLimiterFollowsChanges(t *testing.T) {
	s := &service{capacity: 20, base: 10 * ms}
	l := limiter(t, score.LimiterConfig{})
	for _, c := range []struct {
		name     string
		capacity int
		base     time.Duration
	}{
		{"at first", 20, 10 * ms},
		{"half of it fails", 10, 10 * ms},
		{"it is extended", 60, 10 * ms},
		{"requests become dearer, which is no queue", 60, 30 * ms},
		{"requests become cheaper", 60, 5 * ms},
	} {
		s.capacity, s.base = c.capacity, c.base
		limits := run(l, s, 16*600)
		settled := 0
		for _, limit := range limits[16*400:] {
			if limit >= c.capacity+1 && limit <= c.capacity+5 {
				settled++
			}
		}
		assert.Greater(t, settled, 16*190, "%s: all but the probes", c.name)
	}
}

func TestLimiterStaysBetweenTheThresholds(t *testing.T) {
	for _, c := range []struct {
		name        string
		start, want int
		overload    bool
	}{
		{"at the lower one", 21, 21, false},
		{"between", 25, 25, false},
		{"at the upper one", 28, 28, false},
		{"from above it stops at the upper one", 31, 28, false},
		{"from below it stops at the lower one", 30, 21, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &service{capacity: 20, base: 10 * ms}
			l := limiter(t, score.LimiterConfig{Initial: c.start, Grow: 1, Shrink: 8, Renew: -1, Window: 4})
			for range 4 { // the base latency, when nobody else is there
				l.Observe(score.Measurement{Latency: s.base, InFlight: 1})
			}
			if c.overload {
				l.Observe(score.Measurement{Overload: true})
				require.Equal(t, c.start/2, l.Limit())
			}
			limits := run(l, s, 400)
			assert.Equal(t, c.want, limits[len(limits)-1])
		})
	}
}

func TestLimiterRules(t *testing.T) {
	cfg := score.LimiterConfig{Min: 2, Initial: 16, Max: 20, Window: 1, Renew: -1}
	calm := score.Measurement{Latency: 10 * ms, InFlight: 16}
	for _, c := range []struct {
		name string
		seen []score.Measurement
		want int
	}{
		{"nothing is known", nil, 16},
		{"the first window is the base", []score.Measurement{calm}, 16},
		{"it doubles up to the maximum", []score.Measurement{calm, calm}, 20},
		{"it does not grow if it is not used", []score.Measurement{calm, {Latency: 10 * ms, InFlight: 7}}, 16},
		{"overload halves it", []score.Measurement{{Overload: true}}, 8},
		{"down to the minimum", []score.Measurement{{Overload: true}, {Overload: true}, {Overload: true}, {Overload: true}}, 2},
		{"after overload it grows by one", []score.Measurement{{Overload: true}, calm, calm, calm}, 10},
		{"a queue lets it fall by one", []score.Measurement{calm, {Latency: 20 * ms, InFlight: 16}}, 15},
		{"a latency of nothing is dropped", []score.Measurement{calm, {InFlight: 16}, {Latency: -1, InFlight: 16}}, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limiter(t, cfg)
			for _, m := range c.seen {
				require.Equal(t, l.Observe(m), l.Limit())
			}
			assert.Equal(t, c.want, l.Limit())
		})
	}
}

func TestLimiterReplays(t *testing.T) {
	limits := func() []int {
		s := &service{13, 10 * ms, 0.5, rand.New(rand.NewPCG(3, 4))}
		return run(limiter(t, score.LimiterConfig{}), s, 5000)
	}
	assert.Equal(t, limits(), limits())
}

func TestLimiterConfigErrors(t *testing.T) {
	for says, cfg := range map[string]score.LimiterConfig{
		"Min -1":        {Min: -1},
		"Initial 3":     {Min: 4, Initial: 3},
		"Max 2":         {Initial: 3, Max: 2},
		"Window is -1":  {Window: -1},
		"Grow 5":        {Grow: 5},
		"Shrink -1":     {Shrink: -1},
		"Backoff is 1,": {Backoff: 1},
	} {
		_, err := score.NewLimiter(cfg)
		require.ErrorIs(t, err, score.ErrConfig, says)
		assert.ErrorContains(t, err, says)
	}
}

func TestSetWorkers(t *testing.T) {
	p, err := score.New(wide(t), score.Only(hash{"h", 1}))
	require.NoError(t, err)
	want, err := p.Decide(plainPod("p"))
	require.NoError(t, err)
	require.ErrorIs(t, p.SetWorkers(-1), score.ErrConfig)
	for _, n := range []int{2, 8, 0} {
		require.NoError(t, p.SetWorkers(n))
		got, err := p.Decide(plainPod("p"))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
