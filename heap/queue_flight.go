package heap

import (
	"fmt"
	"time"
)

// Ticket names one attempt. An item that is deleted and added again while it is in flight has a ticket for each of its lives,
// so that the end of one is not taken for the end of the other (kubernetes#138316).
type Ticket uint64

// Attempt is what Pop hands out: an item, or a gang with all its members.
type Attempt[K comparable, V any] struct {
	Ticket Ticket
	// Key is the key of the item, or the name of the gang.
	Key K
	// Value and Priority are those of the item; of a gang, the zero V and the highest priority of a member.
	Value    V
	Priority int32
	// Members are those of a gang, by priority and then by arrival. Nil for a single item.
	Members []Spec[K, V]
	// Attempts counts the attempts so far, this one included.
	Attempts int
}

// Refusal says why an attempt failed. The zero Refusal stands for an internal error: the item backs off, by a count of its
// own, and waits for no event.
type Refusal struct {
	// Rules refused the item: an event that may help one of them wakes it, after its back-off.
	Rules RuleSet
	// Pending are rules that put the item off until something happens that is under way: an event that may help one of them
	// wakes it at once.
	Pending RuleSet
}

// flight is the units in flight, from the oldest to the youngest, and the events since the oldest was popped.
type flight[K comparable, V, E any] struct {
	units  Heap[Ticket, *unit[K, V]] // in order of arrival
	events fifo[kept[K, E]]
	last   Ticket
}

// kept is an event, and whom it concerns.
type kept[K comparable, E any] struct {
	event    Event[E]
	any      bool // helps whatever the rules
	targeted bool // at one item
	only     K
}

func (f *flight[K, V, E]) keep(k kept[K, E]) {
	if f.units.Len() > 0 {
		f.events.push(k)
	}
}

func (f *flight[K, V, E]) begin(u *unit[K, V]) {
	f.last++
	u.ticket, u.mark = f.last, f.events.end
	_ = f.units.Push(u.ticket, u) // no ticket is given out twice
}

// end forgets the attempt, and the events that only it had to know.
func (f *flight[K, V, E]) end(u *unit[K, V]) {
	f.units.Remove(u.ticket)
	needed := f.events.end
	if _, oldest, ok := f.units.Peek(); ok {
		needed = oldest.mark
	}
	f.events.discard(needed)
}

// find returns the unit of an attempt.
func (f *flight[K, V, E]) find(t Ticket) (*unit[K, V], error) {
	u, ok := f.units.Get(t)
	if !ok {
		return nil, fmt.Errorf("%w: ticket %d", ErrTicket, t)
	}
	return u, nil
}

// Pop takes the next item or gang to try, and returns false if there is none: the first active one, or else the first that
// backs off after a refusal, since trying it costs nothing that others wait for. Every attempt must be ended with Done or
// Fail.
func (q *Queue[K, V, E]) Pop(now time.Time) (a Attempt[K, V], ok bool) {
	q.tick(now)
	q.flushBackoff()
	u, _, ok := q.active.Pop()
	if !ok {
		u, _, ok = q.backoff.Pop()
	}
	if !ok {
		return a, false
	}
	u.state = InFlight
	u.attempts++
	q.flight.begin(u)
	a = Attempt[K, V]{Ticket: u.ticket, Key: u.name(), Priority: u.priority, Attempts: u.attempts}
	if u.gang != nil {
		a.Members = u.specs()
	} else {
		a.Value = u.members[0].Value
	}
	return a, true
}

// Done ends an attempt: what is left of it leaves the queue for good. It returns ErrTicket if the attempt is over.
func (q *Queue[K, V, E]) Done(t Ticket) error {
	u, err := q.flight.find(t)
	if err != nil {
		return err
	}
	q.flight.end(u)
	for i := range u.members {
		if m := &u.members[i]; !m.deleted {
			delete(q.units, m.Key)
			q.nominees.remove(m.Key)
		}
	}
	if u.gang != nil {
		q.regroup(u, true, immediately)
	} else {
		q.recycle(u)
	}
	return nil
}

// Fail ends an attempt without success: what is left of it enters the queue anew, behind its equals. It returns ErrTicket if
// the attempt is over, and ErrRange for a rule that is not in QueueConfig.Rules.
func (q *Queue[K, V, E]) Fail(t Ticket, why Refusal, now time.Time) error {
	u, err := q.flight.find(t)
	if err != nil {
		return err
	}
	if n := len(q.config.Rules); (why.Rules|why.Pending)>>n != 0 {
		return fmt.Errorf("%w: Refusal %+v names rules beyond the %d that are configured", ErrRange, why, n)
	}
	q.tick(now)
	u.refused, u.pending = why.Rules, why.Pending
	if why == (Refusal{}) {
		u.faults++
	} else {
		u.failures++
		u.faults = 0
	}
	u.entered, u.since, u.flushed, u.backoffKnown = q.enter(), q.now, time.Time{}, false
	s := q.worthOfKept(u)
	q.flight.end(u)
	if u.gang != nil {
		q.regroup(u, false, s)
		return nil
	}
	if u.members[0].deleted {
		q.recycle(u)
		return nil
	}
	q.place(u, s)
	return nil
}

// worthOfKept is worth, for what has happened since the unit was popped.
func (q *Queue[K, V, E]) worthOfKept(u *unit[K, V]) (best strategy) {
	if u.refused|u.pending == 0 {
		return afterBackoff
	}
	for i := u.mark; i < q.flight.events.end && best < immediately; i++ {
		k := q.flight.events.at(i)
		switch {
		case k.targeted && u.member(k.only) == nil:
		case k.any:
			best = max(best, afterBackoff)
		default:
			best = max(best, q.worth(u, k.event, q.listeners(k.event.Kinds)))
		}
	}
	return best
}
