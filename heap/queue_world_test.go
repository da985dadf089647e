package heap

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/internal/invariants"
)

// world is two nodes and the pods on them, as far as a pod that waits cares: it must share a node with a peer unless there is
// no peer anywhere, no pod there may hate it, and the node must not be cordoned.
type world struct {
	peer, hater, cordon [2]bool
}

const (
	ruleAffinity RuleSet = 1 << iota
	ruleHated
	ruleCordon
)

const (
	podAdded EventSet = 1 << iota
	podDeleted
	nodeUpdated
)

// change is the object of an event: what the pod that came or went is like.
type change struct{ peer, hater, deleted bool }

// refuse returns the rules that refuse the pod: of each node the first to object. None means that the pod fits.
func (w world) refuse() (rules RuleSet) {
	for n := range w.peer {
		switch {
		case w.cordon[n]:
			rules |= ruleCordon
		case !w.peer[n] && (w.peer[0] || w.peer[1]):
			rules |= ruleAffinity
		case w.hater[n]:
			rules |= ruleHated
		default:
			return 0
		}
	}
	return rules
}

// hints are the Helps of the two rules about pods.
type hints struct {
	affinity, hated func(string, change) bool
}

var (
	soundHints = hints{
		affinity: func(_ string, c change) bool { return c.peer },
		hated:    func(_ string, c change) bool { return c.hater && c.deleted },
	}
	// peerlessHints does not see that the first pod of a series fits anywhere again once its last peer is deleted
	// (kubernetes#141354).
	peerlessHints = hints{
		affinity: func(_ string, c change) bool { return c.peer && !c.deleted },
		hated:    soundHints.hated,
	}
	// lovelessHints asks whether the waiting pod hates the one that was deleted, and not the reverse (kubernetes#134393).
	lovelessHints = hints{
		affinity: soundHints.affinity,
		hated:    func(string, change) bool { return false },
	}
)

// worldScript is one order of events in the world and of steps of a scheduler that has one pod to place.
type worldScript struct {
	world, snapshot world
	q               *Queue[string, string, change]
	ticket          Ticket
	placed          bool
	now             time.Time
}

func newWorldScript(h hints, start world) *worldScript {
	q, err := NewQueue(QueueConfig[string, string, change]{Rules: []Rule[string, change]{
		{Events: podAdded | podDeleted, Helps: h.affinity},
		{Events: podDeleted, Helps: h.hated},
		{Events: nodeUpdated},
	}})
	if err != nil {
		panic(err)
	}
	s := &worldScript{world: start, q: q, now: time.Unix(100, 0)}
	if err := q.Add(Spec[string, string]{Key: "pod"}, s.now); err != nil {
		panic(err)
	}
	return s
}

var worldOps = []struct {
	name string
	do   func(s *worldScript) bool
}{
	{"pop", func(s *worldScript) bool {
		a, ok := s.q.Pop(s.now)
		s.ticket, s.snapshot = a.Ticket, s.world
		return ok
	}},
	{"decide", func(s *worldScript) bool { return s.decide() }},
	{"second passes", func(s *worldScript) bool {
		status, _ := s.q.Status("pod")
		s.now = s.now.Add(time.Second)
		s.q.Flush(s.now)
		return status.State == BackingOff
	}},
	{"peer on 0", func(s *worldScript) bool { return s.pod(&s.world.peer[0], change{peer: true}) }},
	{"peer on 1", func(s *worldScript) bool { return s.pod(&s.world.peer[1], change{peer: true}) }},
	{"hater on 0", func(s *worldScript) bool { return s.pod(&s.world.hater[0], change{hater: true}) }},
	{"hater on 1", func(s *worldScript) bool { return s.pod(&s.world.hater[1], change{hater: true}) }},
	{"cordon on 0", func(s *worldScript) bool {
		s.world.cordon[0] = !s.world.cordon[0]
		s.q.Event(Event[change]{Kinds: nodeUpdated}, s.now)
		return true
	}},
}

// pod adds or deletes a pod and says so.
func (s *worldScript) pod(there *bool, c change) bool {
	c.deleted, *there = *there, !*there
	kind := podAdded
	if c.deleted {
		kind = podDeleted
	}
	s.q.Event(Event[change]{Kinds: kind, Object: c}, s.now)
	return true
}

// decide ends the attempt by what the world was when the pod was popped.
func (s *worldScript) decide() bool {
	if s.ticket == 0 {
		return false
	}
	rules := s.snapshot.refuse()
	if rules == 0 {
		s.placed = s.q.Done(s.ticket) == nil
	} else if err := s.q.Fail(s.ticket, Refusal{Rules: rules}, s.now); err != nil {
		panic(err)
	}
	s.ticket = 0
	return true
}

// stuck says whether the pod waits for an event though it would fit.
func (s *worldScript) stuck() bool {
	status, ok := s.q.Status("pod")
	return ok && status.State == Unschedulable && s.world.refuse() == 0
}

// search tries all orders of up to n operations from every world and returns the first that leaves the pod stuck.
func search(h hints, n int) (found string, orders int) {
	var extend func(start world, prefix []int) string
	extend = func(start world, prefix []int) string {
		if len(prefix) == n {
			return ""
		}
		for op := range worldOps {
			s := newWorldScript(h, start)
			for _, p := range prefix {
				worldOps[p].do(s)
			}
			if !worldOps[op].do(s) || s.placed {
				continue
			}
			orders++
			order := append(prefix[:len(prefix):len(prefix)], op)
			if s.stuck() {
				names := fmt.Sprintf("%+v:", start)
				for _, p := range order {
					names += " " + worldOps[p].name + ","
				}
				return names
			}
			if found := extend(start, order); found != "" {
				return found
			}
		}
		return ""
	}
	for bits := range 1 << 5 {
		start := world{
			peer:   [2]bool{bits&1 != 0, bits&2 != 0},
			hater:  [2]bool{bits&4 != 0, bits&8 != 0},
			cordon: [2]bool{bits&16 != 0, false},
		}
		// The scheduler tries first: until then nothing can be lost, and an order that begins with a change of the world is one
		// of another world.
		if found = extend(start, []int{0}); found != "" {
			return found, orders
		}
	}
	return "", orders
}

// TestNoOrderLeavesAPodStuck: whatever happens while the pod waits or is tried, in whatever order, it does not wait for an
// event when it would fit. With the hints of kube-scheduler's inter-pod affinity before they were repaired it does: so the
// search can find what it is for.
func TestNoOrderLeavesAPodStuck(t *testing.T) {
	length := interleavings
	if testing.Short() || invariants.Enabled {
		length--
	}
	found, orders := search(soundHints, length)
	require.Empty(t, found)
	t.Logf("%d orders", orders)
	require.Greater(t, orders, 20_000)

	for name, h := range map[string]hints{"kubernetes#141354": peerlessHints, "kubernetes#134393": lovelessHints} {
		found, _ := search(h, length)
		require.NotEmpty(t, found, name)
		t.Logf("%s: %s", name, found)
	}
}
