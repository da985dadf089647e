package heap

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func newBlocking(t *testing.T) *Blocking[string, int, int] {
	q, err := NewQueue(testConfig(gate{}))
	require.NoError(t, err)
	return NewBlocking(q, nil)
}

type testQueue = Queue[string, int, int]

func TestBlockingPopWaitsForAnItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocking(t)
		go func() {
			time.Sleep(time.Minute)
			b.Do(func(q *testQueue, now time.Time) { _ = q.Add(Spec[string, int]{Key: "a"}, now) })
		}()
		start := time.Now()
		a, err := b.Pop(t.Context())
		require.NoError(t, err)
		require.Equal(t, "a", a.Key)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

func TestBlockingPopWaitsForTheEndOfBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocking(t)
		b.Do(func(q *testQueue, now time.Time) { _ = q.Add(Spec[string, int]{Key: "a"}, now) })
		a, err := b.Pop(t.Context())
		require.NoError(t, err)
		b.Do(func(q *testQueue, now time.Time) { err = q.Fail(a.Ticket, Refusal{}, now) })
		require.NoError(t, err)
		start := time.Now()
		_, err = b.Pop(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(start).Round(time.Second), "one second, and the rest of the window")
	})
}

func TestBlockingPopSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocking(t)
		b.Do(func(q *testQueue, now time.Time) { _ = q.Add(Spec[string, int]{Key: "a"}, now) })
		a, _ := b.Pop(t.Context())
		b.Do(func(q *testQueue, now time.Time) { _ = q.Fail(a.Ticket, Refusal{Rules: ruleA}, now) })
		start := time.Now()
		_, err := b.Pop(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5*time.Minute, time.Since(start).Round(time.Second))
	})
}

func TestBlockingPopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocking(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := b.Pop(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		b.Do(func(q *testQueue, now time.Time) { _ = q.Add(Spec[string, int]{Key: "a"}, now) })
		_, err = b.Pop(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "an ended context takes nothing out")
		require.Equal(t, 1, b.queue.Len())
	})
}

func TestBlockingHandsEachItemToOneWorker(t *testing.T) {
	const items, workers = 500, 4
	b := newBlocking(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		mu   sync.Mutex
		seen = map[string]int{}
		wg   sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for {
				a, err := b.Pop(ctx)
				if err != nil {
					return
				}
				b.Do(func(q *testQueue, _ time.Time) { _ = q.Done(a.Ticket) })
				mu.Lock()
				if seen[a.Key]++; len(seen) == items {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for i := range items {
		b.Do(func(q *testQueue, now time.Time) { _ = q.Add(Spec[string, int]{Key: fmt.Sprint(i)}, now) })
	}
	wg.Wait()
	for key, n := range seen {
		require.Equal(t, 1, n, key)
	}
	require.Zero(t, b.queue.Len())
}
