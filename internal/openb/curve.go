package openb

import "math"

// Curve gathers the allocation of GPUs against the workload that has arrived, both as percentages of the cluster's GPUs.
// Make one with [NewCurve].
type Curve struct {
	capacity        int64
	arrived, placed int64
	sum             map[int]float64
	count           map[int]int
}

// NewCurve returns an empty curve for a cluster of that many GPU milli.
func NewCurve(capacity int64) *Curve {
	return &Curve{capacity: capacity, sum: make(map[int]float64), count: make(map[int]int)}
}

// Arrive adds a point: a pod that asks for that many GPU milli has come, and was placed or not.
func (c *Curve) Arrive(milli int64, placed bool) {
	c.arrived += milli
	if placed {
		c.placed += milli
	}
	bin := int(math.RoundToEven(c.percent(c.arrived)))
	c.sum[bin] += hundredths(c.percent(c.placed))
	c.count[bin]++
}

// At returns the allocation in per cent while about pct per cent had arrived (rounded to the nearest whole per cent, half
// to even): the mean over those points, all rounded to hundredths. If there were none, those up to one per cent away count;
// if there are none of these either, it reports false.
func (c *Curve) At(pct int) (float64, bool) {
	sum, count := c.sum[pct], c.count[pct]
	if count == 0 {
		sum, count = c.sum[pct-1]+c.sum[pct+1], c.count[pct-1]+c.count[pct+1]
	}
	if count == 0 {
		return 0, false
	}
	return hundredths(sum / float64(count)), true
}

// Arrived returns the per cent that have arrived.
func (c *Curve) Arrived() float64 { return c.percent(c.arrived) }

// Allocation returns the per cent that are allocated now.
func (c *Curve) Allocation() float64 { return c.percent(c.placed) }

func (c *Curve) percent(milli int64) float64 { return 100 * float64(milli) / float64(c.capacity) }

func hundredths(x float64) float64 { return math.RoundToEven(x*100) / 100 }
