package heap

import stdheap "container/heap"

// adapterArity is less than arity: here every comparison is a call, and four children need the fewest a level.
const adapterArity = 4

// Adapter runs a d-ary heap on the slice behind a container/heap Interface, for callers who have one: it is half as deep as
// the binary heap of the standard library, so that Push and Fix compare and swap half as often. Use the methods in place of
// the functions of container/heap, never both: the two arrange the slice differently.
//
// Equal items leave in no particular order, as with container/heap. All methods take O(log n).
type Adapter struct {
	items stdheap.Interface
}

// Adapt arranges the items in O(n) and returns the Adapter.
func Adapt(items stdheap.Interface) Adapter {
	a := Adapter{items}
	for i := (items.Len() - 2) / adapterArity; i >= 0; i-- {
		a.down(i, items.Len())
	}
	return a
}

// Push adds x.
func (a Adapter) Push(x any) {
	a.items.Push(x)
	a.up(a.items.Len() - 1)
}

// Pop removes the least item and returns it. Like that of container/heap it must not be called on an empty heap.
func (a Adapter) Pop() any { return a.Remove(0) }

// Fix restores the order after the item at index i has changed.
func (a Adapter) Fix(i int) {
	if !a.up(i) {
		a.down(i, a.items.Len())
	}
}

// Remove removes the item at index i and returns it.
func (a Adapter) Remove(i int) any {
	last := a.items.Len() - 1
	if i != last {
		a.items.Swap(i, last)
		if !a.up(i) {
			a.down(i, last)
		}
	}
	return a.items.Pop()
}

func (a Adapter) up(i int) (moved bool) {
	for i > 0 {
		parent := (i - 1) / adapterArity
		if !a.items.Less(i, parent) {
			break
		}
		a.items.Swap(i, parent)
		i, moved = parent, true
	}
	return moved
}

// down looks at the first n items only: Remove parks what it removes behind them.
func (a Adapter) down(i, n int) {
	for {
		first := adapterArity*i + 1
		if first >= n {
			return
		}
		least := first
		for c := first + 1; c < min(first+adapterArity, n); c++ {
			if a.items.Less(c, least) {
				least = c
			}
		}
		if !a.items.Less(least, i) {
			return
		}
		a.items.Swap(i, least)
		i = least
	}
}
