package heap

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// desk is a queue with a clock, for tests that read as stories. Values are 0.
type desk struct {
	*testing.T
	q       *Queue[string, int, int]
	gate    gate
	now     time.Time
	tickets map[string]Ticket
}

func newDesk(t *testing.T, change ...func(*QueueConfig[string, int, int])) *desk {
	g := gate{}
	config := testConfig(g)
	for _, f := range change {
		f(&config)
	}
	q, err := NewQueue(config)
	require.NoError(t, err)
	return &desk{T: t, q: q, gate: g, now: time.Unix(1000, 0), tickets: map[string]Ticket{}}
}

func (d *desk) add(key string, priority int32) {
	d.Helper()
	require.NoError(d, d.q.Add(Spec[string, int]{Key: key, Priority: priority}, d.now))
}

func (d *desk) join(gang string, keys ...string) {
	d.Helper()
	for _, key := range keys {
		require.NoError(d, d.q.Add(Spec[string, int]{Key: key, Gang: gang}, d.now))
	}
}

func (d *desk) pop(want string) Attempt[string, int] {
	d.Helper()
	a, ok := d.q.Pop(d.now)
	require.Equal(d, want != "", ok)
	require.Equal(d, want, a.Key)
	d.tickets[a.Key] = a.Ticket
	return a
}

func (d *desk) fail(key string, rules RuleSet) {
	d.Helper()
	require.NoError(d, d.q.Fail(d.tickets[key], Refusal{Rules: rules}, d.now))
}

func (d *desk) event(kinds EventSet) { d.q.Event(Event[int]{Kinds: kinds}, d.now) }

func (d *desk) advance(by time.Duration) {
	d.now = d.now.Add(by)
	d.q.Flush(d.now)
}

// want requires the keys of each state, written as "state: key key".
func (d *desk) want(states ...string) {
	d.Helper()
	byState := map[State]string{}
	for key, state := range d.q.All() {
		byState[state] += " " + key
	}
	var got []string
	for state, keys := range byState {
		got = append(got, fmt.Sprintf("%v:%s", state, keys))
	}
	slices.Sort(got)
	slices.Sort(states)
	require.Equal(d, states, got)
	require.NoError(d, d.q.verify())
}

func TestFailedItemGoesBehindItsEquals(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.add("b", 0)
	d.add("top", 100)
	d.pop("top")
	d.fail("top", ruleA)
	d.pop("a")
	d.add("c", 0)
	d.fail("a", ruleA)
	d.want("Active: b c", "Unschedulable: top a")
	d.event(kindA)
	d.want("Active: b c", "BackingOff: top a")
	d.advance(3 * time.Second)
	for _, key := range []string{"top", "b", "c", "a"} {
		d.pop(key)
	}
}

func TestBackoffDoublesAndIsCutToWholeSeconds(t *testing.T) {
	d := newDesk(t)
	d.now = d.now.Add(700 * time.Millisecond)
	d.add("a", 0)
	d.add("always", 1) // keeps the active queue from being empty: else what backs off is popped early
	for failure, seconds := range []int{1, 2, 4, 8, 10, 10} {
		a, ok := d.q.Pop(d.now)
		require.True(t, ok)
		for ok && a.Key != "a" { // hold the others back
			require.NoError(t, d.q.Fail(a.Ticket, Refusal{}, d.now))
			a, ok = d.q.Pop(d.now)
		}
		require.True(t, ok)
		require.Equal(t, failure+1, a.Attempts)
		require.NoError(t, d.q.Fail(a.Ticket, Refusal{Rules: ruleA}, d.now))
		d.event(kindA)
		status, _ := d.q.Status("a")
		require.Equal(t, BackingOff, status.State)
		require.Equal(t, d.now.Add(time.Duration(seconds)*time.Second).Truncate(time.Second), status.BackoffEnd)

		d.now = status.BackoffEnd.Add(time.Second - 1)
		d.q.Flush(d.now)
		status, _ = d.q.Status("a")
		require.Equal(t, BackingOff, status.State, "the second in which it ends still waits")
		d.advance(1)
		status, _ = d.q.Status("a")
		require.Equal(t, Active, status.State)
	}
}

func TestBackoffIsSkippedWhenNothingIsActive(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.pop("a")
	d.fail("a", ruleA)
	d.event(kindA)
	d.want("BackingOff: a")
	d.pop("a")
}

func TestInternalErrorBacksOffToTheEnd(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.pop("a")
	d.fail("a", 0)
	d.want("BackingOff: a")
	d.pop("")
	d.advance(2 * time.Second)
	d.pop("a")
	// Errors count on their own: two refusals later the first error in a row backs off for a second again.
	d.fail("a", ruleA)
	d.event(kindA)
	d.pop("a")
	d.fail("a", ruleA)
	d.event(kindA)
	d.pop("a")
	d.fail("a", 0)
	status, _ := d.q.Status("a")
	require.Equal(t, d.now.Add(time.Second), status.BackoffEnd)
}

func TestPendingRuleIsRetriedAtOnce(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.pop("a")
	require.NoError(t, d.q.Fail(d.tickets["a"], Refusal{Rules: ruleB, Pending: ruleEven}, d.now))
	d.q.Event(Event[int]{Kinds: kindEven, Object: 3}, d.now)
	d.want("Unschedulable: a")
	d.q.Event(Event[int]{Kinds: kindEven, Object: 4}, d.now)
	d.want("Active: a")
}

func TestEventDuringAttemptCountsAfterIt(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.add("b", 0)
	d.pop("a")
	d.event(kindB)
	d.pop("b")
	d.fail("a", ruleB)
	d.fail("b", ruleB) // popped after the event: it has seen what the event did
	d.want("BackingOff: a", "Unschedulable: b")
}

func TestEventsAreDroppedWhenNobodyCanNeedThem(t *testing.T) {
	d := newDesk(t)
	d.event(kindA)
	require.Zero(t, d.q.flight.events.len())
	d.add("a", 0)
	d.add("b", 0)
	d.pop("a")
	d.event(kindA)
	d.pop("b")
	d.event(kindA)
	d.event(kindNone)
	require.Equal(t, 2, d.q.flight.events.len(), "nobody listens to the third")
	require.NoError(t, d.q.Done(d.tickets["a"]))
	require.Equal(t, 1, d.q.flight.events.len())
	require.NoError(t, d.q.Done(d.tickets["b"]))
	require.Zero(t, d.q.flight.events.len())
}

func TestGatedItemWaitsForItsGate(t *testing.T) {
	d := newDesk(t)
	d.gate[0] = true
	d.add("a", 0)
	d.want("Gated: a")
	d.event(kindA)
	d.event(kindGate) // asks the gate, which is shut
	d.want("Gated: a")
	d.gate[0] = false
	d.event(kindA) // can't have opened the gate
	d.want("Gated: a")
	d.event(kindGate)
	d.want("Active: a")
}

func TestSweepRetriesWhatNoEventHelped(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.pop("a")
	d.fail("a", ruleA)
	next, ok := d.q.Next(d.now)
	require.True(t, ok)
	d.advance(next.Sub(d.now) - 1)
	d.want("Unschedulable: a")
	d.advance(1)
	d.want("Active: a")
	_, ok = d.q.Next(d.now)
	require.False(t, ok)
}

func TestDeletedInFlightDoesNotComeBack(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	first := d.pop("a")
	require.NoError(t, d.q.Delete("a", d.now))
	d.want()
	d.add("a", 7) // a new item of the same name, while the old one is being tried
	second := d.pop("a")
	require.NotEqual(t, first.Ticket, second.Ticket)
	require.Equal(t, 1, second.Attempts)
	require.NoError(t, d.q.Fail(first.Ticket, Refusal{Rules: ruleA}, d.now))
	d.want("InFlight: a")
	require.ErrorIs(t, d.q.Fail(first.Ticket, Refusal{}, d.now), ErrTicket)
	require.NoError(t, d.q.Done(second.Ticket))
	d.want()
	require.Zero(t, d.q.Len())
}

func TestItemsOfOneMomentLeaveInTheOrderOfEntry(t *testing.T) {
	d := newDesk(t)
	for _, key := range []string{"c", "a", "b"} { // the clock stands still
		d.add(key, 1)
	}
	d.pop("c")
	d.pop("a")
	d.pop("b")
}

func TestAChangeInFlightIsHeardByTheItemAlone(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.add("b", 0)
	d.pop("a")
	d.pop("b")
	require.NoError(t, d.q.Update(Spec[string, int]{Key: "a"}, d.now, Event[int]{Kinds: kindA}))
	d.fail("a", ruleA)
	d.fail("b", ruleA)
	d.want("BackingOff: a", "Unschedulable: b")
}

func TestUpdateOfWhatIsNotThereIsAnError(t *testing.T) {
	d := newDesk(t)
	require.ErrorIs(t, d.q.Update(Spec[string, int]{Key: "a"}, d.now, Event[int]{Kinds: kindA}), ErrNotFound)
	d.want()
}

func TestNominationLastsUntilDoneOrDeleted(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.add("b", 0)
	d.add("c", 0)
	for _, key := range []string{"b", "a", "c"} {
		require.NoError(t, d.q.Nominate(key, "n1"))
	}
	require.NoError(t, d.q.Nominate("c", "n2"))
	require.ErrorIs(t, d.q.Nominate("absent", "n1"), ErrNotFound)
	require.Equal(t, []string{"b", "a"}, slices.Collect(d.q.Nominated("n1")))
	status, _ := d.q.Status("c")
	require.Equal(t, "n2", status.Node)
	d.pop("a")
	require.NoError(t, d.q.Done(d.tickets["a"]))
	require.NoError(t, d.q.Delete("b", d.now))
	require.NoError(t, d.q.Nominate("c", ""))
	require.Empty(t, slices.Collect(d.q.Nominated("n1")))
	require.Empty(t, slices.Collect(d.q.Nominated("n2")))
	require.NoError(t, d.q.verify())
}

func TestTimeDoesNotGoBack(t *testing.T) {
	d := newDesk(t)
	d.add("a", 0)
	d.now = d.now.Add(-time.Hour)
	d.pop("a")
	d.fail("a", 0)
	d.now = d.now.Add(time.Hour + 2*time.Second)
	d.pop("a")
}

func TestJitterChangesBackoff(t *testing.T) {
	d := newDesk(t, func(c *QueueConfig[string, int, int]) {
		c.Jitter = func(key string, d time.Duration) time.Duration {
			return map[string]time.Duration{"a": 3 * d, "b": -d, "c": 1 << 62}[key]
		}
	})
	start := d.now
	for key, want := range map[string]time.Duration{"a": 3 * time.Second, "b": 0, "c": 20 * time.Second} {
		d.add(key, 0)
		d.pop(key)
		d.fail(key, 0)
		status, _ := d.q.Status(key)
		require.Equal(t, start.Add(want), status.BackoffEnd, key)
	}
}

func TestNegativeBackoffAndWindowMeanNone(t *testing.T) {
	d := newDesk(t, func(c *QueueConfig[string, int, int]) { c.MaxBackoff = -1 })
	d.add("a", 0)
	d.pop("a")
	d.fail("a", 0)
	d.want("Active: a")

	d = newDesk(t, func(c *QueueConfig[string, int, int]) { c.BackoffWindow = -1 })
	d.now = d.now.Add(700 * time.Millisecond)
	d.add("a", 0)
	d.pop("a")
	d.fail("a", 0)
	d.advance(time.Second)
	d.want("BackingOff: a")
	next, _ := d.q.Next(d.now)
	require.Equal(t, d.now.Add(1), next)
	d.advance(1)
	d.want("Active: a")
}

func TestQueueRefusesBadConfigAndArguments(t *testing.T) {
	for name, config := range map[string]QueueConfig[string, int, int]{
		"rules":                {Rules: make([]Rule[int, int], 65)},
		"initial":              {InitialBackoff: -1},
		"unschedulable":        {MaxUnschedulable: -1},
		"initial above max":    {InitialBackoff: time.Minute},
		"initial above max, 2": {MaxBackoff: time.Millisecond},
	} {
		_, err := NewQueue(config)
		require.ErrorIs(t, err, ErrConfig, name)
	}
	d := newDesk(t)
	d.add("a", 0)
	require.ErrorIs(t, d.q.Add(Spec[string, int]{Key: "a"}, d.now), ErrExists)
	d.pop("a")
	require.ErrorIs(t, d.q.Fail(d.tickets["a"], Refusal{Rules: 1 << 4}, d.now), ErrRange)
	require.ErrorIs(t, d.q.Fail(99, Refusal{}, d.now), ErrTicket)
	require.ErrorIs(t, d.q.Delete("x", d.now), ErrNotFound)
	require.ErrorIs(t, d.q.Activate("x", d.now), ErrNotFound)
	require.ErrorIs(t, d.q.Update(Spec[string, int]{Key: "x"}, d.now), ErrNotFound)
	require.ErrorIs(t, d.q.SetGang("", 1, d.now), ErrRange)
	require.ErrorIs(t, d.q.SetGang("g", 0, d.now), ErrRange)
	require.ErrorIs(t, d.q.DeleteGang("g", d.now), ErrNotFound)
	_, ok := d.q.Status("x")
	require.False(t, ok)
	d.want("InFlight: a")
}

func TestSteadyQueueAllocatesNothing(t *testing.T) {
	d := newDesk(t)
	for i := range 64 {
		d.add(fmt.Sprint("pod", i), int32(i%4))
	}
	cycle := func() {
		d.now = d.now.Add(100 * time.Millisecond)
		a, _ := d.q.Pop(d.now)
		b, _ := d.q.Pop(d.now)
		c, _ := d.q.Pop(d.now)
		d.q.Event(Event[int]{Kinds: kindB}, d.now)
		_ = d.q.Fail(a.Ticket, Refusal{Rules: ruleA}, d.now)
		_ = d.q.Fail(b.Ticket, Refusal{}, d.now)
		_ = d.q.Done(c.Ticket)
		_ = d.q.Add(Spec[string, int]{Key: c.Key, Priority: c.Priority}, d.now)
		d.q.Event(Event[int]{Kinds: kindA}, d.now)
		d.q.Flush(d.now)
	}
	for range 200 {
		cycle()
	}
	require.Zero(t, testing.AllocsPerRun(500, cycle))
}

func TestGangBecomesActiveTogether(t *testing.T) {
	d := newDesk(t)
	d.join("g", "g1", "g2")
	d.add("x", 0)
	d.want("Gathering: g1 g2", "Active: x")
	require.NoError(t, d.q.SetGang("g", 3, d.now))
	d.want("Gathering: g1 g2", "Active: x")
	d.join("g", "g3")
	d.want("Active: g1 g2 g3 x")
	a := d.pop("g") // it came before x
	var keys []string
	for _, m := range a.Members {
		keys = append(keys, m.Key)
	}
	require.Equal(t, []string{"g1", "g2", "g3"}, keys)
	d.want("InFlight: g1 g2 g3", "Active: x")
	require.NoError(t, d.q.Done(a.Ticket))
	d.want("Active: x")
	d.join("g", "late") // the gang runs: nothing to gather for
	d.want("Active: x late")
}

func TestGangIsRefusedAndWokenAsOne(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 2, d.now))
	d.join("g", "g1", "g2")
	d.pop("g")
	d.fail("g", ruleEven)
	d.want("Unschedulable: g1 g2")
	d.q.Event(Event[int]{Kinds: kindEven, Object: 2}, d.now)
	d.want("BackingOff: g1 g2")
	d.advance(2 * time.Second)
	d.want("Active: g1 g2")
}

func TestGatedMemberHoldsItsGangBack(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 1, d.now))
	d.join("g", "g1")
	d.want("Active: g1")
	d.gate[5] = true
	require.NoError(t, d.q.Add(Spec[string, int]{Key: "g2", Value: 5, Gang: "g"}, d.now))
	d.want("Gated: g1 g2")
	require.NoError(t, d.q.Delete("g2", d.now))
	d.want("Active: g1")
}

func TestLateMembersWaitForTheAttempt(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 2, d.now))
	d.join("g", "g1", "g2")
	d.pop("g")
	d.join("g", "g3", "g4")
	require.NoError(t, d.q.Update(Spec[string, int]{Key: "g3", Value: 1, Priority: 9}, d.now))
	require.NoError(t, d.q.Delete("g4", d.now))
	d.want("InFlight: g1 g2 g3")
	require.NoError(t, d.q.Delete("g1", d.now))
	d.fail("g", ruleA)
	d.want("Unschedulable: g2 g3")
	d.event(kindA)
	a := d.pop("g")
	require.EqualValues(t, 9, a.Priority)
	require.Equal(t, "g3", a.Members[0].Key)
}

func TestMembersOfAGangMayBePlacedOneByOne(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 3, d.now))
	d.join("g", "g1", "g2", "g3")
	a := d.pop("g")
	require.NoError(t, d.q.DoneMember(a.Ticket, "g2"))
	require.ErrorIs(t, d.q.DoneMember(a.Ticket, "g2"), ErrNotFound)
	d.fail("g", ruleA)
	d.want("Unschedulable: g1 g3") // not Gathering: the gang runs
	require.ErrorIs(t, d.q.DoneMember(a.Ticket, "g1"), ErrTicket)
	d.event(kindA)
	a = d.pop("g")
	require.NoError(t, d.q.DoneMember(a.Ticket, "g1"))
	require.NoError(t, d.q.DoneMember(a.Ticket, "g3"))
	require.ErrorIs(t, d.q.Done(a.Ticket), ErrTicket)
	d.want()
}

func TestGangThatLosesItsQuorumGathersAgain(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 2, d.now))
	d.join("g", "g1", "g2")
	d.want("Active: g1 g2")
	require.NoError(t, d.q.Delete("g1", d.now))
	d.want("Gathering: g2")
	require.NoError(t, d.q.SetGang("g", 1, d.now))
	d.want("Active: g2")
	require.NoError(t, d.q.DeleteGang("g", d.now))
	d.want("Gathering: g2")
	require.NoError(t, d.q.Delete("g2", d.now))
	d.want()
	require.Empty(t, d.q.gangs, "an undeclared gang without members is forgotten")
}

func TestBackoffOfAGangGrowsWithItsSize(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.q.SetGang("g", 4, d.now))
	d.join("g", "g1", "g2", "g3", "g4")
	for _, want := range []int{1, 2, 4, 8, 16, 20, 20} {
		d.pop("g")
		d.fail("g", ruleA)
		d.event(kindA)
		status, _ := d.q.Status("g1")
		require.Equal(t, time.Duration(want)*time.Second, status.BackoffEnd.Sub(d.now))
	}
}
