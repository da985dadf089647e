package heap

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// arity is the number of children of a node. BenchmarkArity compares 2 to 16: eight children are two cache lines that
	// the processor fetches together, and with eight the inner nodes, which every operation looks at, are few enough to stay
	// in the cache.
	arity = 8
	// root is the place of the first node. The places before it stay empty, which makes firstChild a multiple of arity, and
	// so the children of a node begin where a cache line begins.
	root = arity - 1
)

func firstChild(i int) int { return arity * (i - arity + 2) }

func parent(i int) int { return i/arity + arity - 2 }

// before is the order of the heap: rank, the caller's Less, arrival.
func (h *Heap[K, V]) before(n, m node) bool {
	return n.rank < m.rank || n.rank == m.rank && h.precedes(n, m)
}

// precedes orders nodes of equal rank. Asking by arrival makes one call of Less enough: of two equals the earlier one must not
// be beaten, the later one must win.
func (h *Heap[K, V]) precedes(n, m node) bool {
	if h.order.Less == nil {
		return n.arrival < m.arrival
	}
	vn, vm := h.items[n.bucket].value, h.items[m.bucket].value
	if n.arrival < m.arrival {
		return !h.order.Less(vm, vn)
	}
	return h.order.Less(vn, vm)
}

// restore puts n where it belongs above or below the hole at i.
func (h *Heap[K, V]) restore(i int, n node) {
	if h.lift(i, n) == i {
		h.lower(i, n)
	}
}

// lift puts n where it belongs between the hole at i and the root, and returns the place.
func (h *Heap[K, V]) lift(i int, n node) int {
	for i > root {
		p := parent(i)
		if !h.before(n, h.nodes[p]) {
			break
		}
		h.place(i, h.nodes[p])
		i = p
	}
	h.place(i, n)
	return i
}

// lower puts n where it belongs between the hole at i and the leaves.
func (h *Heap[K, V]) lower(i int, n node) {
	for {
		child := h.leastChild(i)
		if child == 0 || !h.before(h.nodes[child], n) {
			break
		}
		h.place(i, h.nodes[child])
		i = child
	}
	h.place(i, n)
}

// sink moves the hole at i along the least children down to a leaf, and returns the leaf.
func (h *Heap[K, V]) sink(i int) int {
	for {
		child := h.leastChild(i)
		if child == 0 {
			return i
		}
		h.place(i, h.nodes[child])
		i = child
	}
}

func (h *Heap[K, V]) place(i int, n node) {
	h.nodes[i] = n
	h.buckets[n.bucket].at = int32(i)
}

// leastChild returns the place of the least child of the node at i, or 0 if it has none.
func (h *Heap[K, V]) leastChild(i int) int {
	first := firstChild(i)
	if first >= len(h.nodes) {
		return 0
	}
	children := h.nodes[first:min(first+arity, len(h.nodes))]
	if h.order.Less == nil {
		return first + leastNode(children)
	}
	least := 0
	for c := 1; c < len(children); c++ {
		if h.before(children[c], children[least]) {
			least = c
		}
	}
	return first + least
}

// leastNode returns the index of the least node by rank and arrival. It subtracts the pairs as numbers of 128 bits and looks
// at the borrow, and each assignment has an if of its own so that it becomes a conditional move: which child is the least is a
// coin toss to the processor, and a mispredicted branch costs more than all of this.
func leastNode(nodes []node) int {
	least, rank, arrival := 0, nodes[0].rank, nodes[0].arrival
	for i := 1; i < len(nodes); i++ {
		n := &nodes[i]
		_, borrow := bits.Sub64(uint64(n.arrival), uint64(arrival), 0)
		_, borrow = bits.Sub64(n.rank, rank, borrow)
		if borrow != 0 {
			least = i
		}
		if borrow != 0 {
			rank = n.rank
		}
		if borrow != 0 {
			arrival = n.arrival
		}
	}
	return least
}

// heapify restores the order of the whole tree in O(n) (Floyd, "Algorithm 245: Treesort 3", 1964).
func (h *Heap[K, V]) heapify() {
	if h.Len() < 2 {
		return
	}
	for i := parent(len(h.nodes) - 1); i >= root; i-- {
		h.lower(i, h.nodes[i])
	}
}

// renumber packs the arrivals, so that there is room for more. It is due once in 2^32 pushes.
func (h *Heap[K, V]) renumber() {
	byArrival := make([]int, 0, h.Len())
	for i := root; i < len(h.nodes); i++ {
		byArrival = append(byArrival, i)
	}
	slices.SortFunc(byArrival, func(a, b int) int { return cmp.Compare(h.nodes[a].arrival, h.nodes[b].arrival) })
	for arrival, i := range byArrival {
		h.nodes[i].arrival = uint32(arrival)
	}
	h.arrivals = uint32(len(byArrival))
}
