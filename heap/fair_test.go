package heap

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func newFair(t testing.TB, config FairConfig) *Fair[string, int] {
	f, err := NewFair[string, int](config)
	require.NoError(t, err)
	return f
}

func TestServiceIsSharedByWeightWhateverTheCost(t *testing.T) {
	f := newFair(t, FairConfig{})
	require.NoError(t, f.SetWeight("gold", 3))
	costs := map[string]float64{"gold": 7, "iron": 2, "dust": 0.5}
	weights := map[string]float64{"gold": 3, "iron": 1, "dust": 1}
	for name, cost := range costs {
		for i := range 10_000 {
			require.NoError(t, f.Push(name, i, cost))
		}
	}
	served := map[string]float64{}
	last := map[string]int{"gold": -1, "iron": -1, "dust": -1}
	for range 3000 {
		name, i, ok := f.Pop()
		require.True(t, ok)
		require.Equal(t, last[name]+1, i, "the jobs of a tenant leave in order")
		last[name] = i
		served[name] += costs[name]
		for _, pair := range [][2]string{{"gold", "iron"}, {"iron", "dust"}, {"gold", "dust"}} {
			a, b := pair[0], pair[1]
			require.LessOrEqual(t, math.Abs(served[a]/weights[a]-served[b]/weights[b]), costs[a]/weights[a]+costs[b]/weights[b]+1e-9,
				"the bound of theorem 1")
		}
	}
}

func TestIdleTenantSavesNothingUp(t *testing.T) {
	f := newFair(t, FairConfig{})
	for i := range 100 {
		require.NoError(t, f.Push("busy", i, 1))
	}
	for range 50 {
		f.Pop()
	}
	for i := range 50 {
		require.NoError(t, f.Push("late", i, 1))
	}
	turns := map[string]int{}
	for range 20 {
		name, _, _ := f.Pop()
		turns[name]++
	}
	require.Equal(t, map[string]int{"busy": 10, "late": 10}, turns)
}

func TestShortJobsDoNotWaitForAHeapOfLongOnes(t *testing.T) {
	f := newFair(t, FairConfig{Short: 1})
	for i := range 100 {
		require.NoError(t, f.Push("a", i, 50))
	}
	f.Pop()
	require.NoError(t, f.Push("a", -1, 1))
	_, job, _ := f.Pop()
	require.Equal(t, -1, job)
}

func TestLongJobsDoNotStarveEither(t *testing.T) {
	f := newFair(t, FairConfig{Short: 1, ShortShare: 0.75})
	for i := range 1000 {
		require.NoError(t, f.Push("a", i, 10))
		for range 10 {
			require.NoError(t, f.Push("a", -1, 1))
		}
	}
	var shortService, longService float64
	for range 2000 {
		if _, job, _ := f.Pop(); job < 0 {
			shortService++
		} else {
			longService += 10
		}
	}
	require.InDelta(t, 0.75, shortService/(shortService+longService), 0.01)
}

func TestFairKeepsEveryJob(t *testing.T) {
	f, err := NewFair[int, int](FairConfig{Short: 3})
	require.NoError(t, err)
	rng := splitmix(9)
	waiting := map[int]bool{}
	for i := range 20_000 {
		if rng.below(5) < 3 {
			require.NoError(t, f.Push(int(rng.below(40)), i, 1+float64(rng.below(6))))
			waiting[i] = true
		} else if _, job, ok := f.Pop(); ok {
			require.True(t, waiting[job])
			delete(waiting, job)
		} else {
			require.Empty(t, waiting)
		}
		require.Equal(t, len(waiting), f.Len())
	}
	for f.Len() > 0 {
		_, job, _ := f.Pop()
		delete(waiting, job)
	}
	require.Empty(t, waiting)
	require.NoError(t, f.Push(1, 1, 1))
	require.Len(t, f.tenants, 1, "tenants without jobs are forgotten")
}

func TestFairRefusesBadNumbers(t *testing.T) {
	f := newFair(t, FairConfig{})
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), 1e101} {
		require.ErrorIs(t, f.Push("a", 0, x), ErrRange, "cost %v", x)
		require.ErrorIs(t, f.SetWeight("a", x), ErrRange, "weight %v", x)
	}
	require.Zero(t, f.Len())
	for _, config := range []FairConfig{{Short: -1}, {Short: math.NaN()}, {ShortShare: 1}, {ShortShare: -0.1}, {ShortShare: math.NaN()}} {
		_, err := NewFair[string, int](config)
		require.ErrorIs(t, err, ErrRange, "%+v", config)
	}
}

func TestSteadyFairAllocatesNothing(t *testing.T) {
	f, err := NewFair[int, int](FairConfig{Short: 1})
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, f.Push(i%20, i, float64(1+i%3)))
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		tenant, v, _ := f.Pop()
		_ = f.Push(tenant, v, float64(1+v%3))
	}))
}

// load is a simulated mix for a service with one worker: short jobs at random and long ones in bursts, all of one tenant.
type load struct {
	arrivals []arrival // by time
}

type arrival struct {
	at, cost float64 // in milliseconds
}

const shortCost = 2

// mixedLoad draws arrivals over some seconds: short jobs of 2 ms, exponentially apart, a quarter of the capacity; long ones
// of 40 ms, in bursts of 1 to 9, so that the worker is busy 75 % of the time.
func mixedLoad(seed uint64, seconds float64) load {
	rng := splitmix(seed)
	exponential := func(mean float64) float64 { return -mean * math.Log(1-rng.weight()) }
	var l load
	for at := 0.0; at < seconds*1000; at += exponential(shortCost / 0.25) {
		l.arrivals = append(l.arrivals, arrival{at, shortCost})
	}
	for at := 0.0; at < seconds*1000; at += exponential(5 * 40 / 0.5) {
		for range 1 + rng.below(9) {
			l.arrivals = append(l.arrivals, arrival{at, 40})
		}
	}
	slices.SortStableFunc(l.arrivals, func(a, b arrival) int {
		return cmp.Compare(a.at, b.at)
	})
	return l
}

// served is what a discipline made of a load.
type served struct {
	deviation  float64 // of the latency of short jobs, ms
	mean       float64
	throughput float64 // service given by the time the last job arrived, ms
}

// simulate runs a load through a queue of jobs, given by what it does with an index into the load.
func (l load) simulate(push func(i int), pop func() (int, bool)) served {
	var latencies []float64
	var s served
	clock, next := 0.0, 0
	end := l.arrivals[len(l.arrivals)-1].at
	for {
		for next < len(l.arrivals) && l.arrivals[next].at <= clock {
			push(next)
			next++
		}
		i, ok := pop()
		if !ok {
			if next == len(l.arrivals) {
				break
			}
			clock = l.arrivals[next].at
			continue
		}
		clock += l.arrivals[i].cost
		if clock <= end {
			s.throughput += l.arrivals[i].cost
		}
		if l.arrivals[i].cost <= shortCost {
			latencies = append(latencies, clock-l.arrivals[i].at)
		}
	}
	for _, x := range latencies {
		s.mean += x / float64(len(latencies))
	}
	for _, x := range latencies {
		s.deviation += (x - s.mean) * (x - s.mean) / float64(len(latencies))
	}
	s.deviation = math.Sqrt(s.deviation)
	return s
}

func (l load) fifo() served {
	var q fifo[int]
	return l.simulate(func(i int) { q.push(i) }, func() (int, bool) {
		if q.len() == 0 {
			return 0, false
		}
		return q.pop(), true
	})
}

func (l load) fair(t testing.TB) served {
	f := newFair(t, FairConfig{Short: shortCost})
	return l.simulate(
		func(i int) { require.NoError(t, f.Push("tenant", i, l.arrivals[i].cost)) },
		func() (int, bool) { _, i, ok := f.Pop(); return i, ok },
	)
}

func TestLatencyOfShortJobsIsSteadyUnderMixedLoad(t *testing.T) {
	for seed := range uint64(5) {
		l := mixedLoad(seed, 200)
		fifo, fair := l.fifo(), l.fair(t)
		require.GreaterOrEqual(t, fifo.deviation, 10*fair.deviation, "seed %d: %+v, %+v", seed, fifo, fair)
		require.InEpsilon(t, fifo.throughput, fair.throughput, 0.02, "seed %d", seed)
	}
}

// BenchmarkFairness reports what short jobs feel under a mixed load, first come first served and fairly. The time of an
// operation is that of a whole simulation.
func BenchmarkFairness(b *testing.B) {
	l := mixedLoad(1, 500)
	for _, discipline := range []struct {
		name string
		run  func() served
	}{{"fifo", l.fifo}, {"fair", func() served { return l.fair(b) }}} {
		b.Run("discipline="+discipline.name, func(b *testing.B) {
			var s served
			for b.Loop() {
				s = discipline.run()
			}
			b.ReportMetric(s.deviation, "short-deviation-ms")
			b.ReportMetric(s.mean, "short-mean-ms")
			b.ReportMetric(s.throughput/500_000*100, "%busy")
			b.ReportMetric(float64(len(l.arrivals)), "jobs")
		})
	}
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("op=pop+push/tenants=%d", n), func(b *testing.B) {
			f, err := NewFair[int, int](FairConfig{Short: 1})
			require.NoError(b, err)
			for i := range 4 * n {
				require.NoError(b, f.Push(i%n, i, float64(1+i%3)))
			}
			b.ReportAllocs()
			for b.Loop() {
				tenant, v, _ := f.Pop()
				_ = f.Push(tenant, v, float64(1+v%3))
			}
		})
	}
}
