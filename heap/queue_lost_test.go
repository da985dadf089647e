package heap

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/internal/invariants"
)

// interleavings is how many operations the exhaustive tests put in every order.
const interleavings = 6

// ghost is what an observer who missed nothing knows of an item.
type ghost struct {
	ticket  Ticket
	refused RuleSet
	// reasons counts what has happened since the last Pop that should bring the item back: an event for a rule that refused it
	// later on as well, since the attempt may have looked at the time before.
	seen   EventSet
	forced bool
	gone   bool
}

// lostScript is one order of operations on a queue and the items a and b. It knows nothing of how the queue works.
type lostScript struct {
	q      *Queue[string, int, int]
	gate   gate
	now    time.Time
	ghosts map[string]*ghost
}

// lostOps are the operations. Each reports whether it had something to do: an order that repeats another with idle
// operations in between is not worth a look.
var lostOps = []struct {
	name string
	do   func(s *lostScript) bool
}{
	{"add a", func(s *lostScript) bool { return s.add("a", 0) }},
	{"add b", func(s *lostScript) bool { return s.add("b", 1) }},
	{"pop", func(s *lostScript) bool { return s.pop() }},
	{"fail a by A", func(s *lostScript) bool { return s.fail("a", ruleA) }},
	{"fail b by B", func(s *lostScript) bool { return s.fail("b", ruleB) }},
	{"fail a by fault", func(s *lostScript) bool { return s.fail("a", 0) }},
	{"done b", func(s *lostScript) bool { return s.done("b") }},
	{"event A", func(s *lostScript) bool { return s.event(kindA) }},
	{"event B", func(s *lostScript) bool { return s.event(kindB) }},
	{"shut a", func(s *lostScript) bool { return s.shut(0) }},
	{"open a", func(s *lostScript) bool { s.gate[0] = false; return s.event(kindGate) }},
	{"update a", func(s *lostScript) bool { return s.update("a", 0) }},
	{"activate a", func(s *lostScript) bool { return s.activate("a") }},
	{"delete a", func(s *lostScript) bool { return s.delete("a") }},
	{"advance", func(s *lostScript) bool { return s.advance() }},
}

func newLostScript() *lostScript {
	g := gate{}
	q, err := NewQueue(testConfig(g))
	if err != nil {
		panic(err)
	}
	return &lostScript{q: q, gate: g, now: time.Unix(100, 0), ghosts: map[string]*ghost{}}
}

func (s *lostScript) live(key string) *ghost {
	if g := s.ghosts[key]; g != nil && !g.gone {
		return g
	}
	return nil
}

func (s *lostScript) add(key string, value int) bool {
	if s.live(key) != nil {
		return false
	}
	s.ghosts[key] = &ghost{}
	return s.q.Add(Spec[string, int]{Key: key, Value: value}, s.now) == nil
}

func (s *lostScript) pop() bool {
	a, ok := s.q.Pop(s.now)
	if ok {
		g := s.ghosts[a.Key]
		g.ticket, g.refused, g.seen, g.forced = a.Ticket, 0, 0, false
	}
	return ok
}

func (s *lostScript) fail(key string, rules RuleSet) bool {
	g := s.ghosts[key]
	if g == nil || g.ticket == 0 {
		return false
	}
	err := s.q.Fail(g.ticket, Refusal{Rules: rules}, s.now)
	g.ticket, g.refused = 0, rules
	return err == nil
}

func (s *lostScript) done(key string) bool {
	g := s.ghosts[key]
	if g == nil || g.ticket == 0 {
		return false
	}
	err := s.q.Done(g.ticket)
	g.ticket, g.gone = 0, true
	return err == nil
}

func (s *lostScript) event(kind EventSet) bool {
	if len(s.ghosts) == 0 {
		return false
	}
	for _, g := range s.ghosts {
		g.seen |= kind
	}
	s.q.Event(Event[int]{Kinds: kind}, s.now)
	return true
}

func (s *lostScript) shut(value int) bool {
	was := s.gate[value]
	s.gate[value] = true
	return !was
}

func (s *lostScript) advance() bool {
	_, due := s.q.Next(s.now)
	s.now = s.now.Add(1500 * time.Millisecond)
	s.q.Flush(s.now)
	return due
}

func (s *lostScript) update(key string, value int) bool {
	if s.live(key) == nil {
		return false
	}
	s.ghosts[key].seen |= kindA
	return s.q.Update(Spec[string, int]{Key: key, Value: value}, s.now, Event[int]{Kinds: kindA}) == nil
}

func (s *lostScript) activate(key string) bool {
	if s.live(key) == nil {
		return false
	}
	s.ghosts[key].forced = true
	return s.q.Activate(key, s.now) == nil
}

func (s *lostScript) delete(key string) bool {
	g := s.live(key)
	if g == nil {
		return false
	}
	g.gone = true
	if g.ticket == 0 {
		delete(s.ghosts, key)
	}
	return s.q.Delete(key, s.now) == nil
}

// fault says what is wrong with where the items are, if anything.
func (s *lostScript) fault() string {
	for key, g := range s.ghosts {
		status, ok := s.q.Status(key)
		if g.gone {
			if ok {
				return key + " is back from the dead"
			}
			continue
		}
		if !ok {
			return key + " is lost"
		}
		if (status.State == InFlight) != (g.ticket != 0) {
			return fmt.Sprintf("%s is %v with ticket %d", key, status.State, g.ticket)
		}
		helped := g.forced || g.refused&ruleA != 0 && g.seen&kindA != 0 || g.refused&ruleB != 0 && g.seen&(kindA|kindB) != 0
		shut := s.gate[map[string]int{"a": 0, "b": 1}[key]]
		switch status.State {
		case Unschedulable:
			if helped {
				return key + " was helped and still waits"
			}
			if g.refused == 0 {
				return key + " waits, and nothing refused it"
			}
		case Gated:
			if !shut {
				return key + " is gated, and the gate is open"
			}
		case Active, BackingOff:
			if g.refused != 0 && !helped {
				return key + " was woken for nothing"
			}
		}
	}
	if invariants.Enabled {
		if err := s.q.verify(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// TestNoWakeUpIsLostInAnyOrder tries all orders of up to six operations on two items. An item that was helped must not wait,
// whenever the help came after the item was popped; and one that was not helped must not be woken.
func TestNoWakeUpIsLostInAnyOrder(t *testing.T) {
	length := interleavings
	if testing.Short() || invariants.Enabled {
		length--
	}
	orders := 0
	var extend func(prefix []int)
	extend = func(prefix []int) {
		if len(prefix) == length {
			return
		}
		for op := range lostOps {
			script := newLostScript()
			for _, p := range prefix {
				lostOps[p].do(script)
			}
			if !lostOps[op].do(script) {
				continue
			}
			orders++
			order := append(prefix[:len(prefix):len(prefix)], op)
			if fault := script.fault(); fault != "" {
				var names []string
				for _, p := range order {
					names = append(names, lostOps[p].name)
				}
				t.Fatalf("%s after %q", fault, names)
			}
			extend(order)
		}
	}
	extend(nil)
	t.Logf("%d orders", orders)
	require.Greater(t, orders, 5_000)
}
