package strategy

import (
	"math"
	"time"

	"github.com/berth-go/berth"
)

// series is what HoltWinters knows of a node.
type series struct {
	first        time.Time // of slot 0
	slot         int64     // of the last sample
	start        []float64 // the samples of the first two seasons, until they are complete
	level, trend float64
	season       []float64 // by slot modulo its length
	peak         float64
}

func newSeries(h *HoltWinters, at time.Time, use float64) *series {
	s := &series{first: at, slot: -1}
	s.add(h, use)
	s.peak = s.highest(h)
	return s
}

// add takes in the sample of the next slot.
func (s *series) add(h *HoltWinters, use float64) {
	s.slot++
	if s.season != nil {
		s.smooth(h, use)
		return
	}
	s.start = append(s.start, use)
	if len(s.start) == 2*h.cfg.Season {
		s.begin(h)
	}
}

// miss takes in that the next slot has no sample.
func (s *series) miss(h *HoltWinters) {
	if s.season == nil {
		s.add(h, s.start[len(s.start)-1])
		return
	}
	s.slot++
	s.level += s.trend // the prediction has no error to learn from
}

// begin fits level, trend and season to the first season and smooths over the second.
func (s *series) begin(h *HoltWinters) {
	m := h.cfg.Season
	start := s.start
	one, two := mean(start[:m]), mean(start[m:])
	s.trend = (two - one) / float64(m)
	middle := float64(m-1) / 2
	s.season = make([]float64, m)
	for i := range m {
		s.season[i] = start[i] - one - float64(s.trend*(float64(i)-middle))
	}
	s.level = one + float64(s.trend*middle)
	s.start = nil
	s.slot = int64(m) - 1
	for _, use := range start[m:] {
		s.add(h, use)
	}
}

// smooth is one step of the method. Conversions forbid fused additions, which would make results differ between machines.
func (s *series) smooth(h *HoltWinters, use float64) {
	c := &h.cfg
	expected, old := s.level+s.trend, s.level
	i := s.slot % int64(c.Season)
	s.level = float64(c.Alpha*(use-s.season[i])) + float64((1-c.Alpha)*expected)
	s.trend = float64(c.Beta*(s.level-old)) + float64((1-c.Beta)*s.trend)
	if c.Season > 1 { // a season of one interval would be a second level
		s.season[i] = float64(c.Gamma*(use-expected)) + float64((1-c.Gamma)*s.season[i])
	}
}

// highest returns the peak over the horizon. Of the steps that share an index of the season, a trend upwards makes the last
// the highest, any other the first; so one season of them will do.
func (s *series) highest(h *HoltWinters) float64 {
	if s.season == nil {
		peak := 0.0
		for _, use := range s.start {
			peak = max(peak, use)
		}
		return peak
	}
	from, to := 1, h.steps
	if s.trend > 0 {
		from = max(from, to-h.cfg.Season+1)
	} else {
		to = min(to, h.cfg.Season)
	}
	peak := 0.0
	for k := from; k <= to; k++ {
		i := (s.slot + int64(k)) % int64(h.cfg.Season)
		peak = max(peak, s.level+float64(float64(k)*s.trend)+s.season[i])
	}
	return min(peak, float64(berth.MaxAmount))
}

// bounded reports whether the level is a number that samples could have led to. Not all parameters are stable.
func (s *series) bounded() bool { return math.Abs(s.level) <= 1<<60 }

func mean(list []float64) float64 {
	var sum float64
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
