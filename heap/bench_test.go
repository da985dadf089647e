package heap

import (
	stdheap "container/heap"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/google/btree"
	"github.com/stretchr/testify/require"
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

// BenchmarkArity is what arity was chosen by: the tree of Heap alone, without an index, for different numbers of children.
func BenchmarkArity(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		for _, d := range []int{2, 3, 4, 8, 16} {
			b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
				rng := splitmix(1)
				t := arityTree{d: d}
				for range n {
					t.push(rng.next() >> 8)
				}
				for b.Loop() {
					t.push(t.pop() + rng.next()>>8)
				}
			})
		}
	}
}

type arityTree struct {
	d        int
	nodes    []node
	arrivals uint32
}

func (t *arityTree) push(rank uint64) {
	for len(t.nodes) < t.d-1 { // so that children begin at a multiple of d
		t.nodes = append(t.nodes, node{})
	}
	t.nodes = append(t.nodes, node{})
	t.lift(len(t.nodes)-1, node{rank: rank, arrival: t.arrivals})
	t.arrivals++
}

func (t *arityTree) lift(i int, n node) {
	for i > t.d-1 {
		p := i/t.d + t.d - 2
		if t.nodes[p].rank <= n.rank {
			break
		}
		t.nodes[i] = t.nodes[p]
		i = p
	}
	t.nodes[i] = n
}

func (t *arityTree) pop() uint64 {
	i := t.d - 1
	rank := t.nodes[i].rank
	last := t.nodes[len(t.nodes)-1]
	t.nodes = t.nodes[:len(t.nodes)-1]
	for {
		first := t.d * (i - t.d + 2)
		if first >= len(t.nodes) {
			break
		}
		least := first + leastNode(t.nodes[first:min(first+t.d, len(t.nodes))])
		t.nodes[i] = t.nodes[least]
		i = least
	}
	if i < len(t.nodes) {
		t.lift(i, last)
	}
	return rank
}

// BenchmarkQueue is the life of items in a queue of n: a cycle pops three, of which one is refused and waits for the event
// that ends the cycle, one fails by error, and one is done and comes again. wake is an event that helps one of n that wait.
func BenchmarkQueue(b *testing.B) {
	now := time.Unix(1000, 0)
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("op=cycle/n=%d", n), func(b *testing.B) {
			q, err := NewQueue(QueueConfig[int, int, int]{Rules: []Rule[int, int]{{Events: 1}}})
			require.NoError(b, err)
			for k := range n {
				require.NoError(b, q.Add(Spec[int, int]{Key: k, Priority: int32(k % 10)}, now))
			}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(100 * time.Millisecond) // so that few back off at a time
				refused, _ := q.Pop(now)
				broken, _ := q.Pop(now)
				done, _ := q.Pop(now)
				_ = q.Fail(refused.Ticket, Refusal{Rules: 1}, now)
				_ = q.Fail(broken.Ticket, Refusal{}, now)
				_ = q.Done(done.Ticket)
				_ = q.Add(Spec[int, int]{Key: done.Key, Priority: done.Priority}, now)
				q.Event(Event[int]{Kinds: 1}, now)
			}
		})
		b.Run(fmt.Sprintf("op=wake/n=%d", n), func(b *testing.B) {
			rules := make([]Rule[int, int], 2)
			for i := range rules {
				rules[i].Events = 1 << i
			}
			q, err := NewQueue(QueueConfig[int, int, int]{Rules: rules})
			require.NoError(b, err)
			for k := range n {
				require.NoError(b, q.Add(Spec[int, int]{Key: k}, now))
			}
			for k := range n { // all wait for rule 0 but one
				a, _ := q.Pop(now)
				require.NoError(b, q.Fail(a.Ticket, Refusal{Rules: 1 << min(1, k/(n-1))}, now))
			}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Minute) // no back-off
				q.Event(Event[int]{Kinds: 2}, now)
				a, ok := q.Pop(now)
				if !ok {
					b.Fatal("nothing was woken")
				}
				_ = q.Fail(a.Ticket, Refusal{Rules: 2}, now)
			}
		})
	}
}
