package heap

import (
	"fmt"
	"math"
	"time"
)

// RuleSet is a set of up to 64 scheduling rules: bit i stands for QueueConfig.Rules[i].
type RuleSet uint64

// EventSet is a set of up to 64 kinds of events. What each bit stands for is up to the caller.
type EventSet uint64

// Rule says which events may help what the rule has refused.
type Rule[V, E any] struct {
	// Events are the kinds of events that may turn a refusal into a pass.
	Events EventSet
	// Helps says whether an event of these kinds may help this value; nil means that it always may. It must say true when in
	// doubt: an item that is not woken waits for the next sweep.
	Helps func(value V, event E) bool
}

// QueueConfig is what a Queue needs to know. The zero value has no rules, so that no event wakes anything.
type QueueConfig[K comparable, V, E any] struct {
	// Rules are the rules that may refuse an item, 64 at most.
	Rules []Rule[V, E]
	// Gate returns the rules that keep a value from being tried at all; an item is active only if it returns none. It is
	// asked each time before an item becomes active or begins to back off. Nil gates nothing.
	Gate func(value V) RuleSet
	// InitialBackoff is how long an item waits after its first failure; each further one doubles that. 0 means 1 s.
	InitialBackoff time.Duration
	// MaxBackoff bounds the doubling; a gang of n members may wait sqrt(n) times as long. 0 means 10 s, negative no back-off.
	MaxBackoff time.Duration
	// BackoffWindow is the grain of back-off: the end is cut to a whole window, and what ends within the current window
	// still waits, so that a window leaves together, ordered by priority. 0 means 1 s, negative none.
	BackoffWindow time.Duration
	// MaxUnschedulable is how long a refused item waits for an event before a sweep retries it. 0 means 5 minutes.
	MaxUnschedulable time.Duration
	// Jitter, if not nil, changes each back-off before it is cut; what it returns is cut to [0, 2*MaxBackoff].
	Jitter func(key K, backoff time.Duration) time.Duration
}

// Spec is an item as the caller hands it in.
type Spec[K comparable, V any] struct {
	Key      K
	Value    V
	Priority int32
	// Gang names the group that is tried as one; the zero K means none.
	Gang K
}

// Queue is the order in which a scheduler tries what waits. It behaves as the scheduling queue of kube-scheduler v1.37
// (pkg/scheduler/backend/queue) unless the documentation says otherwise. An item is
//
//   - active: popped by priority, then by when it entered; a failed item enters anew, behind its equals;
//   - backing off after a failure: popped only when nothing is active, and never early after an internal error;
//   - unschedulable: refused by rules, waiting for an event that helps or for a sweep;
//   - gated: kept from being tried, until an event for the gating rules finds the gate open;
//   - gathering: member of a gang that is not declared or not complete; a gang becomes active together and is tried as one;
//   - in flight: popped and being tried. Events that arrive meanwhile are kept: if the attempt fails they count as if they
//     had come after it.
//
// Event wakes exactly the items that were refused by a rule that the event may help. Each takes the now of the caller; time
// never goes back, a now before an earlier one counts as that. With n items Add, Update, Delete, Pop, Fail and Done take
// O(log n) (in a gang of m members, plus O(m)), Event O(rules + waiting items refused by a rule that listens). In flight
// items make Event keep what happened, and Fail read what was kept since Pop.
//
// Use NewQueue. It is not safe for concurrent use: see Blocking.
type Queue[K comparable, V, E any] struct {
	config QueueConfig[K, V, E]
	units  map[K]*unit[K, V]
	gangs  map[K]*gang[K, V]
	spare  []*unit[K, V]

	active   *Heap[*unit[K, V], *unit[K, V]]
	backoff  *Heap[*unit[K, V], *unit[K, V]]
	errors   *Heap[*unit[K, V], *unit[K, V]] // back-off after internal errors
	waiting  waiting[K, V]
	flight   flight[K, V, E]
	nominees nominations[K]

	now, epoch time.Time
	entries    uint64
	woken      []*unit[K, V] // scratch of Event
}

// unit is what is queued: one item or a gang.
type unit[K comparable, V any] struct {
	members  []member[K, V]
	gang     *gang[K, V] // nil for a single item
	state    State
	priority int32
	entered  uint64    // orders units of equal priority
	since    time.Time // when it entered
	flushed  time.Time // when a sweep last retried it

	refused, pending, gates RuleSet
	attempts                int
	failures, faults        int // in a row: refusals, internal errors
	backoffEnd              time.Time
	backoffKnown            bool

	bucket *waitingBucket[K, V]
	index  int // in the bucket

	ticket Ticket
	mark   uint64 // the first kept event after Pop
}

type member[K comparable, V any] struct {
	Spec[K, V]
	entered uint64
	deleted bool // while in flight
}

// NewQueue returns an empty queue. It returns ErrConfig for more than 64 rules, a negative InitialBackoff or
// MaxUnschedulable, or an InitialBackoff above MaxBackoff.
func NewQueue[K comparable, V, E any](config QueueConfig[K, V, E]) (*Queue[K, V, E], error) {
	if len(config.Rules) > 64 {
		return nil, fmt.Errorf("%w: %d Rules, at most 64", ErrConfig, len(config.Rules))
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"InitialBackoff", &config.InitialBackoff, time.Second},
		{"MaxBackoff", &config.MaxBackoff, 10 * time.Second},
		{"BackoffWindow", &config.BackoffWindow, time.Second},
		{"MaxUnschedulable", &config.MaxUnschedulable, 5 * time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 0 && (d.name == "InitialBackoff" || d.name == "MaxUnschedulable") {
			return nil, fmt.Errorf("%w: %s %v is negative", ErrConfig, d.name, *d.value)
		}
	}
	if config.MaxBackoff > 0 && config.InitialBackoff > config.MaxBackoff {
		return nil, fmt.Errorf("%w: InitialBackoff %v is above MaxBackoff %v", ErrConfig, config.InitialBackoff, config.MaxBackoff)
	}
	q := &Queue[K, V, E]{config: config, units: map[K]*unit[K, V]{}, gangs: map[K]*gang[K, V]{}}
	first := func(a, b *unit[K, V]) bool { return a.entered < b.entered }
	q.active = New[*unit[K, V]](Order[*unit[K, V]]{
		Rank: func(u *unit[K, V]) uint64 { return Descending(u.priority) },
		Less: first,
	})
	q.backoff = New[*unit[K, V]](Order[*unit[K, V]]{Rank: q.rankBackoff, Less: q.beforeInWindow})
	q.errors = New[*unit[K, V]](Order[*unit[K, V]]{Rank: q.rankBackoff, Less: first})
	q.waiting.init(q.rankSweep)
	return q, nil
}

// Len returns the number of items, those in flight included.
func (q *Queue[K, V, E]) Len() int { return len(q.units) }

// Add puts a new item into the queue: active, or gated, or gathering with its gang. It returns ErrExists if the key is
// present, unless it was deleted while in flight: then this is a new item of the same name.
func (q *Queue[K, V, E]) Add(spec Spec[K, V], now time.Time) error {
	if _, ok := q.units[spec.Key]; ok {
		return fmt.Errorf("%w: key %v", ErrExists, spec.Key)
	}
	q.tick(now)
	m := member[K, V]{Spec: spec, entered: q.enter()}
	if spec.Gang != *new(K) {
		q.join(m)
		return nil
	}
	u := q.newUnit(m)
	q.units[spec.Key] = u
	q.place(u, immediately)
	return nil
}

// Update replaces value and priority of an item; the Gang of the spec is ignored. events say what has changed, in terms of
// Rule.Events: they may wake this item, and no other. An item that is in flight is updated in place, and the events count
// when its attempt fails. It returns ErrNotFound if the key is not present.
func (q *Queue[K, V, E]) Update(spec Spec[K, V], now time.Time, events ...Event[E]) error {
	u, ok := q.units[spec.Key]
	if !ok {
		return fmt.Errorf("%w: key %v", ErrNotFound, spec.Key)
	}
	q.tick(now)
	m := u.member(spec.Key)
	if m == nil {
		m = u.gang.lateMember(spec.Key)
	}
	m.Value, m.Priority = spec.Value, spec.Priority
	u.setPriority()
	switch u.state {
	case InFlight:
		for _, e := range events {
			q.flight.keep(kept[K, E]{event: e, only: spec.Key, targeted: true})
		}
	case Active:
		q.active.Fix(u)
	case BackingOff:
		q.backoffOf(u).Fix(u)
	case Unschedulable, Gated:
		for _, e := range events {
			if s := q.worth(u, e, q.listeners(e.Kinds)); s != stay && q.wake(u, s) {
				return nil
			}
		}
	}
	return nil
}

// Delete removes an item for good, wherever it is; if it is in flight, it will not come back. It returns ErrNotFound if the
// key is not present.
func (q *Queue[K, V, E]) Delete(key K, now time.Time) error {
	u, ok := q.units[key]
	if !ok {
		return fmt.Errorf("%w: key %v", ErrNotFound, key)
	}
	q.tick(now)
	delete(q.units, key)
	q.nominees.remove(key)
	switch {
	case u.state == InFlight:
		if m := u.member(key); m != nil {
			m.deleted = true
		} else {
			u.gang.dropLate(key)
		}
	case u.gang == nil:
		q.leave(u)
		q.recycle(u)
	default:
		q.dropMember(u, key)
	}
	return nil
}

// Activate makes an item active that is unschedulable or backing off, whatever its back-off, unless it is gated. An item in
// flight is retried after its attempt, if that fails. It returns ErrNotFound if the key is not present. A gang is activated
// with any of its members.
func (q *Queue[K, V, E]) Activate(key K, now time.Time) error {
	u, ok := q.units[key]
	if !ok {
		return fmt.Errorf("%w: key %v", ErrNotFound, key)
	}
	q.tick(now)
	switch u.state {
	case InFlight:
		q.flight.keep(kept[K, E]{only: key, targeted: true, any: true})
	case Unschedulable, Gated:
		q.wake(u, immediately)
	case BackingOff: // the gate was asked when it began to back off
		q.leave(u)
		q.activate(u)
	}
	return nil
}

// tick moves the clock of the queue.
func (q *Queue[K, V, E]) tick(now time.Time) {
	now = now.Round(0) // without the monotonic reading, which would not survive truncation
	if q.epoch.IsZero() {
		q.epoch = now
	}
	if now.After(q.now) {
		q.now = now
	}
}

func (q *Queue[K, V, E]) enter() uint64 {
	q.entries++
	return q.entries
}

func (q *Queue[K, V, E]) newUnit(m member[K, V]) *unit[K, V] {
	var u *unit[K, V]
	if last := len(q.spare) - 1; last >= 0 {
		u, q.spare = q.spare[last], q.spare[:last]
	} else {
		u = new(unit[K, V])
	}
	u.members = append(u.members, m)
	u.priority, u.entered, u.since = m.Priority, m.entered, q.now
	return u
}

// recycle keeps the memory of a unit that has left the queue.
func (q *Queue[K, V, E]) recycle(u *unit[K, V]) {
	clear(u.members)
	*u = unit[K, V]{members: u.members[:0]}
	q.spare = append(q.spare, u)
}

func (u *unit[K, V]) member(key K) *member[K, V] {
	for i := range u.members {
		if u.members[i].Key == key && !u.members[i].deleted {
			return &u.members[i]
		}
	}
	return nil
}

// setPriority gives a unit the priority of its most important member.
func (u *unit[K, V]) setPriority() {
	u.priority = math.MinInt32
	for i := range u.members {
		u.priority = max(u.priority, u.members[i].Priority)
	}
}
