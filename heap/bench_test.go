package heap

import (
	stdheap "container/heap"
	"fmt"
	"math/bits"
	"testing"

	"github.com/google/btree"
)

// queue is what the compared containers have in common: a priority queue of float64 weights, stable, found by key.
type queue interface {
	push(key uint64, weight float64)
	pop() (key uint64, weight float64)
	update(key uint64, weight float64)
	remove(key uint64)
}

type ourQueue struct{ *Heap[uint64, float64] }

func (q ourQueue) push(key uint64, weight float64)   { _ = q.Push(key, weight) }
func (q ourQueue) pop() (uint64, float64)            { k, w, _ := q.Pop(); return k, w }
func (q ourQueue) update(key uint64, weight float64) { q.Update(key, weight) }
func (q ourQueue) remove(key uint64)                 { q.Remove(key) }

type stdItem struct {
	key    uint64
	weight float64
	seq    uint64
	index  int
}

// stdSlice is the priority queue of container/heap's documentation, with a sequence number for stability.
type stdSlice []*stdItem

func (s stdSlice) Len() int { return len(s) }
func (s stdSlice) Less(i, j int) bool {
	if s[i].weight != s[j].weight {
		return s[i].weight < s[j].weight
	}
	return s[i].seq < s[j].seq
}
func (s stdSlice) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}
func (s *stdSlice) Push(x any) {
	it := x.(*stdItem)
	it.index = len(*s)
	*s = append(*s, it)
}
func (s *stdSlice) Pop() any {
	n := len(*s) - 1
	it := (*s)[n]
	(*s)[n] = nil
	*s = (*s)[:n]
	return it
}

type stdQueue struct {
	s     stdSlice
	byKey map[uint64]*stdItem
	seq   uint64
}

func (q *stdQueue) push(key uint64, weight float64) {
	it := &stdItem{key: key, weight: weight, seq: q.seq}
	q.seq++
	q.byKey[key] = it
	stdheap.Push(&q.s, it)
}
func (q *stdQueue) pop() (uint64, float64) {
	it := stdheap.Pop(&q.s).(*stdItem)
	delete(q.byKey, it.key)
	return it.key, it.weight
}
func (q *stdQueue) update(key uint64, weight float64) {
	it := q.byKey[key]
	it.weight = weight
	stdheap.Fix(&q.s, it.index)
}
func (q *stdQueue) remove(key uint64) {
	it := q.byKey[key]
	delete(q.byKey, key)
	stdheap.Remove(&q.s, it.index)
}

// plainQueue is container/heap without an index by key: the least that a program can pay for it. It knows push and pop only.
type plainQueue struct {
	s   stdSlice
	seq uint64
}

func (q *plainQueue) push(key uint64, weight float64) {
	stdheap.Push(&q.s, &stdItem{key: key, weight: weight, seq: q.seq})
	q.seq++
}
func (q *plainQueue) pop() (uint64, float64) {
	it := stdheap.Pop(&q.s).(*stdItem)
	return it.key, it.weight
}
func (q *plainQueue) update(uint64, float64) {}
func (q *plainQueue) remove(uint64)          {}

type treeItem struct {
	weight   float64
	seq, key uint64
}

type treeQueue struct {
	t     *btree.BTreeG[treeItem]
	byKey map[uint64]treeItem
	seq   uint64
}

func newTreeQueue() *treeQueue {
	less := func(a, b treeItem) bool {
		if a.weight != b.weight {
			return a.weight < b.weight
		}
		return a.seq < b.seq
	}
	return &treeQueue{t: btree.NewG(32, less), byKey: map[uint64]treeItem{}}
}
func (q *treeQueue) push(key uint64, weight float64) {
	it := treeItem{weight, q.seq, key}
	q.seq++
	q.byKey[key] = it
	q.t.ReplaceOrInsert(it)
}
func (q *treeQueue) pop() (uint64, float64) {
	it, _ := q.t.DeleteMin()
	delete(q.byKey, it.key)
	return it.key, it.weight
}
func (q *treeQueue) update(key uint64, weight float64) {
	it := q.byKey[key]
	q.t.Delete(it)
	it.weight = weight
	q.byKey[key] = it
	q.t.ReplaceOrInsert(it)
}
func (q *treeQueue) remove(key uint64) {
	q.t.Delete(q.byKey[key])
	delete(q.byKey, key)
}

var queues = []struct {
	name string
	make func() queue
}{
	{"berth", func() queue { return ourQueue{New[uint64](Order[float64]{Rank: Ascending[float64]})} }},
	{"container-heap", func() queue { return &stdQueue{byKey: map[uint64]*stdItem{}} }},
	{"container-heap-unkeyed", func() queue { return &plainQueue{} }},
	{"btree", func() queue { return newTreeQueue() }},
}

// BenchmarkHeap compares keyed, stable priority queues that hold n items throughout. push+pop is the hold model (Jones, "An
// empirical comparison of priority-queue implementations", 1986): pop the least, push an item with a new random weight.
// update draws a new random weight for a random key; remove takes a random key out and puts it back in; mixed does one of
// the three at random.
func BenchmarkHeap(b *testing.B) {
	for _, q := range queues {
		for _, op := range []string{"push+pop", "update", "remove", "mixed"} {
			if q.name == "container-heap-unkeyed" && op != "push+pop" {
				continue
			}
			for _, n := range []int{1_000, 100_000, 10_000_000} {
				b.Run(fmt.Sprintf("impl=%s/op=%s/n=%d", q.name, op, n), func(b *testing.B) {
					if n > 1_000_000 && testing.Short() {
						b.Skip("10M items take gigabytes and a minute; run without -short")
					}
					benchmarkQueue(b, q.make(), op, n)
				})
			}
		}
	}
}

func benchmarkQueue(b *testing.B, q queue, op string, n int) {
	rng := splitmix(1)
	for k := range uint64(n) {
		q.push(k, rng.weight())
	}
	ops := map[string]uint64{"push+pop": 0, "update": 1, "remove": 2}
	fixed, isFixed := ops[op]
	b.ReportAllocs()
	for b.Loop() {
		kind := fixed
		if !isFixed {
			kind = rng.below(3)
		}
		switch kind {
		case 0:
			k, w := q.pop()
			q.push(k, w+rng.weight())
		case 1:
			q.update(rng.below(uint64(n)), rng.weight())
		default:
			k := rng.below(uint64(n))
			q.remove(k)
			q.push(k, rng.weight())
		}
	}
}

func (s *splitmix) weight() float64 { return float64(s.next()>>11) / (1 << 53) }

func (s *splitmix) below(n uint64) uint64 {
	hi, _ := bits.Mul64(s.next(), n)
	return hi
}
