package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/berth-go/berth/heap"
)

// prioritised is what both heaps hold: client-go's wants keys to be strings, so berth's has strings too.
type prioritised struct {
	key    string
	weight float64
}

type keyed interface {
	push(p prioritised)
	pop() prioritised
	update(p prioritised)
	remove(key string)
}

type berthHeap struct{ *heap.Heap[string, float64] }

func (h berthHeap) push(p prioritised) { _ = h.Push(p.key, p.weight) }

func (h berthHeap) pop() prioritised {
	key, weight, _ := h.Pop()
	return prioritised{key, weight}
}

func (h berthHeap) update(p prioritised) { h.Update(p.key, p.weight) }

func (h berthHeap) remove(key string) { h.Remove(key) }

type clientGoHeap struct{ *cache.Heap }

func (h clientGoHeap) push(p prioritised) { _ = h.Add(&p) }

func (h clientGoHeap) pop() prioritised {
	p, _ := h.Pop()
	return *p.(*prioritised)
}

func (h clientGoHeap) update(p prioritised) { _ = h.Update(&p) }

func (h clientGoHeap) remove(key string) { _ = h.Delete(&prioritised{key: key}) }

// BenchmarkHeap is the row of client-go's heap in the table of package heap, and beside it berth's with keys of the same type.
// What is measured is described there; client-go's heap takes a lock for each operation, and is not stable.
func BenchmarkHeap(b *testing.B) {
	for _, impl := range []struct {
		name string
		make func() keyed
	}{
		{"berth", func() keyed {
			return berthHeap{heap.New[string](heap.Order[float64]{Rank: heap.Ascending[float64]})}
		}},
		{"client-go", func() keyed {
			return clientGoHeap{cache.NewHeap(
				func(o any) (string, error) { return o.(*prioritised).key, nil },
				func(a, b any) bool { return a.(*prioritised).weight < b.(*prioritised).weight },
			)}
		}},
	} {
		for _, op := range []string{"push+pop", "update", "remove", "mixed"} {
			for _, n := range []int{1_000, 100_000, 10_000_000} {
				b.Run(fmt.Sprintf("impl=%s/op=%s/n=%d", impl.name, op, n), func(b *testing.B) {
					if n > 1_000_000 && testing.Short() {
						b.Skip("10M items take gigabytes and a minute; run without -short")
					}
					benchmarkKeyed(b, impl.make(), op, n)
				})
			}
		}
	}
}

func benchmarkKeyed(b *testing.B, h keyed, op string, n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint("pod-", i)
		h.push(prioritised{keys[i], rng.Float64()})
	}
	b.ReportAllocs()
	for b.Loop() {
		kind := op
		if op == "mixed" {
			kind = [...]string{"push+pop", "update", "remove"}[rng.IntN(3)]
		}
		key := keys[rng.IntN(n)]
		switch kind {
		case "push+pop":
			p := h.pop()
			p.weight += rng.Float64()
			h.push(p)
		case "update":
			h.update(prioritised{key, rng.Float64()})
		default:
			h.remove(key)
			h.push(prioritised{key, rng.Float64()})
		}
	}
}
