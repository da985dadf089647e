package heap

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Status is what a queue knows of an item. Of a member of a gang all but Node is that of the gang.
type Status struct {
	State    State
	Refused  RuleSet // by the last attempt, or by gates since
	Pending  RuleSet
	Attempts int
	// BackoffEnd is the end of the back-off, cut to the window; zero if there is none.
	BackoffEnd time.Time
	// Node is for which the item is nominated; empty if for none.
	Node string
}

// Status returns the status of a key, and false if the key is not present.
func (q *Queue[K, V, E]) Status(key K) (Status, bool) {
	u, ok := q.units[key]
	if !ok {
		return Status{}, false
	}
	s := Status{State: u.state, Refused: u.refused, Pending: u.pending, Attempts: u.attempts, Node: q.nominees.nodeOf[key]}
	if u.backoffKnown && u.state != InFlight {
		s.BackoffEnd = u.backoffEnd
	}
	return s, true
}

// All yields the keys of all items with their states, in the order in which they, or their gangs, entered. O(n log n).
func (q *Queue[K, V, E]) All() iter.Seq2[K, State] {
	type entry struct {
		key          K
		unit, member uint64
	}
	entries := make([]entry, 0, len(q.units))
	for key, u := range q.units {
		m := u.member(key)
		if m == nil {
			m = u.gang.lateMember(key)
		}
		entries = append(entries, entry{key, u.entered, m.entered})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.member, b.member)) })
	return func(yield func(K, State) bool) {
		for _, e := range entries {
			if u, ok := q.units[e.key]; ok && !yield(e.key, u.state) {
				return
			}
		}
	}
}
