package differential

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Comparison draws scripts and puts them to two schedulers.
type Comparison struct {
	Ours, Judge conformance.Open
	// Seed and First say which scripts: number First of the seed and those after it.
	Seed, First uint64
	// Nodes bounds the size of clusters; 0 means MaxNodes.
	Nodes int
	// Verdicts and Scores are how much is enough.
	Verdicts, Scores int
	// Time is when to stop in any case.
	Time time.Duration
	// Workers is how many scripts are run at once; 0 means 1.
	Workers int
}

// Finding is a script that shows a difference, or that could not be run to its end.
type Finding struct {
	Number     uint64
	Script     *Script
	Difference *Difference
	Err        error
}

// Run runs scripts until enough was compared, time is up, or found returns false. It returns how many scripts were run and
// what was compared in them. Calls of found do not overlap; with several workers their order is not that of the numbers.
func (c *Comparison) Run(found func(Finding) (more bool)) (scripts uint64, total Counts) {
	ctx, cancel := context.WithTimeout(context.Background(), c.Time)
	defer cancel()
	var mu sync.Mutex
	next := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil || (total.Verdicts >= c.Verdicts && total.Scores >= c.Scores) {
			return 0, false
		}
		scripts++
		return c.First + scripts - 1, true
	}
	var workers sync.WaitGroup
	for range max(c.Workers, 1) {
		workers.Go(func() {
			for number, more := next(); more; number, more = next() {
				script := Generate(c.Seed, number, cmp.Or(c.Nodes, MaxNodes))
				counts, difference, err := script.Run(c.Ours, c.Judge)
				mu.Lock()
				total.Add(counts)
				if (difference != nil || err != nil) && ctx.Err() == nil && !found(Finding{number, script, difference, err}) {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return scripts, total
}

// Minimise returns the smallest script that shows a difference of the same kind as the finding, as far as one is found in
// the time.
func (c *Comparison) Minimise(f Finding, limit time.Duration) (*Script, *Difference) {
	kind, last := f.Difference.Kind(), f.Difference
	small := Minimise(f.Script, func(s *Script) bool {
		_, difference, err := s.Run(c.Ours, c.Judge)
		if err != nil || difference == nil || difference.Kind() != kind {
			return false
		}
		last = difference
		return true
	}, time.Now().Add(limit))
	return small, last
}
