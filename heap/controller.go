package heap

import (
	"cmp"
	"fmt"
	"math"
	"math/cmplx"
)

// ControllerConfig is the gains and the range of a Controller.
type ControllerConfig struct {
	// Gain (a) is the share of the error that one step corrects.
	Gain float64
	// Damping (b) works against the change of the error since the last step.
	Damping float64
	// Start is the first output; 0 means 1.
	Start float64
	// Min and Max bound the output; 0 means 1/1024 and 1024. Min must be above 0, as load factors are.
	Min, Max float64
}

// Controller finds a load factor by feedback: each step moves the output x by the error e that the caller measured, how far
// the load is below its target,
//
//	x' = x + a*e - b*(e - e of the step before)
//
// and cuts it to [Min, Max]. It is the incremental form of a proportional-integral controller (Åström and Murray, "Feedback
// Systems", 2nd edition, section 11.5): the output is the only state that sums up, so the cut doesn't wind up.
type Controller struct {
	config    ControllerConfig
	output    float64
	lastError float64
	started   bool
}

// NewController returns a controller. It returns ErrUnstable for gains with which it would not settle (see Converges), and
// ErrRange for numbers that are not finite or a Start that is not within 0 < Min <= Start <= Max.
func NewController(config ControllerConfig) (*Controller, error) {
	config.Start = cmp.Or(config.Start, 1)
	config.Min = cmp.Or(config.Min, 1.0/1024)
	config.Max = cmp.Or(config.Max, 1024)
	if !(0 < config.Min && config.Min <= config.Start && config.Start <= config.Max && config.Max <= maxMagnitude) {
		return nil, fmt.Errorf("%w: not 0 < Min %v <= Start %v <= Max %v <= 1e100", ErrRange, config.Min, config.Start, config.Max)
	}
	if err := Converges(config.Gain, config.Damping); err != nil {
		return nil, err
	}
	return &Controller{config: config, output: config.Start}, nil
}

// Output returns the load factor as it stands.
func (c *Controller) Output() float64 { return c.output }

// Next takes the error measured since the last step and returns the new load factor. It returns ErrRange, and stands still,
// for an error that is not finite.
func (c *Controller) Next(e float64) (float64, error) {
	if !(math.Abs(e) <= maxMagnitude) {
		return c.output, fmt.Errorf("%w: control error %v", ErrRange, e)
	}
	if !c.started { // there is no step before: nothing changed
		c.started, c.lastError = true, e
	}
	x := c.output + c.config.Gain*e - c.config.Damping*(e-c.lastError)
	c.lastError = e
	c.output = min(c.config.Max, max(c.config.Min, x))
	return c.output, nil
}

// Converges returns ErrUnstable if a loop with these gains does not settle: if a root of its characteristic polynomial lies
// on or outside the unit circle. If the load answers within a step, e = target - x, the polynomial of the rule of Controller
// is z^2 - (1-a+b)z + b. If the load answers such that the damping sees only the older error, it is z^2 - (1-a)z + b.
// Gains must do for both, which rules out some that would settle, ringing, in the first kind of loop alone.
func Converges(gain, damping float64) error {
	if !(math.Abs(gain) <= maxMagnitude && math.Abs(damping) <= maxMagnitude) {
		return fmt.Errorf("%w: Gain %v, Damping %v", ErrRange, gain, damping)
	}
	radius := max(spectralRadius(1-gain+damping, damping), spectralRadius(1-gain, damping))
	if !(radius < 1-1e-9) { // on the circle errors stay, and the roots are known to about that
		return fmt.Errorf("%w: with Gain %v and Damping %v an error is multiplied by %.3g a step", ErrUnstable, gain, damping, radius)
	}
	return nil
}

// spectralRadius is the greatest magnitude of a root of z^2 - p*z + q.
func spectralRadius(p, q float64) float64 {
	d := cmplx.Sqrt(complex(p*p-4*q, 0))
	return max(cmplx.Abs((complex(p, 0)+d)/2), cmplx.Abs((complex(p, 0)-d)/2))
}
