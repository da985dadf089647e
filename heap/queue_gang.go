package heap

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// gang is a group of items that is tried as one.
type gang[K comparable, V any] struct {
	name     K
	min      int
	declared bool
	// admitted gangs have had a member placed: they run, and what joins them need not wait for others.
	admitted bool
	unit     *unit[K, V]    // nil while no member is in the queue
	late     []member[K, V] // arrived while the unit is in flight
}

func (g *gang[K, V]) complete() bool {
	return g.declared && (g.admitted || len(g.unit.members) >= g.min)
}

// SetGang declares a gang, or changes the number of members that have to be in the queue before it is tried: its members
// gather until then. A gang that has been placed, in part or as a whole, gathers no more until DeleteGang. SetGang returns
// ErrRange for a minimum below 1 and for the zero K, which stands for no gang.
func (q *Queue[K, V, E]) SetGang(name K, minMembers int, now time.Time) error {
	if name == *new(K) {
		return fmt.Errorf("%w: gang name %v is the zero value", ErrRange, name)
	}
	if minMembers < 1 {
		return fmt.Errorf("%w: minimum %d of gang %v", ErrRange, minMembers, name)
	}
	q.tick(now)
	g := q.gang(name)
	if g.declared && g.min == minMembers {
		return nil // nothing is new: what the gang waits for has not come
	}
	g.min, g.declared = minMembers, true
	q.reassemble(g)
	return nil
}

// DeleteGang withdraws a declaration: members in the queue gather until the gang is declared again. It returns ErrNotFound
// if the gang is not declared.
func (q *Queue[K, V, E]) DeleteGang(name K, now time.Time) error {
	g, ok := q.gangs[name]
	if !ok || !g.declared {
		return fmt.Errorf("%w: gang %v", ErrNotFound, name)
	}
	q.tick(now)
	g.declared, g.admitted = false, false
	q.reassemble(g)
	q.forget(g)
	return nil
}

// DoneMember takes one member out of an attempt: it is placed, the others are still being tried. It returns ErrTicket if the
// attempt is over, and ErrNotFound if the key is not part of it.
func (q *Queue[K, V, E]) DoneMember(t Ticket, key K) error {
	u, err := q.flight.find(t)
	if err != nil {
		return err
	}
	if u.member(key) == nil {
		return fmt.Errorf("%w: key %v in attempt %d", ErrNotFound, key, t)
	}
	if u.gang == nil {
		return q.Done(t)
	}
	u.drop(key)
	u.gang.admitted = true
	delete(q.units, key)
	q.nominees.remove(key)
	if len(u.members) == 0 {
		return q.Done(t)
	}
	return nil
}

func (q *Queue[K, V, E]) gang(name K) *gang[K, V] {
	g, ok := q.gangs[name]
	if !ok {
		g = &gang[K, V]{name: name}
		q.gangs[name] = g
	}
	return g
}

// forget drops a gang of which nothing is known any more.
func (q *Queue[K, V, E]) forget(g *gang[K, V]) {
	if !g.declared && g.unit == nil {
		delete(q.gangs, g.name)
	}
}

// join adds a new member to its gang, wherever that is.
func (q *Queue[K, V, E]) join(m member[K, V]) {
	g := q.gang(m.Gang)
	switch u := g.unit; {
	case u == nil:
		g.unit = q.newUnit(m)
		g.unit.gang = g
		q.place(g.unit, immediately)
	case u.state == InFlight:
		g.late = append(g.late, m)
	default:
		u.members = append(u.members, m)
		u.sort()
		q.reassemble(g)
	}
	q.units[m.Key] = g.unit
}

// reassemble moves a gang whose members or declaration have changed on to where it now belongs. What was refused is a new
// question now, and is tried again, but no sooner than its back-off allows.
func (q *Queue[K, V, E]) reassemble(g *gang[K, V]) {
	u := g.unit
	if u == nil || u.state == InFlight {
		return
	}
	s := afterBackoff
	if u.state == Active {
		s = immediately
	}
	q.leave(u)
	u.setPriority()
	q.place(u, s)
}

// dropMember takes a member out of a gang that is in the queue.
func (q *Queue[K, V, E]) dropMember(u *unit[K, V], key K) {
	u.drop(key)
	if len(u.members) > 0 {
		q.reassemble(u.gang)
		return
	}
	q.leave(u)
	q.disband(u)
}

// disband ends the unit of a gang that has no members left.
func (q *Queue[K, V, E]) disband(u *unit[K, V]) {
	u.gang.unit = nil
	q.forget(u.gang)
	q.recycle(u)
}

// regroup puts a gang together again after an attempt: what is left of it and what came late. placed says whether what was
// tried has left for good.
func (q *Queue[K, V, E]) regroup(u *unit[K, V], placed bool, s strategy) {
	g := u.gang
	g.admitted = g.admitted || placed
	u.members = slices.DeleteFunc(u.members, func(m member[K, V]) bool { return placed || m.deleted })
	if len(u.members) == 0 && len(g.late) > 0 {
		// Only late comers: they have failed nothing.
		u.failures, u.faults, u.refused, u.pending, u.attempts = 0, 0, 0, 0, 0
		u.entered, u.since, u.backoffKnown = g.late[0].entered, q.now, false
		s = immediately
	}
	u.members = append(u.members, g.late...)
	clear(g.late)
	g.late = g.late[:0]
	if len(u.members) == 0 {
		q.disband(u)
		return
	}
	u.sort()
	u.setPriority()
	q.place(u, s)
}

func (g *gang[K, V]) lateMember(key K) *member[K, V] {
	return &g.late[slices.IndexFunc(g.late, func(m member[K, V]) bool { return m.Key == key })]
}

func (g *gang[K, V]) dropLate(key K) {
	g.late = slices.DeleteFunc(g.late, func(m member[K, V]) bool { return m.Key == key })
}

func (u *unit[K, V]) drop(key K) {
	u.members = slices.DeleteFunc(u.members, func(m member[K, V]) bool { return m.Key == key && !m.deleted })
}

// sort orders the members as Attempt lists them.
func (u *unit[K, V]) sort() {
	slices.SortFunc(u.members, func(a, b member[K, V]) int {
		return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.entered, b.entered))
	})
}

func (u *unit[K, V]) specs() []Spec[K, V] {
	u.sort()
	specs := make([]Spec[K, V], 0, len(u.members))
	for i := range u.members {
		specs = append(specs, u.members[i].Spec)
	}
	return specs
}
