package ring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func newRing(t testing.TB, capacity int) *Ring[int] {
	t.Helper()
	r, err := New[int](capacity)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCapacityIsRoundedUp(t *testing.T) {
	for capacity, want := range map[int]int{1: 2, 2: 2, 3: 4, 4: 4, 1000: 1024} {
		if got := newRing(t, capacity).Cap(); got != want {
			t.Errorf("New(%d).Cap() = %d, want %d", capacity, got, want)
		}
	}
	for _, capacity := range []int{0, -1, MaxSize + 1} {
		if _, err := New[int](capacity); !errors.Is(err, ErrSize) {
			t.Errorf("New(%d): %v", capacity, err)
		}
	}
}

// In one goroutine the ring is a queue: every operation does what the model,
// a slice, does.
func TestEqualsAQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r := newRing(t, 1+rng.IntN(20))
		var model []int
		next := 0
		for range 500 {
			switch rng.IntN(4) {
			case 0:
				ok := r.Push(next)
				if ok != (len(model) < r.Cap()) {
					t.Fatalf("Push is %v with %d of %d", ok, len(model), r.Cap())
				}
				if ok {
					model = append(model, next)
				}
				next++
			case 1:
				v, ok := r.Pop()
				if ok != (len(model) > 0) || ok && v != model[0] {
					t.Fatalf("Pop is %d %v, want the first of %v", v, ok, model)
				}
				if ok {
					model = model[1:]
				}
			case 2:
				vs := make([]int, rng.IntN(6))
				for i := range vs {
					vs[i] = next
					next++
				}
				n := r.PushBatch(vs)
				if want := min(len(vs), r.Cap()-len(model)); n != want {
					t.Fatalf("PushBatch took %d of %d, want %d", n, len(vs), want)
				}
				model = append(model, vs[:n]...)
			case 3:
				into := make([]int, rng.IntN(6))
				n := r.PopBatch(into)
				if want := min(len(into), len(model)); n != want {
					t.Fatalf("PopBatch took %d, want %d", n, want)
				}
				for i, v := range into[:n] {
					if v != model[i] {
						t.Fatalf("PopBatch[%d] = %d, want %d", i, v, model[i])
					}
				}
				model = model[n:]
			}
			if r.Len() != len(model) {
				t.Fatalf("Len is %d, want %d", r.Len(), len(model))
			}
		}
	}
}

// Whatever the interleaving: every value comes out once, and the values of
// one producer come out of one consumer in the order in which they went in.
func TestConcurrentUseLosesAndRepeatsNothing(t *testing.T) {
	const producers, consumers, each = 4, 4, 5_000
	for _, batch := range []int{1, 7} {
		t.Run(fmt.Sprint("batch=", batch), func(t *testing.T) {
			r := newRing(t, 64)
			var seen [producers * each]atomic.Int32
			var popped atomic.Int64
			var wg sync.WaitGroup
			for p := range producers {
				wg.Go(func() {
					for i := 0; i < each; {
						n := 0
						if batch == 1 {
							if r.Push(p*each + i) {
								n = 1
							}
						} else {
							vs := make([]int, min(batch, each-i))
							for j := range vs {
								vs[j] = p*each + i + j
							}
							n = r.PushBatch(vs)
						}
						if i += n; n == 0 {
							runtime.Gosched()
						}
					}
				})
			}
			for range consumers {
				wg.Go(func() {
					last := [producers]int{-1, -1, -1, -1}
					into := make([]int, batch)
					for popped.Load() < producers*each {
						n := 0
						if batch == 1 {
							if v, ok := r.Pop(); ok {
								into[0], n = v, 1
							}
						} else {
							n = r.PopBatch(into)
						}
						for _, v := range into[:n] {
							seen[v].Add(1)
							if p := v / each; last[p] >= v {
								t.Errorf("producer %d: %d after %d", p, v, last[p])
							} else {
								last[p] = v
							}
						}
						if popped.Add(int64(n)); n == 0 {
							runtime.Gosched()
						}
					}
				})
			}
			wg.Wait()
			for v := range seen {
				if n := seen[v].Load(); n != 1 {
					t.Fatalf("value %d came out %d times", v, n)
				}
			}
		})
	}
}

func TestPushAndPopDoNotAllocate(t *testing.T) {
	r := newRing(t, 16)
	into := make([]int, 4)
	if n := testing.AllocsPerRun(100, func() {
		r.Push(1)
		r.Pop()
		r.PushBatch(into)
		r.PopBatch(into)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkTransfer moves values from 4 producers to 4 consumers through a
// ring and through a buffered channel of the same capacity; ns/op is per
// value.
func BenchmarkTransfer(b *testing.B) {
	const producers, consumers, capacity = 4, 4, 1024
	// run drives consumers until the producers are done and nothing is left.
	run := func(b *testing.B, produce func(from, to int), pop func() int) {
		var consuming, producing sync.WaitGroup
		var done atomic.Bool
		b.ResetTimer()
		for p := range producers {
			producing.Go(func() { produce(b.N*p/producers, b.N*(p+1)/producers) })
		}
		for range consumers {
			consuming.Go(func() {
				for {
					last := done.Load()
					if pop() > 0 {
						continue
					}
					if last {
						return
					}
					runtime.Gosched()
				}
			})
		}
		producing.Wait()
		done.Store(true)
		consuming.Wait()
	}
	b.Run("ring", func(b *testing.B) {
		r := newRing(b, capacity)
		run(b, func(from, to int) {
			for i := from; i < to; {
				if r.Push(i) {
					i++
				} else {
					runtime.Gosched()
				}
			}
		}, func() int {
			if _, ok := r.Pop(); ok {
				return 1
			}
			return 0
		})
	})
	b.Run("ring-batch", func(b *testing.B) {
		r := newRing(b, capacity)
		run(b, func(from, to int) {
			var batch [32]int
			for i := from; i < to; {
				n := copy(batch[:], batch[:min(32, to-i)])
				for j := range n {
					batch[j] = i + j
				}
				if n = r.PushBatch(batch[:n]); n == 0 {
					runtime.Gosched()
				}
				i += n
			}
		}, func() int {
			var into [32]int
			return r.PopBatch(into[:])
		})
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan int, capacity)
		var consuming, producing sync.WaitGroup
		for p := range producers {
			producing.Go(func() {
				for i := b.N * p / producers; i < b.N*(p+1)/producers; i++ {
					c <- i
				}
			})
		}
		for range consumers {
			consuming.Go(func() {
				for range c {
				}
			})
		}
		producing.Wait()
		close(c)
		consuming.Wait()
	})
}
