package cache

import (
	"fmt"

	"github.com/berth-go/berth"
)

// State is all that a cache holds at a version: what a checkpoint is of.
type State struct {
	Version    uint64
	Namespaces []*berth.Namespace
	Nodes      []*berth.Node
	// Pods are the placed ones. Whether one is hidden follows from Nodes.
	Pods        []PodState
	Nominations []Nomination
}

// Restore gives an empty cache of version 0 the state of another, and its version. There are no events before it, so
// whoever follows the cache starts from the whole state. Nobody else may use the cache meanwhile. The errors are
// ErrVersion if the cache is not empty or the version is less than the number of objects, each of which takes an event,
// and those of AddNode, AddPod, Nominate and SetNamespace; then the cache is empty again. O(nodes + pods).
func (c *Cache) Restore(s *State) error {
	if v := c.Version(); v != 0 {
		return fmt.Errorf("%w: a state of version %d can't be restored to a cache of version %d", ErrVersion, s.Version, v)
	}
	if n := len(s.Namespaces) + len(s.Nodes) + len(s.Pods) + len(s.Nominations); s.Version < uint64(n) {
		return fmt.Errorf("%w: a state of version %d has %d objects", ErrVersion, s.Version, n)
	}
	if err := c.enterState(s); err != nil {
		c.leaveState(s)
		c.journal.restart(0)
		return err
	}
	c.journal.restart(s.Version)
	return nil
}

func (c *Cache) enterState(s *State) error {
	for _, ns := range s.Namespaces {
		if err := c.SetNamespace(ns); err != nil {
			return err
		}
	}
	for _, n := range s.Nodes {
		if err := c.AddNode(n); err != nil {
			return err
		}
	}
	for i := range s.Pods {
		if err := c.restorePod(&s.Pods[i]); err != nil {
			return err
		}
	}
	for _, n := range s.Nominations {
		if err := c.Nominate(n.Pod, n.Node); err != nil {
			return err
		}
	}
	return nil
}

// restorePod enters a pod that is assumed or not, and hidden or not. No event can: a pod is hidden while it is assumed
// only if its node went away since.
func (c *Cache) restorePod(p *PodState) error {
	if err := placeable(p.Spec); err != nil {
		return err
	}
	key := p.Spec.Key()
	return c.withPod(key, p.Spec.NodeName, func(w *podWork) (Event, error) {
		if w.old != nil {
			return Event{}, fmt.Errorf("%w: %v", ErrPodExists, key)
		}
		if err := w.put(p.Spec); err != nil {
			return Event{}, err
		}
		if w.old.assumed = p.Assumed; p.Assumed && !p.Deadline.IsZero() {
			w.old.timer = c.wheel.add(key, p.Deadline)
		}
		return Event{Kind: PodAdded, Pod: w.old.spec}, nil
	})
}

// leaveState takes out what was entered of a state; what was not is unknown, which does not matter.
func (c *Cache) leaveState(s *State) {
	for _, n := range s.Nominations {
		c.Denominate(n.Pod.Key())
	}
	for i := range s.Pods {
		_ = c.RemovePod(s.Pods[i].Spec.Key())
	}
	for _, n := range s.Nodes {
		_ = c.RemoveNode(n.Name)
	}
	for _, ns := range s.Namespaces {
		c.RemoveNamespace(ns.Name)
	}
}

// restart makes the journal one without events, at a version.
func (j *journal) restart(version uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = nil
	j.version.Store(version)
}
