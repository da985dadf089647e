package strategy

import "time"

// HoltWintersConfig configures a HoltWinters.
type HoltWintersConfig struct {
	// Interval is the time between two samples of a node, above 0.
	Interval time.Duration
	// Season is how many intervals a season has, in 1..10,000: 24 for days of hourly samples. 1 means that there is none.
	Season int
	// Horizon is how far ahead the peak is looked for, counted from a node's last sample: above 0, at most a million
	// intervals. A part of an interval counts as a whole one.
	Horizon time.Duration
	// Alpha, Beta and Gamma are the smoothing parameters of the level, the trend and the season: how much of the newest
	// sample each takes in. Alpha is above 0 and at most 1, Beta in 0..1, Gamma in 0..1-Alpha.
	Alpha, Beta, Gamma float64
}

// HoltWinters predicts the use of each node from its samples by additive triple exponential smoothing (Winters,
// "Forecasting Sales by Exponentially Weighted Moving Averages", Management Science 6(3), 1960; the component form of Hyndman
// and Athanasopoulos, "Forecasting: Principles and Practice", 3rd edition, section 8.3):
//
//	forecast:  y[t+h] = level[t] + h*trend[t] + season[t+h-m*(k+1)],  k = (h-1)/m
//	level[t]  = Alpha*(y[t] - season[t-m]) + (1-Alpha)*(level[t-1] + trend[t-1])
//	trend[t]  = Beta*(level[t] - level[t-1]) + (1-Beta)*trend[t-1]
//	season[t] = Gamma*(y[t] - level[t-1] - trend[t-1]) + (1-Gamma)*season[t-m]
//
// where m is Season. The first two seasons make the start: the trend is the difference of their means over m, the level
// follows from the mean of the first along that trend, and the season is what the first leaves. So a straight line with a
// season on it is predicted without error at once. Until then the highest sample so far is the prediction.
//
// Times are the caller's: a sample counts for the interval, from the first sample on, that its time is nearest to. An
// interval without a sample counts as if the prediction had come true (during the first two seasons: as the sample before
// it). If those of two seasons, and at least ten, are missing, the node begins anew. So it does when the level leaves all bounds:
// with a large Beta and Gamma, say 0.8 and 0.7 beside an Alpha of 0.3, errors grow instead of being smoothed.
//
// Make one with NewHoltWinters. Observe and Forget must not run at the same time as any other method. A node takes
// 8 * Season bytes, and twice that during its first two seasons.
type HoltWinters struct {
	cfg   HoltWintersConfig
	steps int // of the horizon
	nodes map[string]*series
}

// NewHoltWinters returns a model without samples. The error wraps score.ErrConfig.
func NewHoltWinters(cfg HoltWintersConfig) (*HoltWinters, error) {
	const maxSeason, maxSteps = 10_000, 1_000_000
	if cfg.Interval <= 0 {
		return nil, misconfigured("HoltWinters: Interval is %v, want more than 0", cfg.Interval)
	}
	steps := int64((cfg.Horizon-1)/cfg.Interval) + 1
	switch {
	case cfg.Season < 1 || cfg.Season > maxSeason:
		return nil, misconfigured("HoltWinters: Season is %d, want 1..%d", cfg.Season, maxSeason)
	case cfg.Horizon <= 0 || steps > maxSteps:
		return nil, misconfigured("HoltWinters: Horizon is %v, want more than 0 and at most %d intervals", cfg.Horizon, maxSteps)
	case !(cfg.Alpha > 0 && cfg.Alpha <= 1):
		return nil, misconfigured("HoltWinters: Alpha is %v, want more than 0 and at most 1", cfg.Alpha)
	case !(cfg.Beta >= 0 && cfg.Beta <= 1):
		return nil, misconfigured("HoltWinters: Beta is %v, want 0..1", cfg.Beta)
	case !(cfg.Gamma >= 0 && cfg.Alpha+cfg.Gamma <= 1):
		return nil, misconfigured("HoltWinters: Gamma is %v, want 0..1-Alpha, where Alpha is %v", cfg.Gamma, cfg.Alpha)
	}
	return &HoltWinters{cfg: cfg, steps: int(steps), nodes: make(map[string]*series)}, nil
}

// Observe takes in a sample: the use of a node at a time, in 0..2^50 of the resource's unit. The error wraps ErrData, and
// nothing has happened, if the use is no such amount, or if the time is not in a later interval than the sample before.
// O(min(steps of the horizon, Season) + intervals missed).
func (h *HoltWinters) Observe(node string, at time.Time, use float64) error {
	if !amount(use) {
		return badData("HoltWinters: use of node %q is %v, want 0..2^50", node, use)
	}
	s := h.nodes[node]
	if s == nil {
		h.nodes[node] = newSeries(h, at, use)
		return nil
	}
	slot := nearest(at.Sub(s.first), h.cfg.Interval)
	missed := slot - s.slot - 1
	switch {
	case missed < 0:
		last := s.first.Add(time.Duration(s.slot) * h.cfg.Interval)
		return badData("HoltWinters: sample of node %q at %v is not in a later interval than the one before, at %v", node, at, last)
	case missed >= max(2*int64(h.cfg.Season), 10):
		h.nodes[node] = newSeries(h, at, use)
		return nil
	}
	for range missed {
		s.miss(h)
	}
	s.add(h, use)
	if !s.bounded() {
		h.nodes[node] = newSeries(h, at, use)
		return nil
	}
	s.peak = s.highest(h)
	return nil
}

// Peak returns the highest use that is predicted for the node over the horizon, at least 0; false without a sample. O(1).
func (h *HoltWinters) Peak(node string) (use float64, ok bool) {
	s := h.nodes[node]
	if s == nil {
		return 0, false
	}
	return s.peak, true
}

// Forget drops a node's samples.
func (h *HoltWinters) Forget(node string) { delete(h.nodes, node) }

// nearest returns which multiple of interval d is nearest to, the higher of two.
func nearest(d, interval time.Duration) int64 {
	q, rest := d/interval, d%interval
	if rest < 0 {
		q, rest = q-1, rest+interval
	}
	if rest >= interval-interval/2 {
		q++
	}
	return int64(q)
}
