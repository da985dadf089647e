package heap

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/internal/invariants"
)

// The rules of these tests. An event object is a number; rule 2 is helped by even ones only, and rule 3 is a gate that is open
// or shut for each value.
const (
	ruleA RuleSet = 1 << iota
	ruleB
	ruleEven
	ruleGate
)

const (
	kindA EventSet = 1 << iota
	kindB
	kindEven
	kindGate
	kindNone // no rule listens
)

// gate tells which values are gated. Tests change it.
type gate map[int]bool

func testConfig(g gate) QueueConfig[string, int, int] {
	return QueueConfig[string, int, int]{
		Rules: []Rule[int, int]{
			{Events: kindA},
			{Events: kindB | kindA},
			{Events: kindEven, Helps: func(_ int, e int) bool { return e%2 == 0 }},
			{Events: kindGate},
		},
		Gate: func(v int) RuleSet {
			if g[v] {
				return ruleGate
			}
			return 0
		},
	}
}

// modelQueue is the slow and obvious queue of single items: it keeps a list, looks at all of it each time, and gives each
// attempt a list of its own of what happened since.
type modelQueue struct {
	config  QueueConfig[string, int, int]
	items   []*modelItem
	now     time.Time
	entries int
}

type modelItem struct {
	Spec[string, int]
	state            State
	entered          int
	since, flushed   time.Time
	refused, pending RuleSet
	gates            RuleSet
	failures, faults int
	happened         []func(*modelItem) strategy
	deleted          bool
}

func (m *modelQueue) find(key string) *modelItem {
	for _, it := range m.items {
		if it.Key == key && !it.deleted {
			return it
		}
	}
	return nil
}

func (m *modelQueue) add(s Spec[string, int]) {
	m.entries++
	it := &modelItem{Spec: s, entered: m.entries, since: m.now}
	m.items = append(m.items, it)
	m.place(it, immediately)
}

func (m *modelQueue) place(it *modelItem, s strategy) {
	if s == stay {
		it.state = Unschedulable
		return
	}
	it.gates = m.config.Gate(it.Value)
	it.refused |= it.gates
	switch {
	case it.gates != 0:
		it.state = Gated
	case s == afterBackoff && m.backingOff(it):
		it.state = BackingOff
	default:
		it.state = Active
	}
}

// end is when the back-off ends, in whole seconds.
func (m *modelQueue) end(it *modelItem) (int64, bool) {
	count := it.failures
	if it.faults > 0 {
		count = it.faults
	}
	if count == 0 {
		return 0, false
	}
	seconds := time.Second
	for range count - 1 {
		if seconds *= 2; seconds > 10*time.Second {
			seconds = 10 * time.Second
			break
		}
	}
	return it.since.Add(seconds).Unix(), true
}

func (m *modelQueue) backingOff(it *modelItem) bool {
	end, ok := m.end(it)
	return ok && end >= m.now.Unix()
}

func (m *modelQueue) flush(sweep bool) {
	var swept []*modelItem
	for _, it := range m.items {
		switch it.state {
		case BackingOff:
			if !m.backingOff(it) {
				it.state = Active
			}
		case Unschedulable, Gated:
			last := it.since
			if it.flushed.After(last) {
				last = it.flushed
			}
			if sweep && m.now.Sub(last) > 5*time.Minute {
				it.flushed = m.now
				swept = append(swept, it)
			}
		}
	}
	for _, it := range swept {
		m.place(it, afterBackoff)
	}
	if len(swept) > 0 {
		m.record(func(*modelItem) strategy { return afterBackoff })
	}
}

func (m *modelQueue) record(f func(*modelItem) strategy) {
	for _, it := range m.items {
		if it.state == InFlight {
			it.happened = append(it.happened, f)
		}
	}
}

func (m *modelQueue) pop() *modelItem {
	m.flush(false)
	var best *modelItem
	for _, it := range m.items {
		if it.state == Active && (best == nil || m.before(it, best)) {
			best = it
		}
	}
	if best == nil {
		for _, it := range m.items {
			if it.state != BackingOff || it.refused|it.pending == 0 {
				continue
			}
			if best == nil {
				best = it
				continue
			}
			a, _ := m.end(it)
			b, _ := m.end(best)
			if a < b || a == b && m.before(it, best) {
				best = it
			}
		}
	}
	if best != nil {
		best.state, best.happened = InFlight, nil
	}
	return best
}

func (m *modelQueue) before(a, b *modelItem) bool {
	return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.entered, b.entered)) < 0
}

func (m *modelQueue) worth(it *modelItem, e Event[int]) (s strategy) {
	for i, r := range m.config.Rules {
		if r.Events&e.Kinds == 0 || r.Helps != nil && !r.Helps(it.Value, e.Object) {
			continue
		}
		if it.pending>>i&1 != 0 {
			s = immediately
		}
		if it.refused>>i&1 != 0 {
			s = max(s, afterBackoff)
		}
	}
	return s
}

func (m *modelQueue) listened(kinds EventSet) bool {
	return slices.ContainsFunc(m.config.Rules, func(r Rule[int, int]) bool { return r.Events&kinds != 0 })
}

func (m *modelQueue) event(e Event[int]) {
	if !m.listened(e.Kinds) {
		return
	}
	for _, it := range m.items {
		if it.state != Unschedulable && it.state != Gated {
			continue
		}
		if it.state == Gated && m.worth(&modelItem{refused: it.gates}, e) == stay && e.Kinds&kindGate == 0 {
			continue
		}
		if s := m.worth(it, e); s != stay {
			m.place(it, s)
		}
	}
	m.record(func(it *modelItem) strategy { return m.worth(it, e) })
}

func (m *modelQueue) fail(it *modelItem, why Refusal) {
	m.entries++
	it.entered, it.since, it.flushed = m.entries, m.now, time.Time{}
	it.refused, it.pending = why.Rules, why.Pending
	s := stay
	if why == (Refusal{}) {
		it.faults++
		s = afterBackoff
	} else {
		it.failures++
		it.faults = 0
		for _, f := range it.happened {
			s = max(s, f(it))
		}
	}
	if it.deleted {
		m.drop(it)
		return
	}
	m.place(it, s)
}

func (m *modelQueue) drop(it *modelItem) {
	m.items = slices.DeleteFunc(m.items, func(x *modelItem) bool { return x == it })
}

func (m *modelQueue) update(s Spec[string, int], events []Event[int]) {
	it := m.find(s.Key)
	it.Value, it.Priority = s.Value, s.Priority
	switch it.state {
	case InFlight:
		for _, e := range events {
			it.happened = append(it.happened, func(it *modelItem) strategy { return m.worth(it, e) })
		}
	case Unschedulable, Gated:
		for _, e := range events {
			if s := m.worth(it, e); s != stay {
				if m.place(it, s); it.state != Gated {
					return
				}
			}
		}
	}
}

func (m *modelQueue) activate(it *modelItem) {
	switch it.state {
	case InFlight:
		it.happened = append(it.happened, func(*modelItem) strategy { return afterBackoff })
	case Unschedulable, Gated:
		m.place(it, immediately)
	case BackingOff:
		it.state = Active
	}
}

// verify is the invariant walker of Queue.
func (q *Queue[K, V, E]) verify() error {
	places := map[*unit[K, V]]State{}
	for _, h := range []struct {
		heap  *Heap[*unit[K, V], *unit[K, V]]
		state State
	}{{q.active, Active}, {q.backoff, BackingOff}, {q.errors, BackingOff}} {
		if err := h.heap.verify(); err != nil {
			return fmt.Errorf("%v: %w", h.state, err)
		}
		for u := range h.heap.All() {
			if _, ok := places[u]; ok || u.state != h.state {
				return fmt.Errorf("unit %v is %v and also in %v", u.name(), u.state, h.state)
			}
			places[u] = u.state
		}
	}
	waiting := 0
	for i, b := range q.waiting.buckets {
		if b.index != i || q.waiting.bySet[b.rules] != b || len(b.units) == 0 {
			return fmt.Errorf("bucket %b is misfiled", b.rules)
		}
		for j, u := range b.units {
			if _, ok := places[u]; ok || u.bucket != b || u.index != j || u.refused|u.pending != b.rules {
				return fmt.Errorf("unit %v is misfiled in bucket %b", u.name(), b.rules)
			}
			if (u.state == Gated) != (u.gates != 0) || u.state != Gated && u.state != Unschedulable {
				return fmt.Errorf("unit %v waits as %v with gates %b", u.name(), u.state, u.gates)
			}
			places[u] = u.state
			waiting++
		}
	}
	if waiting != q.waiting.sweep.Len() || len(q.waiting.bySet) != len(q.waiting.buckets) {
		return fmt.Errorf("%d units wait, the sweep knows %d", waiting, q.waiting.sweep.Len())
	}
	if err := q.flight.units.verify(); err != nil {
		return err
	}
	for _, u := range q.flight.units.All() {
		if _, ok := places[u]; ok || u.state != InFlight {
			return fmt.Errorf("unit %v is in flight and %v", u.name(), u.state)
		}
		places[u] = InFlight
	}
	if q.flight.units.Len() == 0 && q.flight.events.len() > 0 {
		return fmt.Errorf("%d events are kept for nobody", q.flight.events.len())
	}
	for key, u := range q.units {
		if u.state != Gathering && places[u] != u.state {
			return fmt.Errorf("key %v is %v, but not there", key, u.state)
		}
		if u.state == Gathering && (u.gang == nil || u.gang.complete()) {
			return fmt.Errorf("key %v gathers for nothing", key)
		}
		if u.member(key) == nil && (u.gang == nil || !slices.ContainsFunc(u.gang.late, func(m member[K, V]) bool { return m.Key == key })) {
			return fmt.Errorf("key %v is not in its unit", key)
		}
	}
	for _, g := range q.gangs {
		if g.unit == nil && (!g.declared || len(g.late) > 0) || g.unit != nil && g.unit.gang != g {
			return fmt.Errorf("gang %v is misfiled", g.name)
		}
	}
	for key := range q.nominees.nodeOf {
		if _, ok := q.units[key]; !ok {
			return fmt.Errorf("key %v is nominated and gone", key)
		}
	}
	return nil
}

// queuePair drives a queue and its model through the same operations.
type queuePair struct {
	q       *Queue[string, int, int]
	m       *modelQueue
	gate    gate
	now     time.Time
	flights []queueFlight
}

type queueFlight struct {
	ticket Ticket
	item   *modelItem
}

func newQueuePair(t testing.TB) *queuePair {
	g := gate{}
	q, err := NewQueue(testConfig(g))
	require.NoError(t, err)
	start := time.Date(2026, 1, 1, 0, 0, 0, 250_000_000, time.UTC)
	return &queuePair{q: q, m: &modelQueue{config: testConfig(g), now: start}, gate: g, now: start}
}

// step runs one operation, encoded in four bytes.
func (p *queuePair) step(t testing.TB, op [4]byte) {
	t.Helper()
	q, m := p.q, p.m
	key := string('a' + rune(op[1]%12))
	spec := Spec[string, int]{Key: key, Value: int(op[2] % 6), Priority: int32(op[3]%3) - 1}
	it := m.find(key)
	events := []Event[int]{{Kinds: 1 << (op[2] % 5), Object: int(op[3])}, {Kinds: 1 << (op[3] % 5), Object: int(op[2])}}
	switch op[0] % 13 {
	case 0, 1:
		if err := q.Add(spec, p.now); it != nil {
			require.ErrorIs(t, err, ErrExists)
		} else {
			require.NoError(t, err)
			m.add(spec)
		}
	case 2, 3, 4:
		a, ok := q.Pop(p.now)
		want := m.pop()
		require.Equal(t, want != nil, ok)
		if ok {
			require.Equal(t, want.Spec, Spec[string, int]{Key: a.Key, Value: a.Value, Priority: a.Priority})
			p.flights = append(p.flights, queueFlight{a.Ticket, want})
		}
	case 5, 6, 7:
		if len(p.flights) == 0 {
			return
		}
		i := int(op[1]) % len(p.flights)
		f := p.flights[i]
		p.flights = slices.Delete(p.flights, i, i+1)
		if op[0]%13 == 7 && op[3]%4 == 0 {
			require.NoError(t, q.Done(f.ticket))
			m.drop(f.item)
			require.ErrorIs(t, q.Done(f.ticket), ErrTicket)
			return
		}
		why := Refusal{Rules: RuleSet(op[2] % 8)}
		if op[3]%8 == 0 {
			why.Pending = RuleSet(op[3] >> 4 % 8)
		}
		require.NoError(t, q.Fail(f.ticket, why, p.now))
		m.fail(f.item, why)
	case 8:
		e := events[0]
		q.Event(e, p.now)
		m.event(e)
	case 9:
		if err := q.Update(spec, p.now, events...); it == nil {
			require.ErrorIs(t, err, ErrNotFound)
		} else {
			require.NoError(t, err)
			m.update(spec, events)
		}
	case 10:
		p.now = p.now.Add([]time.Duration{time.Millisecond, 400 * time.Millisecond, 3 * time.Second, 2 * time.Minute}[op[1]%4])
		m.now = p.now
		q.Flush(p.now)
		m.flush(true)
	case 11:
		if op[2]%2 == 0 {
			p.gate[int(op[2]%6)] = op[3]%2 == 0
			return
		}
		if err := q.Activate(key, p.now); it == nil {
			require.ErrorIs(t, err, ErrNotFound)
		} else {
			require.NoError(t, err)
			m.activate(it)
		}
	case 12:
		if err := q.Delete(key, p.now); it == nil {
			require.ErrorIs(t, err, ErrNotFound)
		} else {
			require.NoError(t, err)
			if it.deleted = true; it.state != InFlight {
				m.drop(it)
			}
		}
	}
}

// compare requires that the states of all items agree.
func (p *queuePair) compare(t testing.TB) {
	t.Helper()
	want := map[string]State{}
	for _, it := range p.m.items {
		if !it.deleted {
			want[it.Key] = it.state
		}
	}
	got := map[string]State{}
	for key, state := range p.q.All() {
		got[key] = state
	}
	require.Equal(t, want, got)
}

func TestQueueAnswersAsAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, uint64(*steps)))
	p := newQueuePair(t)
	for step := range *steps {
		var op [4]byte
		for i := range op {
			op[i] = byte(rng.Uint32())
		}
		p.step(t, op)
		if invariants.Enabled || step%16 == 0 {
			require.NoError(t, p.q.verify(), "step %d", step)
			p.compare(t)
		}
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 2, 0, 0, 0, 8, 1, 0, 0, 5, 0, 1, 1, 10, 2, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		p := newQueuePair(t)
		for ; len(script) >= 4; script = script[4:] {
			p.step(t, [4]byte(script))
			require.NoError(t, p.q.verify())
			p.compare(t)
		}
	})
}

// TestGangsLoseNobody runs random operations on gangs and requires that each member is where the walker finds it, or is gone
// because it was deleted or placed.
func TestGangsLoseNobody(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, uint64(*steps)))
	d := newDesk(t)
	q, now := d.q, d.now
	present := map[string]bool{}
	var tried []Attempt[string, int]
	for step := range *steps / 2 {
		now = now.Add(time.Duration(rng.IntN(400)) * time.Millisecond)
		gangName := fmt.Sprint("g", rng.IntN(4))
		key := fmt.Sprint(gangName, "-", rng.IntN(5))
		switch rng.IntN(10) {
		case 0, 1, 2:
			err := q.Add(Spec[string, int]{Key: key, Value: rng.IntN(3), Priority: int32(rng.IntN(2)), Gang: gangName}, now)
			require.Equal(t, present[key], err != nil)
			present[key] = true
		case 3:
			require.NoError(t, q.SetGang(gangName, 1+rng.IntN(4), now))
		case 4:
			if rng.IntN(4) == 0 {
				_ = q.DeleteGang(gangName, now) // not there, perhaps
			} else {
				d.gate[rng.IntN(3)] = rng.IntN(3) == 0
			}
		case 5, 6:
			if a, ok := q.Pop(now); ok {
				require.NotEmpty(t, a.Members)
				tried = append(tried, a)
			}
		case 7:
			if len(tried) == 0 {
				break
			}
			i := rng.IntN(len(tried))
			a := tried[i]
			switch rng.IntN(3) {
			case 0:
				require.NoError(t, q.Fail(a.Ticket, Refusal{Rules: RuleSet(rng.IntN(4))}, now))
				tried = slices.Delete(tried, i, i+1)
			case 1:
				for key := range present { // those in the attempt are gone, those that came late are not
					if u := q.units[key]; u.state == InFlight && u.ticket == a.Ticket && u.member(key) != nil {
						delete(present, key)
					}
				}
				require.NoError(t, q.Done(a.Ticket))
				tried = slices.Delete(tried, i, i+1)
			default:
				m := a.Members[rng.IntN(len(a.Members))].Key
				if q.DoneMember(a.Ticket, m) == nil {
					delete(present, m)
				}
			}
		case 8:
			q.Event(Event[int]{Kinds: 1 << rng.IntN(4)}, now)
			q.Flush(now)
		case 9:
			require.Equal(t, present[key], q.Delete(key, now) == nil)
			delete(present, key)
		}
		// An attempt may have ended with its last member.
		tried = slices.DeleteFunc(tried, func(x Attempt[string, int]) bool { _, ok := q.flight.units.Get(x.Ticket); return !ok })
		require.NoError(t, q.verify(), "step %d", step)
		require.Equal(t, len(present), q.Len(), "step %d", step)
		for key := range present {
			_, ok := q.Status(key)
			require.True(t, ok, "step %d: %s", step, key)
		}
	}
}
