package score

import (
	"fmt"
	"slices"
	"time"
)

// Limiter finds how many things at a time are best for a service whose capacity is not known, from the latencies that it is
// told: workers of a pipeline, queries to a source. It is TCP Vegas (Brakmo, O'Malley, Peterson, "TCP Vegas: New Techniques
// for Congestion Detection and Avoidance", SIGCOMM 1994, section 3.3), as Netflix's concurrency-limits applies it to requests
// (VegasLimit.java), with the probes for the base latency of BBR (Cardwell et al., "BBR: Congestion-Based Congestion
// Control", ACM Queue 14(5), 2016) and the decrease on failure of AIMD (Chiu and Jain, "Analysis of the Increase and Decrease
// Algorithms for Congestion Avoidance", 1989).
//
// If a request takes base when nobody else is there, and latency with limit at a time, then limit * (1 - base/latency) of
// them are waiting. After each window of measurements, the limit grows by one if fewer than Grow wait, and falls by
// one if more than Shrink do; between the two it stays. At first it doubles instead of growing by one, until it
// meets resistance.
//
// It has no clock and draws nothing: the same measurements give the same limits. It has one owner. Make one with NewLimiter.
type Limiter struct {
	cfg      LimiterConfig
	limit    int
	base     time.Duration // 0 if not known
	starting bool          // the limit doubles
	probing  bool          // this window is for the base latency
	windows  int           // since the last probe
	window   []time.Duration
	inFlight int // the most in this window
}

// LimiterConfig configures a Limiter. The zero value is ready to use.
type LimiterConfig struct {
	// Min, Initial and Max bound the limit and begin it: 1 <= Min <= Initial <= Max. 0 means 1, Min and 256.
	Min, Initial, Max int
	// Window is how many measurements make one step; their median counts. 0 means 16.
	Window int
	// Grow and Shrink are how many waiting requests let the limit grow or fall: 0 < Grow < Shrink. The distance
	// between them keeps the limit from swinging. 0 means 2 and 4, which are those of Vegas.
	Grow, Shrink float64
	// Backoff multiplies the limit when a request fails for overload, in 0 < Backoff < 1. 0 means 0.5.
	Backoff float64
	// Renew is after how many windows the base latency is measured anew, for one window with half the limit. 0 means 128,
	// negative means never.
	Renew int
}

// Measurement is one finished request.
type Measurement struct {
	// Latency is how long it took. If it is not positive, the measurement is dropped.
	Latency time.Duration
	// InFlight is how many there were when it began, itself included. The limit does not grow while less than half of it
	// is used, as nothing is learned about more.
	InFlight int
	// Overload says that it was refused or timed out. Its latency does not count.
	Overload bool
}

// NewLimiter returns a Limiter. The error wraps ErrConfig.
func NewLimiter(cfg LimiterConfig) (*Limiter, error) {
	cfg.Min = orElse(cfg.Min, 1)
	cfg.Initial = orElse(cfg.Initial, cfg.Min)
	cfg.Max = orElse(cfg.Max, 256)
	cfg.Window = orElse(cfg.Window, 16)
	cfg.Grow = orElse(cfg.Grow, 2)
	cfg.Shrink = orElse(cfg.Shrink, 4)
	cfg.Backoff = orElse(cfg.Backoff, 0.5)
	cfg.Renew = orElse(cfg.Renew, 128)
	switch {
	case cfg.Min < 1 || cfg.Initial < cfg.Min || cfg.Max < cfg.Initial:
		return nil, fmt.Errorf("%w: Min %d, Initial %d and Max %d do not ascend from 1", ErrConfig, cfg.Min, cfg.Initial, cfg.Max)
	case cfg.Window < 1:
		return nil, fmt.Errorf("%w: Window is %d", ErrConfig, cfg.Window)
	case !(cfg.Grow > 0 && cfg.Shrink > cfg.Grow):
		return nil, fmt.Errorf("%w: Grow %v and Shrink %v do not ascend from 0", ErrConfig, cfg.Grow, cfg.Shrink)
	case !(cfg.Backoff > 0 && cfg.Backoff < 1):
		return nil, fmt.Errorf("%w: Backoff is %v, not between 0 and 1", ErrConfig, cfg.Backoff)
	}
	return &Limiter{cfg: cfg, limit: cfg.Initial, starting: true}, nil
}

func orElse[T comparable](v, instead T) T {
	var zero T
	if v == zero {
		return instead
	}
	return v
}

// Limit returns how many may be in flight now.
func (l *Limiter) Limit() int {
	if l.probing {
		return max(l.limit/2, l.cfg.Min)
	}
	return l.limit
}

// Observe takes a measurement into account and returns the limit. O(1), and O(Window log Window) at the end of a window.
func (l *Limiter) Observe(m Measurement) int {
	switch {
	case m.Overload:
		l.limit = max(int(float64(l.limit)*l.cfg.Backoff), l.cfg.Min)
		l.starting = false
		l.next()
		return l.Limit()
	case m.Latency <= 0:
		return l.Limit()
	}
	l.window = append(l.window, m.Latency)
	l.inFlight = max(l.inFlight, m.InFlight)
	if len(l.window) == l.cfg.Window {
		slices.Sort(l.window)
		l.step(l.window[len(l.window)/2])
		l.next()
	}
	return l.Limit()
}

// step ends a window of the given latency.
func (l *Limiter) step(latency time.Duration) {
	if l.probing || l.base == 0 {
		l.base, l.probing, l.windows = latency, false, 0
		return
	}
	l.base = min(l.base, latency)
	waiting := float64(l.limit) * (1 - float64(l.base)/float64(latency))
	switch {
	case waiting > l.cfg.Shrink:
		l.limit, l.starting = max(l.limit-1, l.cfg.Min), false
	case waiting >= l.cfg.Grow:
		l.starting = false
	case 2*l.inFlight < l.limit:
	case l.starting:
		l.limit = min(2*l.limit, l.cfg.Max)
	default:
		l.limit = min(l.limit+1, l.cfg.Max)
	}
	if l.windows++; l.windows == l.cfg.Renew {
		l.probing = true
	}
}

// next begins a window.
func (l *Limiter) next() { l.window, l.inFlight = l.window[:0], 0 }
