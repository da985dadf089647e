package heap

import (
	"fmt"
	"hash/maphash"
	"math"
)

// Order says which of two values leaves first.
type Order[V any] struct {
	// Rank is computed once for each Push, Update and Fix; the least rank leaves first. Ascending and Descending make ranks of
	// numbers. Nil ranks all values equal.
	Rank func(V) uint64
	// Less decides between values of equal rank; it must be a strict weak order. Nil holds them to be equal. It is called
	// O(log n) times an operation where Rank is called once, so let Rank carry as much of the order as 64 bits can.
	Less func(a, b V) bool
}

// Heap is a priority queue of values that are found by key: the least value leaves first, equal values leave in the order
// in which they came. It is an implicit d-ary heap (Johnson, "Priority queues with update and finding minimum spanning
// trees", 1975) of ranks, which are prefixes of the order as sorting programs use them (Graefe, "Implementing sorting in
// database systems", 2006, section 2.2): comparing two items reads 16 bytes of each and follows no pointer.
//
// The zero value is ready for use and holds all values to be equal: a FIFO queue with access by key. For an order use New.
//
// With n items Push, Update, Fix, Remove and Pop take O(log n), Peek, Get and Len O(1), in expectation over the hash seed.
// None allocates unless the heap grows beyond the most items it ever held. A Heap holds fewer than 2^30 items. It is not
// safe for concurrent use.
type Heap[K comparable, V any] struct {
	order Order[V]

	// nodes is the tree. The children of the node at i are the arity nodes from firstChild(i) on.
	nodes []node
	// arrivals is the arrival of the next item.
	arrivals uint32

	// buckets is the index by key, an open-addressing hash table, and items[b] is what bucket b stands for. They are apart
	// because searches and sifts go through buckets only, which are few bytes for that reason.
	buckets []bucket
	items   []item[K, V]
	shift   uint // of a hash, to get the bucket where a search begins
	seed    maphash.Seed
	secret  uint64 // of seed, for numbers
}

// node is an item as the tree sees it.
type node struct {
	rank    uint64
	arrival uint32
	bucket  int32
}

// New returns an empty heap.
func New[K comparable, V any](order Order[V]) *Heap[K, V] {
	return &Heap[K, V]{order: order}
}

// Len returns the number of items.
func (h *Heap[K, V]) Len() int { return max(len(h.nodes)-root, 0) }

// Push adds a value behind its equals. It returns ErrExists, and changes nothing, if the key is present.
func (h *Heap[K, V]) Push(key K, value V) error {
	h.reserve(1)
	hash := h.hash(key)
	b, found := h.find(key, hash)
	if found {
		return fmt.Errorf("%w: key %v", ErrExists, key)
	}
	if h.arrivals == math.MaxUint32 {
		h.renumber()
	}
	h.append(item[K, V]{key, value}, b, hash, h.arrivals)
	h.arrivals++
	last := len(h.nodes) - 1
	h.lift(last, h.nodes[last])
	return nil
}

// append adds an item, in the empty bucket b, without restoring the order.
func (h *Heap[K, V]) append(it item[K, V], b int, hash, arrival uint32) {
	if len(h.nodes) == 0 {
		h.nodes = append(h.nodes, make([]node, root)...)
	}
	h.buckets[b] = bucket{hash: hash, at: int32(len(h.nodes))}
	h.items[b] = it
	h.nodes = append(h.nodes, node{rank: h.rank(it.value), arrival: arrival, bucket: int32(b)})
}

// Peek returns the item that Pop would return, and false if there is none.
func (h *Heap[K, V]) Peek() (key K, value V, ok bool) {
	if h.Len() == 0 {
		return key, value, false
	}
	it := &h.items[h.nodes[root].bucket]
	return it.key, it.value, true
}

// Pop removes the least item and returns it, and false if there is none.
func (h *Heap[K, V]) Pop() (key K, value V, ok bool) {
	if h.Len() == 0 {
		return key, value, false
	}
	b := int(h.nodes[root].bucket)
	key, value = h.items[b].key, h.items[b].value
	last := h.cut()
	if h.Len() > 0 {
		// The last leaf is rarely small: sinking the hole to the bottom first and then lifting the leaf into place saves a
		// comparison a level (Wegener, "Bottom-up heapsort", 1993).
		h.lift(h.sink(root), last)
	}
	h.vacate(b)
	return key, value, true
}

// Get returns the value of a key, and false if the key is not present.
func (h *Heap[K, V]) Get(key K) (value V, ok bool) {
	b, found := h.lookup(key)
	if !found {
		return value, false
	}
	return h.items[b].value, true
}

// Update replaces the value of a key and returns false if the key is not present. The item keeps its arrival: among equals
// it stands where it would stand had it been pushed with this value. To send it behind its equals Remove and Push it.
func (h *Heap[K, V]) Update(key K, value V) bool {
	b, found := h.lookup(key)
	if !found {
		return false
	}
	h.items[b].value = value
	h.rerank(b)
	return true
}

// Fix restores the order after the caller changed what the value of the key points to, and returns false if the key is not
// present. If Less looks at what was changed, only one value may be out of order at a time.
func (h *Heap[K, V]) Fix(key K) bool {
	b, found := h.lookup(key)
	if found {
		h.rerank(b)
	}
	return found
}

// Remove removes a key and returns its value, and false if the key is not present.
func (h *Heap[K, V]) Remove(key K) (value V, ok bool) {
	b, found := h.lookup(key)
	if !found {
		return value, false
	}
	value = h.items[b].value
	i := int(h.buckets[b].at)
	if last := h.cut(); i < len(h.nodes) {
		h.restore(i, last)
	}
	h.vacate(b)
	return value, true
}

// Clear removes all items and keeps the memory for those to come.
func (h *Heap[K, V]) Clear() {
	clear(h.buckets)
	clear(h.items)
	h.nodes = h.nodes[:0]
	h.arrivals = 0
}

func (h *Heap[K, V]) rank(value V) uint64 {
	if h.order.Rank == nil {
		return 0
	}
	return h.order.Rank(value)
}

// rerank moves the item of a bucket to where its value now belongs.
func (h *Heap[K, V]) rerank(b int) {
	i := int(h.buckets[b].at)
	rank := h.rank(h.items[b].value)
	if firstChild(i) >= len(h.nodes) && i > root && h.nodes[parent(i)].rank < rank {
		// A leaf that stays, as most do. Its parent is in the cache more often than not, the leaf is not: writing a word without
		// reading anything lets the processor go on.
		h.nodes[i].rank = rank
		return
	}
	n := h.nodes[i]
	n.rank = rank
	h.restore(i, n)
}

// cut takes the last node off the tree.
func (h *Heap[K, V]) cut() node {
	last := h.nodes[len(h.nodes)-1]
	h.nodes = h.nodes[:len(h.nodes)-1]
	return last
}
