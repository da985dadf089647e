package score_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// ids are the nodes 0..n-1.
func ids(n int) []topology.NodeID {
	nodes := make([]topology.NodeID, n)
	for i := range nodes {
		nodes[i] = topology.NodeID(i)
	}
	return nodes
}

const many = 80*score.ChunkNodes + 1

func TestChunksAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	for _, n := range []int{0, 1, score.ChunkNodes, score.ChunkNodes + 1, many} {
		var want [][]topology.NodeID
		for part := range slices.Chunk(ids(n), score.ChunkNodes) {
			want = append(want, part)
		}
		for _, workers := range []int{-1, 0, 1, 2, 3, 8, 100} {
			t.Run(fmt.Sprintf("%d nodes, %d workers", n, workers), func(t *testing.T) {
				var mu sync.Mutex
				var got [][]topology.NodeID
				busy := make([]atomic.Bool, max(workers, 1))
				err := score.Chunks(t.Context(), workers, ids(n), func(worker int, chunk []topology.NodeID) error {
					assert.False(t, busy[worker].Swap(true), "worker %d is used twice at a time", worker)
					defer busy[worker].Store(false)
					mu.Lock()
					defer mu.Unlock()
					got = append(got, chunk)
					return nil
				})
				require.NoError(t, err)
				slices.SortFunc(got, func(a, b []topology.NodeID) int { return int(a[0] - b[0]) })
				assert.Equal(t, want, got)
			})
		}
	}
}

// TestFirstErrorWins: of several parts that fail, the error is that of the first, whoever of the workers was quick.
func TestFirstErrorWins(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		for range 50 {
			err := score.Chunks(t.Context(), workers, ids(many), func(_ int, chunk []topology.NodeID) error {
				switch part := int(chunk[0]) / score.ChunkNodes; part {
				case 3, 4, 6:
					return fmt.Errorf("part %d", part)
				case 5:
					panic("part 5")
				}
				return nil
			})
			require.EqualError(t, err, "part 3", "%d workers", workers)
		}
	}
}

func TestPanicsInChunksAreErrors(t *testing.T) {
	for _, workers := range []int{1, 3} {
		err := score.Chunks(t.Context(), workers, ids(many), func(_ int, chunk []topology.NodeID) error {
			var none []int
			_ = none[chunk[0]]
			return nil
		})
		require.ErrorIs(t, err, score.ErrPlugin)
		assert.ErrorContains(t, err, "panic: runtime error: index out of range [0]")
	}
}

// TestGoexitInChunks: a function that ends its goroutine, as FailNow of a test does, neither hangs nor goes unnoticed.
func TestGoexitInChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		returned := false
		go func() {
			err = score.Chunks(t.Context(), 3, ids(many), func(worker int, _ []topology.NodeID) error {
				if worker > 0 {
					runtime.Goexit()
				}
				runtime.Gosched()
				return nil
			})
			returned = true
		}()
		synctest.Wait()
		if returned && err != nil { // it may be that the others came too late for a part
			assert.ErrorIs(t, err, score.ErrPlugin)
		}
		ended := false
		go func() {
			defer func() { ended = true }()
			_ = score.Chunks(t.Context(), 3, ids(many), func(int, []topology.NodeID) error {
				runtime.Goexit()
				return nil
			})
		}()
		synctest.Wait()
		assert.True(t, ended)
	})
}

func TestCancelledChunksBeginNothingMore(t *testing.T) {
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(t.Context())
		var begun atomic.Int64
		err := score.Chunks(ctx, workers, ids(many), func(int, []topology.NodeID) error {
			begun.Add(1)
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		assert.LessOrEqual(t, begun.Load(), int64(workers), "those that had begun")

		begun.Store(0)
		err = score.Chunks(ctx, workers, ids(many), func(int, []topology.NodeID) error { begun.Add(1); return nil })
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, begun.Load())
	}
}

// goroutines returns how many other goroutines are at work in package score, after all in this bubble had the time to end. It
// goes by the stacks: the number of all goroutines would count those of other tests that are about to end.
func goroutines() (n int) {
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	others := bytes.Split(stacks, []byte("\n\n"))[1:]
	for _, stack := range others {
		if bytes.Contains(stack, []byte("github.com/berth-go/berth/score.")) {
			n++
		}
	}
	return n
}

// TestNoGoroutineOutlivesChunks: when Chunks is back, those that it started have left its code, however it ended.
func TestNoGoroutineOutlivesChunks(t *testing.T) {
	for name, do := range map[string]func(int, []topology.NodeID) error{
		"done":     func(int, []topology.NodeID) error { return nil },
		"failed":   func(int, []topology.NodeID) error { return errors.New("no") },
		"panicked": func(int, []topology.NodeID) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_ = score.Chunks(t.Context(), 8, ids(many), do)
				assert.Zero(t, goroutines())
			})
		})
	}
}
