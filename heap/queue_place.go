package heap

import (
	"math"
	"time"
)

// State is where an item is.
type State uint8

// The states of an item; see Queue.
const (
	Gathering State = iota
	Active
	BackingOff
	Unschedulable
	Gated
	InFlight
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"Gathering", "Active", "BackingOff", "Unschedulable", "Gated", "InFlight"}
	if int(s) < len(names) {
		return names[s]
	}
	return "State(?)"
}

// strategy says where a unit should go. A greater one prevails.
type strategy uint8

const (
	stay         strategy = iota // wait for an event
	afterBackoff                 // active, once it has backed off
	immediately                  // active
)

// place puts a unit that is nowhere where it belongs.
func (q *Queue[K, V, E]) place(u *unit[K, V], s strategy) {
	switch {
	case u.gang != nil && !u.gang.complete():
		u.state = Gathering
	case s == stay:
		u.state = Unschedulable
		q.waiting.add(u)
	case q.gated(u):
		u.state = Gated
		q.waiting.add(u)
	case s == afterBackoff && q.backingOff(u):
		u.state = BackingOff
		_ = q.backoffOf(u).Push(u, u) // a unit is in one place
	default:
		q.activate(u)
	}
}

func (q *Queue[K, V, E]) activate(u *unit[K, V]) {
	u.state = Active
	_ = q.active.Push(u, u) // a unit is in one place
}

// leave takes a unit out of where it waits.
func (q *Queue[K, V, E]) leave(u *unit[K, V]) {
	switch u.state {
	case Active:
		q.active.Remove(u)
	case BackingOff:
		q.backoffOf(u).Remove(u)
	case Unschedulable, Gated:
		q.waiting.remove(u)
	}
	u.state = Gathering
}

// gated asks the gate about all members: one that is held back holds the gang back. A gate refuses like any other rule.
func (q *Queue[K, V, E]) gated(u *unit[K, V]) bool {
	u.gates = 0
	if q.config.Gate == nil {
		return false
	}
	for i := range u.members {
		u.gates |= q.config.Gate(u.members[i].Value)
	}
	u.refused |= u.gates
	return u.gates != 0
}

// backoffOf returns where the unit backs off. After an internal error nothing is known that waiting could not make worse, so
// such units don't leave early.
func (q *Queue[K, V, E]) backoffOf(u *unit[K, V]) *Heap[*unit[K, V], *unit[K, V]] {
	if u.refused|u.pending == 0 {
		return q.errors
	}
	return q.backoff
}

// backingOff says whether the back-off of a unit has not ended. What ends within the current window still waits.
func (q *Queue[K, V, E]) backingOff(u *unit[K, V]) bool {
	end, ok := q.backoffEnd(u)
	return ok && !end.Before(q.window(q.now))
}

// backoffEnd returns when the back-off of a unit ends, and false if there is none to observe.
func (q *Queue[K, V, E]) backoffEnd(u *unit[K, V]) (time.Time, bool) {
	count := u.failures
	if u.faults > 0 {
		count = u.faults
	}
	if q.config.MaxBackoff < 0 || count == 0 {
		return time.Time{}, false
	}
	if !u.backoffKnown {
		u.backoffEnd = q.window(u.since.Add(q.backoffFor(u, count)))
		u.backoffKnown = true
	}
	return u.backoffEnd, true
}

func (q *Queue[K, V, E]) backoffFor(u *unit[K, V], count int) time.Duration {
	longest := q.config.MaxBackoff
	if n := len(u.members); n > 1 {
		longest = time.Duration(min(float64(longest)*math.Sqrt(float64(n)), math.MaxInt64/2))
	}
	d := longest
	if shift := count - 1; q.config.InitialBackoff <= longest>>shift {
		d = q.config.InitialBackoff << shift
	}
	if q.config.Jitter != nil {
		d = min(max(q.config.Jitter(u.name(), d), 0), 2*longest)
	}
	return d
}

// name is the key that stands for a unit: that of its gang, or of its only member.
func (u *unit[K, V]) name() K {
	if u.gang != nil {
		return u.gang.name
	}
	return u.members[0].Key
}

func (q *Queue[K, V, E]) window(t time.Time) time.Time {
	return t.Truncate(max(q.config.BackoffWindow, 0))
}

// rankBackoff orders units by the end of their back-off. Times more than 292 years from the first are one.
func (q *Queue[K, V, E]) rankBackoff(u *unit[K, V]) uint64 {
	end, _ := q.backoffEnd(u)
	return Ascending(end.Sub(q.epoch))
}

// beforeInWindow orders units whose back-off ends at the same time as if they were active.
func (q *Queue[K, V, E]) beforeInWindow(a, b *unit[K, V]) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.entered < b.entered
}

// rankSweep orders waiting units by when a sweep would find them.
func (q *Queue[K, V, E]) rankSweep(u *unit[K, V]) uint64 {
	return Ascending(u.waitingSince().Sub(q.epoch))
}

func (u *unit[K, V]) waitingSince() time.Time {
	if u.flushed.After(u.since) {
		return u.flushed
	}
	return u.since
}

// Flush makes active what has backed off, and retries what has waited unschedulable or gated for longer than
// MaxUnschedulable. Call it at the turn of each back-off window or at the time that Next says; Pop does the former by itself.
func (q *Queue[K, V, E]) Flush(now time.Time) {
	q.tick(now)
	q.flushBackoff()
	q.sweep()
}

func (q *Queue[K, V, E]) flushBackoff() {
	for _, h := range [...]*Heap[*unit[K, V], *unit[K, V]]{q.backoff, q.errors} {
		for u, _, ok := h.Peek(); ok && !q.backingOff(u); u, _, ok = h.Peek() {
			h.Pop()
			q.activate(u) // the gate was asked when it began to back off
		}
	}
}

func (q *Queue[K, V, E]) sweep() {
	q.woken = q.woken[:0]
	for u, _, ok := q.waiting.sweep.Peek(); ok && q.now.Sub(u.waitingSince()) > q.config.MaxUnschedulable; u, _, ok = q.waiting.sweep.Peek() {
		q.leave(u)
		u.flushed = q.now
		q.woken = append(q.woken, u)
	}
	for i, u := range q.woken {
		q.woken[i] = nil
		q.place(u, afterBackoff)
	}
	if len(q.woken) > 0 {
		q.flight.keep(kept[K, E]{any: true})
	}
}

// Next returns the first time after now at which Flush would find something to do, and false if it never would.
func (q *Queue[K, V, E]) Next(now time.Time) (next time.Time, ok bool) {
	q.tick(now)
	at := func(t time.Time) {
		if t.Before(q.now) {
			t = q.now
		}
		if !ok || t.Before(next) {
			next, ok = t, true
		}
	}
	for _, h := range [...]*Heap[*unit[K, V], *unit[K, V]]{q.backoff, q.errors} {
		if u, _, found := h.Peek(); found {
			at(u.backoffEnd.Add(max(q.config.BackoffWindow, 1)))
		}
	}
	if u, _, found := q.waiting.sweep.Peek(); found {
		at(u.waitingSince().Add(q.config.MaxUnschedulable + 1))
	}
	return next, ok
}
