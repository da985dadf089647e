package heap

import "time"

// Event is something that happened and may help what waits.
type Event[E any] struct {
	// Kinds are what kinds of event this is; a rule listens if it shares one.
	Kinds EventSet
	// Object is handed to Rule.Helps.
	Object E
}

// waiting holds units that wait for an event, by the set of rules that refused them: there are few sets and many units, so
// an event finds those it may concern without a look at the others.
type waiting[K comparable, V any] struct {
	buckets []*waitingBucket[K, V]
	bySet   map[RuleSet]*waitingBucket[K, V]
	spare   []*waitingBucket[K, V]
	sweep   *Heap[*unit[K, V], *unit[K, V]] // by how long they have waited
}

type waitingBucket[K comparable, V any] struct {
	rules RuleSet
	units []*unit[K, V]
	index int
}

func (w *waiting[K, V]) init(rank func(*unit[K, V]) uint64) {
	w.bySet = map[RuleSet]*waitingBucket[K, V]{}
	w.sweep = New[*unit[K, V]](Order[*unit[K, V]]{Rank: rank, Less: func(a, b *unit[K, V]) bool { return a.entered < b.entered }})
}

func (w *waiting[K, V]) add(u *unit[K, V]) {
	rules := u.refused | u.pending
	b, ok := w.bySet[rules]
	if !ok {
		if last := len(w.spare) - 1; last >= 0 {
			b, w.spare = w.spare[last], w.spare[:last]
		} else {
			b = new(waitingBucket[K, V])
		}
		b.rules, b.index = rules, len(w.buckets)
		w.buckets = append(w.buckets, b)
		w.bySet[rules] = b
	}
	u.bucket, u.index = b, len(b.units)
	b.units = append(b.units, u)
	_ = w.sweep.Push(u, u) // a unit is in one place
}

func (w *waiting[K, V]) remove(u *unit[K, V]) {
	b := u.bucket
	last := b.units[len(b.units)-1]
	b.units[u.index], last.index = last, u.index
	b.units[len(b.units)-1] = nil
	b.units = b.units[:len(b.units)-1]
	if len(b.units) == 0 {
		delete(w.bySet, b.rules)
		end := w.buckets[len(w.buckets)-1]
		w.buckets[b.index], end.index = end, b.index
		w.buckets = w.buckets[:len(w.buckets)-1]
		w.spare = append(w.spare, b)
	}
	u.bucket = nil
	w.sweep.Remove(u)
}

// Event tells the queue what happened. Items that were refused by a rule that the event may help become active, or back off
// first; for items in flight the event is kept until their attempt is over.
func (q *Queue[K, V, E]) Event(e Event[E], now time.Time) {
	q.tick(now)
	listening := q.listeners(e.Kinds)
	if listening == 0 {
		return
	}
	q.woken = q.woken[:0]
	for _, b := range q.waiting.buckets {
		if b.rules&listening != 0 {
			q.woken = append(q.woken, b.units...)
		}
	}
	for i, u := range q.woken {
		q.woken[i] = nil
		if u.gates != 0 && u.gates&listening == 0 {
			continue // the event can't have opened the gate
		}
		if s := q.worth(u, e, listening); s != stay {
			q.wake(u, s)
		}
	}
	q.flight.keep(kept[K, E]{event: e})
}

// wake moves a waiting unit on and reports whether it got away: the gate may hold it back.
func (q *Queue[K, V, E]) wake(u *unit[K, V], s strategy) bool {
	q.leave(u)
	q.place(u, s)
	return u.state == Active || u.state == BackingOff
}

// listeners returns the rules that listen to one of the kinds.
func (q *Queue[K, V, E]) listeners(kinds EventSet) (rules RuleSet) {
	for i := range q.config.Rules {
		if q.config.Rules[i].Events&kinds != 0 {
			rules |= 1 << i
		}
	}
	return rules
}

// worth says what an event is good for: nothing, or to be tried again after back-off, or at once if it helps a rule that had
// put the unit off rather than refused it. One member that is helped is enough.
func (q *Queue[K, V, E]) worth(u *unit[K, V], e Event[E], listening RuleSet) strategy {
	if q.helps(u, e, listening&u.pending) {
		return immediately
	}
	if q.helps(u, e, listening&u.refused) {
		return afterBackoff
	}
	return stay
}

func (q *Queue[K, V, E]) helps(u *unit[K, V], e Event[E], rules RuleSet) bool {
	for i := 0; rules>>i != 0; i++ {
		if rules>>i&1 == 0 {
			continue
		}
		helps := q.config.Rules[i].Helps
		if helps == nil {
			return true
		}
		for m := range u.members {
			if helps(u.members[m].Value, e.Object) {
				return true
			}
		}
	}
	return false
}
