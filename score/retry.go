package score

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry says how often a Source is asked before its fallback is taken, with exponential back-off and full jitter: before
// attempt n+1 (n from 1) it waits for a time drawn evenly from 0 to the lesser of Max and Base * 2^(n-1) (Brooker,
// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). A wait that would last past the signal's deadline is not
// begun. The zero value asks once.
type Retry struct {
	// Attempts is the number of calls at most, in 0..16. 0 means 1.
	Attempts int
	// Base and Max bound the waits. They must be positive if there is more than one attempt.
	Base, Max time.Duration
	// Random is what waits are drawn from, all of a decision at its beginning. Nil waits for the whole time. It must not
	// be used elsewhere during a decision.
	Random *rand.Rand
}

const maxAttempts = 16

func (r *Retry) check() error {
	switch {
	case r.Attempts < 0 || r.Attempts > maxAttempts:
		return fmt.Errorf("Retry.Attempts is %d, not in 0..%d", r.Attempts, maxAttempts)
	case r.Attempts > 1 && r.Base <= 0:
		return fmt.Errorf("Retry.Base is %v, not positive", r.Base)
	case r.Attempts > 1 && r.Max < r.Base:
		return fmt.Errorf("Retry.Max is %v, less than Base", r.Max)
	}
	return nil
}

// waits draws the waits of a decision. It is done beforehand, and by the caller's goroutine, so that what is drawn does not
// depend on which source is quick.
func (r *Retry) waits() []time.Duration {
	var waits []time.Duration
	most := r.Base
	for range r.Attempts - 1 {
		wait := min(most, r.Max)
		if r.Random != nil {
			wait = time.Duration(r.Random.Int64N(int64(wait) + 1))
		}
		waits = append(waits, wait)
		if most < r.Max {
			most *= 2 // below 2*Max: it may overflow only if Max is above 146 years
		}
	}
	return waits
}

// attempt calls f until it succeeds, waits have run out, or the context is done or would be after the next wait.
func attempt(ctx context.Context, waits []time.Duration, f func() error) error {
	for {
		err := f()
		if err == nil || len(waits) == 0 || ctx.Err() != nil {
			return err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= waits[0] {
			return err
		}
		timer := time.NewTimer(waits[0])
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		waits = waits[1:]
	}
}
