package ring

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
)

// ErrSize is the error of New for a capacity that is out of range.
var ErrSize = errors.New("ring: capacity out of range")

// MaxSize is the largest capacity.
const MaxSize = 1 << 30

// line is the size of a cache line, and of a pair where the processor fetches
// two at a time.
const line = 128

// Ring is a bounded queue. All methods are safe for concurrent use. Make one
// with New; a Ring must not be copied.
type Ring[T any] struct {
	cells []cell[T]
	mask  uint64

	_    [line]byte
	tail atomic.Uint64 // the next push
	_    [line]byte
	head atomic.Uint64 // the next pop
	_    [line]byte
}

// cell holds one value. turn counts rounds: at position p it is p when the
// cell is free for the push at p, p+1 when it holds that push's value, and
// p + capacity after the pop.
type cell[T any] struct {
	turn  atomic.Uint64
	value T
	_     [line / 2]byte
}

// New returns an empty ring of at least the given capacity, rounded up to a
// power of two; 2 at least.
func New[T any](capacity int) (*Ring[T], error) {
	if capacity < 1 || capacity > MaxSize {
		return nil, fmt.Errorf("%w: %d is outside 1..%d", ErrSize, capacity, MaxSize)
	}
	n := 1 << bits.Len(uint(max(capacity, 2)-1))
	r := &Ring[T]{cells: make([]cell[T], n), mask: uint64(n - 1)}
	for i := range r.cells {
		r.cells[i].turn.Store(uint64(i))
	}
	return r, nil
}

// Cap returns the capacity.
func (r *Ring[T]) Cap() int { return len(r.cells) }

// Len returns the number of values, exact only while nobody pushes or pops.
func (r *Ring[T]) Len() int {
	head := r.head.Load()
	return int(min(r.tail.Load()-head, uint64(len(r.cells))))
}

// Push adds a value, or returns false if the ring is full. O(1).
func (r *Ring[T]) Push(v T) bool {
	for {
		pos := r.tail.Load()
		c := &r.cells[pos&r.mask]
		switch turn := c.turn.Load(); {
		case turn == pos:
			if r.tail.CompareAndSwap(pos, pos+1) {
				c.value = v
				c.turn.Store(pos + 1)
				return true
			}
		case int64(turn-pos) < 0:
			return false // the value of a round ago is still there
		}
		// Another push took the position; look again.
	}
}

// Pop takes the oldest value, or returns false if the ring is empty. O(1).
func (r *Ring[T]) Pop() (v T, ok bool) {
	for {
		pos := r.head.Load()
		c := &r.cells[pos&r.mask]
		switch turn := c.turn.Load(); {
		case turn == pos+1:
			if r.head.CompareAndSwap(pos, pos+1) {
				return r.empty(c, pos), true
			}
		case int64(turn-(pos+1)) < 0:
			return v, false
		}
	}
}

// empty takes the value out of a cell that the caller has claimed.
func (r *Ring[T]) empty(c *cell[T], pos uint64) T {
	var zero T
	v := c.value
	c.value = zero // for the garbage collector
	c.turn.Store(pos + uint64(len(r.cells)))
	return v
}

// PushBatch adds the longest prefix of vs that fits in a row and returns its
// length. The values stay together. O(length).
func (r *Ring[T]) PushBatch(vs []T) int {
	for {
		pos := r.tail.Load()
		n := uint64(0)
		for n < uint64(len(vs)) && n < uint64(len(r.cells)) && r.cells[(pos+n)&r.mask].turn.Load() == pos+n {
			n++
		}
		if n == 0 {
			if len(vs) == 0 || int64(r.cells[pos&r.mask].turn.Load()-pos) < 0 {
				return 0
			}
			continue
		}
		if !r.tail.CompareAndSwap(pos, pos+n) {
			continue
		}
		for i := range n {
			c := &r.cells[(pos+i)&r.mask]
			c.value = vs[i]
			c.turn.Store(pos + i + 1)
		}
		return int(n)
	}
}

// PopBatch takes up to len(into) of the oldest values, all that are ready in
// a row, and returns their number, 0 if the ring is empty. O(number).
func (r *Ring[T]) PopBatch(into []T) int {
	for {
		pos := r.head.Load()
		n := uint64(0)
		for n < uint64(len(into)) && n < uint64(len(r.cells)) && r.cells[(pos+n)&r.mask].turn.Load() == pos+n+1 {
			n++
		}
		if n == 0 {
			if len(into) == 0 || int64(r.cells[pos&r.mask].turn.Load()-(pos+1)) < 0 {
				return 0
			}
			continue
		}
		if !r.head.CompareAndSwap(pos, pos+n) {
			continue
		}
		for i := range n {
			into[i] = r.empty(&r.cells[(pos+i)&r.mask], pos+i)
		}
		return int(n)
	}
}
