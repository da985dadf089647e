package score

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth/topology"
)

const (
	// ChunkNodes is how many nodes Chunks hands out at a time. It bounds what is done between two looks at the context,
	// and lets the columns of some ten scorers stay in a core's first cache while they are added up.
	ChunkNodes = 256
	// nodesPerWorker is how many nodes must be there for each goroutine: with fewer, to start it costs more than it saves,
	// if a node costs some 13 ns (BenchmarkSplit). One that costs more would be worth it earlier, but there is no clock here to
	// tell; what is lost then, compared with an idle core, is what a few thousand nodes cost.
	nodesPerWorker = 3072
	// longestRun is how many parts in a row a worker takes at most.
	longestRun = 8
)

// Chunks calls do on consecutive parts of nodes until all are done, on the caller's goroutine and on up to workers-1 others,
// which end before Chunks does. There are fewer, or none, if nodes are few. worker is in 0..workers-1, and no two calls at
// a time have the same, so that it can index scratch memory. Parts are at most ChunkNodes long and are the same for any
// number of workers.
//
// If do fails or panics, no part after that one is begun; the error is that of the first part in the order of nodes, and so
// the same for any number of workers. A panic is an error that wraps ErrPlugin. The context is looked at before each part; its error
// is returned if it was done before all parts were begun.
func Chunks(ctx context.Context, workers int, nodes []topology.NodeID, do func(worker int, chunk []topology.NodeID) error) error {
	return chunks(ctx, worthwhile(workers, len(nodes)), nodes, do)
}

// worthwhile returns how many of the workers to use for scoring so many nodes.
func worthwhile(workers, nodes int) int { return min(workers, nodes/nodesPerWorker) }

func chunks(ctx context.Context, workers int, nodes []topology.NodeID, do func(worker int, chunk []topology.NodeID) error) error {
	if workers > 1 {
		return inParallel(ctx, workers, nodes, do)
	}
	for len(nodes) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(nodes), ChunkNodes)
		if err := guarded(0, nodes[:n], do); err != nil {
			return err
		}
		nodes = nodes[n:]
	}
	return nil
}

// guarded turns a panic into an error.
func guarded(worker int, chunk []topology.NodeID, do func(int, []topology.NodeID) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	return do(worker, chunk)
}

func panicked(r any) error { return fmt.Errorf("%w: panic: %v", ErrPlugin, r) }

// split is the work of one call of Chunks. The workers take runs of parts in ascending order. Once a part has failed, no run
// is taken any more, and what was taken is finished only as far as it lies before that part: so all parts before the
// first that fails are done, and the first error is the same whoever was quick.
type split struct {
	next   atomic.Int64 // index of the part to take
	_      [56]byte     // what is mostly read stays out of that cache line
	failed atomic.Int64 // index of the first part that failed, or parts

	ctx     context.Context
	nodes   []topology.NodeID
	parts   int64
	workers int64
	do      func(worker int, chunk []topology.NodeID) error

	mu      sync.Mutex
	err     error // of failed
	stopped bool  // by the context
}

// inParallel does not need an errgroup: that would keep the error that came first in time.
func inParallel(ctx context.Context, workers int, nodes []topology.NodeID, do func(int, []topology.NodeID) error) error {
	parts := int64((len(nodes) + ChunkNodes - 1) / ChunkNodes)
	s := &split{ctx: ctx, nodes: nodes, parts: parts, workers: int64(workers), do: do}
	s.failed.Store(parts)
	var others sync.WaitGroup
	for w := 1; w < workers; w++ {
		others.Go(func() { s.work(w) })
	}
	// The goroutine that is started last stands where Go keeps what is to run next on this processor, and another processor
	// takes it from there only after some 50 microseconds. This one keeps the place for those that have work.
	others.Go(func() {})
	func() {
		defer others.Wait() // even if do ends this goroutine
		s.work(0)
	}()
	switch {
	case s.err != nil:
		return s.err
	case s.stopped:
		return ctx.Err()
	}
	return nil
}

func (s *split) work(worker int) {
	for {
		from, to := s.take()
		if from == to {
			return
		}
		for part := from; part < to && part < s.failed.Load(); part++ {
			if s.ctx.Err() != nil {
				s.stop()
				return
			}
			s.part(worker, part)
		}
	}
}

// take returns a run of parts, from and up to. The more there are left, the longer it is (guided self-scheduling: Polychronopoulos
// and Kuck, IEEE Transactions on Computers C-36(12), 1987), as workers that take turns on the pages of a column slow each
// other down; but no longer than others would wait for if this worker lost its processor.
func (s *split) take() (from, to int64) {
	for {
		from = s.next.Load()
		if from >= s.parts {
			return 0, 0
		}
		to = from + min(max((s.parts-from)/(2*s.workers), 1), longestRun)
		if s.next.CompareAndSwap(from, to) {
			return from, to
		}
	}
}

func (s *split) part(worker int, part int64) {
	returned := false
	defer func() {
		if !returned { // nor panicked: runtime.Goexit, which a test's FailNow calls
			s.fail(part, fmt.Errorf("%w: it ended its goroutine", ErrPlugin))
		}
	}()
	from := part * ChunkNodes
	err := guarded(worker, s.nodes[from:min(from+ChunkNodes, int64(len(s.nodes)))], s.do)
	returned = true
	if err != nil {
		s.fail(part, err)
	}
}

func (s *split) fail(part int64, err error) {
	s.next.Store(s.parts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if part < s.failed.Load() {
		s.failed.Store(part)
		s.err = err
	}
}

func (s *split) stop() {
	s.next.Store(s.parts)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}
