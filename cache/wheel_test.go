package cache

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/berth-go/berth"
)

// TestWheelEqualsASortedList adds, removes and advances at random, over spans from nanoseconds to centuries.
func TestWheelEqualsASortedList(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var w wheel
		now := time.Unix(rng.Int64N(1e10)-5e9, 0)
		w.advance(now)
		var waiting []*timer
		for i := range 300 {
			span := time.Duration(1) << rng.IntN(62)
			switch rng.IntN(5) {
			case 0: // also back in time, which does nothing
				to := now.Add(time.Duration(rng.Int64N(int64(span))) - span/10)
				got := w.advance(to)
				if to.Before(now) {
					if len(got) > 0 {
						t.Fatalf("seed %d, step %d: %d are due in the past", seed, i, len(got))
					}
					continue
				}
				now = to
				due := slices.DeleteFunc(slices.Clone(waiting), func(t *timer) bool { return t.deadline.After(now) })
				slices.SortFunc(due, func(a, b *timer) int {
					if d := a.deadline.Compare(b.deadline); d != 0 {
						return d
					}
					return a.key.Compare(b.key)
				})
				waiting = slices.DeleteFunc(waiting, func(t *timer) bool { return !t.deadline.After(now) })
				if !slices.Equal(got, due) {
					t.Fatalf("seed %d, step %d: %d are due, want %d", seed, i, len(got), len(due))
				}
			case 1:
				if len(waiting) > 0 {
					k := rng.IntN(len(waiting))
					w.remove(waiting[k])
					w.remove(waiting[k]) // once more does nothing
					waiting = slices.Delete(waiting, k, k+1)
				}
			default:
				waiting = append(waiting, w.add(berth.PodKey{Name: strconv.Itoa(i)}, now.Add(time.Duration(rng.Int64N(int64(span))))))
			}
			if w.timers != len(waiting) {
				t.Fatalf("seed %d, step %d: %d timers, want %d", seed, i, w.timers, len(waiting))
			}
		}
	}
}

func TestDeadlinesBeyondNanosecondsCountAsFirstAndLast(t *testing.T) {
	order := []time.Time{{}, time.Unix(0, math.MinInt64), time.Unix(-1, 0), time.Unix(0, 0), time.Unix(0, math.MaxInt64), time.Unix(1e15, 0)}
	for i := range order[1:] {
		if ticks(order[i]) > ticks(order[i+1]) {
			t.Errorf("%v comes after %v", order[i], order[i+1])
		}
	}
}
