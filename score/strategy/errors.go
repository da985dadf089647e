package strategy

import (
	"errors"
	"fmt"
	"math"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
)

// ErrData is what errors about data wrap that were handed in after a strategy was made: a sample, a node's state, what a
// function or model of the caller's returned. Errors about a Config wrap score.ErrConfig.
var ErrData = errors.New("strategy: bad data")

func misconfigured(format string, args ...any) error {
	return fmt.Errorf("%w: %s", score.ErrConfig, fmt.Sprintf(format, args...))
}

func badData(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrData, fmt.Sprintf(format, args...))
}

// amount reports whether v is a finite amount from 0 to the most that a spec may name.
func amount(v float64) bool { return v >= 0 && v <= float64(berth.MaxAmount) }

// percent returns a share, cut to 0..1, as a score in 0..100, rounded to the nearest.
func percent(share float64) int64 { return int64(math.Round(100 * min(max(share, 0), 1))) }
