package heap

import (
	stdheap "container/heap"
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// All yields the items in the order in which Pop would return them, and leaves them where they are. The first k items take
// O(k log k). The heap must not change during the iteration.
func (h *Heap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if h.Len() == 0 {
			return
		}
		// The frontier holds the nodes whose parents were yielded: the next item is the least of them.
		f := frontier[K, V]{heap: h, places: []int{root}}
		for len(f.places) > 0 {
			i := f.places[0]
			it := &h.items[h.nodes[i].bucket]
			if !yield(it.key, it.value) {
				return
			}
			stdheap.Pop(&f)
			for c := firstChild(i); c < min(firstChild(i)+arity, len(h.nodes)); c++ {
				stdheap.Push(&f, c)
			}
		}
	}
}

// frontier is a heap of places in a Heap. It is small and short-lived, so the standard library's will do.
type frontier[K comparable, V any] struct {
	heap   *Heap[K, V]
	places []int
}

func (f *frontier[K, V]) Len() int { return len(f.places) }
func (f *frontier[K, V]) Less(i, j int) bool {
	return f.heap.before(f.heap.nodes[f.places[i]], f.heap.nodes[f.places[j]])
}
func (f *frontier[K, V]) Swap(i, j int) { f.places[i], f.places[j] = f.places[j], f.places[i] }
func (f *frontier[K, V]) Push(x any)    { f.places = append(f.places, x.(int)) }
func (f *frontier[K, V]) Pop() any {
	last := f.places[len(f.places)-1]
	f.places = f.places[:len(f.places)-1]
	return last
}

// Meld moves all items of other into h, behind the equals that h has, and leaves other empty. The order of h applies to all.
// It returns ErrExists, and changes neither, if they share a key. With n and m items it takes O(m log n) or O(n + m),
// whichever is less.
func (h *Heap[K, V]) Meld(other *Heap[K, V]) error {
	if h == other {
		return fmt.Errorf("%w: a heap cannot be melded with itself", ErrExists)
	}
	for i := root; i < len(other.nodes); i++ {
		key := other.items[other.nodes[i].bucket].key
		if _, found := h.lookup(key); found {
			return fmt.Errorf("%w: key %v", ErrExists, key)
		}
	}
	if uint64(h.arrivals)+uint64(other.arrivals) > math.MaxUint32 {
		h.renumber()
		other.renumber()
	}
	n, m := h.Len(), other.Len()
	h.reserve(m)
	rebuild := n < m*bits.Len(uint(n))
	for i := root; i < len(other.nodes); i++ {
		from := other.items[other.nodes[i].bucket]
		hash := h.hash(from.key) // the seeds differ
		b, _ := h.find(from.key, hash)
		h.append(from, b, hash, h.arrivals+other.nodes[i].arrival)
		if last := len(h.nodes) - 1; !rebuild {
			h.lift(last, h.nodes[last])
		}
	}
	if rebuild {
		h.heapify()
	}
	h.arrivals += other.arrivals
	other.Clear()
	return nil
}
