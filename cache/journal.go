package cache

import (
	"sync"
	"sync/atomic"
)

// journal numbers the changes and keeps the last of them. Its lock is the last that is taken; what an event tells is done before, under
// the locks of what it concerns, so that the order of the events of one node or pod is that in which they happened.
type journal struct {
	mu      sync.Mutex
	version atomic.Uint64 // of the last event; written under mu
	// events are the last ones, without gaps, at least limit of them if there were as many. What was written is not
	// changed any more: readers keep slices of it.
	events []Event
	limit  int
}

func (j *journal) append(e Event) {
	j.mu.Lock()
	j.enter(&e)
	j.mu.Unlock()
}

// enter appends an event; the journal is locked.
func (j *journal) enter(e *Event) {
	next := j.next()
	*next = *e
	j.publish(next)
}

// next appends an empty event, which is to be filled in and published; the journal is locked.
func (j *journal) next() *Event {
	if len(j.events) >= 2*j.limit {
		j.forget()
	}
	j.events = append(j.events, Event{})
	return &j.events[len(j.events)-1]
}

// publish gives the last event its version.
func (j *journal) publish(e *Event) {
	e.Version = j.version.Load() + 1
	j.version.Store(e.Version)
}

// forget keeps the last events only.
func (j *journal) forget() {
	kept := make([]Event, j.limit, 2*j.limit)
	copy(kept, j.events[len(j.events)-j.limit:])
	j.events = kept
}

// since returns the events after a version, and false if they are not kept any more.
func (j *journal) since(version uint64) ([]Event, bool) {
	if version == j.version.Load() {
		return nil, true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.version.Load()
	if version > now || now-version > uint64(len(j.events)) {
		return nil, false
	}
	n := len(j.events)
	return j.events[n-int(now-version) : n : n], true
}

// EventsSince returns the events after a version, the oldest first. It reports false if they are not kept any more
// (Config.History), or the version is still to come. The slice must not be changed.
func (c *Cache) EventsSince(version uint64) ([]Event, bool) { return c.journal.since(version) }
