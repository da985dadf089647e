package heap

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// settle runs the loop of a controller whose load answers within a step, and returns the last error.
func settle(a, b float64, steps int) float64 {
	x, last := 1.0, 0.0
	for i := range steps {
		e := -x // the target is 0
		if i == 0 {
			last = e
		}
		x += a*e - b*(e-last)
		last = e
	}
	return math.Abs(x)
}

func TestGainsThatAreAcceptedSettle(t *testing.T) {
	accepted, refused := 0, 0
	for a := -0.5; a < 4; a += 0.05 {
		for b := -1.5; b < 1.5; b += 0.05 {
			if Converges(a, b) == nil {
				accepted++
				require.Less(t, settle(a, b, 5000), 1e-6, "Gain %v, Damping %v", a, b)
				continue
			}
			refused++
			// Refused either because the loop does not settle, or because the one with the late answer does not.
			if settle(a, b, 5000) < 1e-6 {
				require.GreaterOrEqual(t, spectralRadius(1-a, b), 1-1e-9, "Gain %v, Damping %v", a, b)
			}
		}
	}
	require.Greater(t, accepted, 1000)
	require.Greater(t, refused, 1000)
}

func TestConvergesOnTheEdge(t *testing.T) {
	for _, tc := range []struct {
		a, b float64
		ok   bool
	}{
		{0.5, 0.1, true}, {1, 0, true}, {0.1, 0.9, true}, {1.99, 0, true},
		{2, 0, false}, {0, 0, false}, {2.5, 0.1, false}, {0.5, 1, false}, {0.5, -1, false}, {-0.1, 0.5, false},
	} {
		if err := Converges(tc.a, tc.b); tc.ok {
			require.NoError(t, err, "Gain %v, Damping %v", tc.a, tc.b)
		} else {
			require.ErrorIs(t, err, ErrUnstable, "Gain %v, Damping %v", tc.a, tc.b)
		}
	}
	require.ErrorIs(t, Converges(math.NaN(), 0), ErrRange)
	require.ErrorIs(t, Converges(1, math.Inf(1)), ErrRange)
}

func TestControllerFindsTheFactor(t *testing.T) {
	c, err := NewController(ControllerConfig{Gain: 0.4, Damping: 0.1})
	require.NoError(t, err)
	require.Equal(t, 1.0, c.Output())
	for range 100 {
		_, err := c.Next(3 - c.Output()) // the load is what the factor makes it, the target is 3
		require.NoError(t, err)
	}
	require.InDelta(t, 3, c.Output(), 1e-9)
}

func TestControllerStaysInRangeAndComesBackAtOnce(t *testing.T) {
	c, err := NewController(ControllerConfig{Gain: 0.5, Min: 0.5, Max: 2})
	require.NoError(t, err)
	for range 50 {
		x, err := c.Next(100)
		require.NoError(t, err)
		require.Equal(t, 2.0, x)
	}
	x, err := c.Next(-1)
	require.NoError(t, err)
	require.Equal(t, 1.5, x, "nothing wound up meanwhile")
	for _, e := range []float64{math.NaN(), math.Inf(1)} {
		x, err = c.Next(e)
		require.ErrorIs(t, err, ErrRange)
		require.Equal(t, 1.5, x)
	}
}

func TestControllerRefusesBadConfig(t *testing.T) {
	for _, config := range []ControllerConfig{
		{Gain: 0.5, Min: -1}, {Gain: 0.5, Min: 3, Max: 2}, {Gain: 0.5, Start: 5000}, {Gain: 0.5, Max: math.Inf(1)}, {Gain: 0.5, Start: math.NaN()},
	} {
		_, err := NewController(config)
		require.ErrorIs(t, err, ErrRange, "%+v", config)
	}
	_, err := NewController(ControllerConfig{Gain: 3})
	require.ErrorIs(t, err, ErrUnstable)
}
