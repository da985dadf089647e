package cache

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/berth-go/berth"
)

// wheel is a hierarchical timing wheel (G. Varghese and A. Lauck, Hashed and Hierarchical Timing Wheels, SOSP 1987, scheme 7):
// level l has 64 slots of 64^l nanoseconds each. A timer lies in the level of the highest digit, to base 64, in which its
// deadline differs from the present, and moves down as the present comes nearer: adding and removing is O(1), and a timer is moved at
// most 11 times. A word for each level says which slots are in use, so that idle time costs nothing. The present is what
// the caller last said; until then all deadlines are to come.
type wheel struct {
	mu     sync.Mutex
	now    uint64
	used   [levels]uint64
	slots  [levels][64]*timer
	timers int
}

const levels = 11 // of 6 bits each, which is more than 64

// timer is a deadline of a pod, in the list of its slot while it waits.
type timer struct {
	key         berth.PodKey
	deadline    time.Time
	when        uint64
	prev, next  *timer
	level, slot uint8
	waits       bool
}

// ticks maps times to numbers in the same order; what is too early or too late for nanoseconds counts as earliest or latest.
func ticks(t time.Time) uint64 {
	ns := t.UnixNano()
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		ns = math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		ns = math.MaxInt64
	}
	return uint64(ns) ^ 1<<63
}

func (w *wheel) add(key berth.PodKey, deadline time.Time) *timer {
	t := &timer{key: key, deadline: deadline, when: ticks(deadline)}
	w.mu.Lock()
	w.insert(t)
	w.mu.Unlock()
	return t
}

// remove takes a timer out, if it is not nil and still waits.
func (w *wheel) remove(t *timer) {
	if t == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.waits {
		w.unlink(t)
	}
}

// advance moves the present to now, unless it is there already, and returns the timers whose deadline has come, by deadline
// and key. O(those and the timers that move down).
func (w *wheel) advance(now time.Time) []*timer {
	end := ticks(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	var due []*timer
	for w.timers > 0 {
		level, slot, start := w.first()
		if start > end {
			break
		}
		w.now = max(w.now, start)
		for t := w.slots[level][slot]; t != nil; t = w.slots[level][slot] {
			w.unlink(t)
			if t.when <= w.now {
				due = append(due, t)
			} else {
				w.insert(t)
			}
		}
	}
	w.now = max(w.now, end)
	slices.SortFunc(due, func(a, b *timer) int { return cmp.Or(cmp.Compare(a.when, b.when), a.key.Compare(b.key)) })
	return due
}

// first returns the slot in use that begins first. It is in the lowest level in use, for all timers of a level are due
// before those of the next.
func (w *wheel) first() (level int, slot uint, start uint64) {
	for w.used[level] == 0 {
		level++
	}
	slot = uint(bits.TrailingZeros64(w.used[level]))
	shift := 6 * level
	start = uint64(slot) << shift
	if shift+6 < 64 {
		start |= w.now >> (shift + 6) << (shift + 6)
	}
	return level, slot, start
}

func (w *wheel) insert(t *timer) {
	when := max(t.when, w.now)
	level := 0
	if differ := when ^ w.now; differ != 0 {
		level = (63 - bits.LeadingZeros64(differ)) / 6
	}
	t.level, t.slot, t.waits = uint8(level), uint8(when>>(6*level)&63), true
	head := &w.slots[level][t.slot]
	t.prev, t.next = nil, *head
	if t.next != nil {
		t.next.prev = t
	}
	*head = t
	w.used[level] |= 1 << t.slot
	w.timers++
}

func (w *wheel) unlink(t *timer) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		w.slots[t.level][t.slot] = t.next
		if t.next == nil {
			w.used[t.level] &^= 1 << t.slot
		}
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.waits = nil, nil, false
	w.timers--
}

// Advance says what time it is, and gives up the assumed pods whose deadline has come, which it returns by deadline and
// key. Time does not go back: an earlier time than before does nothing. O(those pods).
func (c *Cache) Advance(now time.Time) []berth.PodKey {
	var expired []berth.PodKey
	for _, t := range c.wheel.advance(now) {
		err := c.withPod(t.key, "", func(w *podWork) (Event, error) {
			if w.old == nil || w.old.timer != t { // confirmed or gone meanwhile
				return Event{}, errNothing
			}
			w.leave()
			return Event{Kind: PodExpired, Key: t.key}, nil
		})
		if err == nil {
			expired = append(expired, t.key)
		}
	}
	return expired
}
