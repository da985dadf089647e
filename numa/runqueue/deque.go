package runqueue

import (
	"sync"
	"sync/atomic"
)

// deque is a bounded ring with two ends under a lock. The lock is the owner's
// nearly all the time; thieves read size first and come only if there is
// something to take. A lock-free deque would save the owner some nanoseconds
// and forbid taking half in one step, which is what keeps thieves away.
type deque[T any] struct {
	size atomic.Int32
	mu   sync.Mutex
	head int // of the oldest
	ring []T
}

func (d *deque[T]) len() int { return int(d.size.Load()) }

func (d *deque[T]) at(i int) *T { return &d.ring[(d.head+i)%len(d.ring)] }

// push adds the newest, if there is room.
func (d *deque[T]) push(v T) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.len()
	if n == len(d.ring) {
		return false
	}
	*d.at(n) = v
	d.size.Store(int32(n + 1))
	return true
}

// pushAll adds as many as there is room for and returns their number.
func (d *deque[T]) pushAll(vs []T) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.len()
	k := min(len(vs), len(d.ring)-n)
	for i, v := range vs[:k] {
		*d.at(n + i) = v
	}
	d.size.Store(int32(n + k))
	return k
}

// giveBack puts the oldest back where they were; there is room.
func (d *deque[T]) giveBack(vs []T) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.head = (d.head - len(vs) + len(d.ring)) % len(d.ring)
	for i, v := range vs {
		*d.at(i) = v
	}
	d.size.Add(int32(len(vs)))
}

// newest takes the newest.
func (d *deque[T]) newest() (v T, ok bool) {
	if d.len() == 0 {
		return v, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.len()
	if n == 0 {
		return v, false
	}
	var zero T
	p := d.at(n - 1)
	v, *p = *p, zero
	d.size.Store(int32(n - 1))
	return v, true
}

// oldest takes the oldest.
func (d *deque[T]) oldest() (v T, ok bool) {
	var one [1]T
	n := d.takeOldest(one[:], 1)
	return one[0], n == 1
}

// takeOldest moves up to most of the oldest into the slice.
func (d *deque[T]) takeOldest(into []T, most int) int {
	if d.len() == 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.len()
	k := min(most, n)
	var zero T
	for i := range k {
		p := d.at(i)
		into[i], *p = *p, zero
	}
	d.head = (d.head + k) % len(d.ring)
	d.size.Store(int32(n - k))
	return k
}
