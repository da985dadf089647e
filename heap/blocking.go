package heap

import (
	"context"
	"sync"
	"time"
)

// Blocking lets goroutines share a Queue and wait for it. It starts no goroutine: a Pop that waits keeps a timer for what
// backs off. It is safe for concurrent use.
type Blocking[K comparable, V, E any] struct {
	mu      sync.Mutex
	queue   *Queue[K, V, E]
	clock   func() time.Time
	changed chan struct{} // closed and replaced by each Do
}

// NewBlocking wraps a queue, which from then on must not be used otherwise. clock tells the time; nil means time.Now.
func NewBlocking[K comparable, V, E any](queue *Queue[K, V, E], clock func() time.Time) *Blocking[K, V, E] {
	if clock == nil {
		clock = time.Now
	}
	return &Blocking[K, V, E]{queue: queue, clock: clock, changed: make(chan struct{})}
}

// Do calls f with the queue and the time, while no one else uses it, and then wakes those who wait. f must not keep the queue
// and must not call methods of the Blocking.
func (b *Blocking[K, V, E]) Do(f func(queue *Queue[K, V, E], now time.Time)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Also when f panics: those who wait then look at a queue that is whole or panic likewise, but don't hang.
	defer func() {
		close(b.changed)
		b.changed = make(chan struct{})
	}()
	f(b.queue, b.clock())
}

// Pop waits until there is something to try, and returns it. It flushes what is due, so no one else has to. It returns the
// error of the context if that ends first.
func (b *Blocking[K, V, E]) Pop(ctx context.Context) (Attempt[K, V], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Attempt[K, V]{}, err
		}
		attempt, ok, next, changed := b.try()
		if ok {
			return attempt, nil
		}
		if err := wait(ctx, changed, next); err != nil {
			return Attempt[K, V]{}, err
		}
	}
}

// try pops if it can. If not, it returns what to wait for: a change, or for the time next to pass if that is not negative.
func (b *Blocking[K, V, E]) try() (attempt Attempt[K, V], ok bool, next time.Duration, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	b.queue.Flush(now)
	if attempt, ok = b.queue.Pop(now); ok {
		return attempt, true, 0, nil
	}
	next = -1
	if at, due := b.queue.Next(now); due {
		next = max(at.Sub(now), 0)
	}
	return attempt, false, next, b.changed
}

func wait(ctx context.Context, changed <-chan struct{}, next time.Duration) error {
	var due <-chan time.Time
	if next >= 0 {
		timer := time.NewTimer(next)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-due:
	}
	return nil
}
