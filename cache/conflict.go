package cache

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Conflict is a change of a transaction that can't be made on the state as it has become.
type Conflict struct {
	// Change is the change.
	Change Event
	// Pod is the spec of a pod to be placed, as it was given.
	Pod *berth.Pod
	// Err tells what stands against it: it wraps ErrRefused if a rule does, which Rule and Reason tell of, ErrUnknownNode,
	// ErrNodeExists, ErrUnknownPod, ErrPodExists, affinity.ErrDevices, ErrPodMoved or ErrNodeChanged.
	Err    error
	Rule   affinity.Rule
	Reason affinity.Reason
}

// ConflictError is returned by a commit that was refused.
type ConflictError struct {
	// Version is that of the state on which the conflicts were found.
	Version   uint64
	Conflicts []Conflict
}

// Error lists the conflicts.
func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cache: %d conflicts at version %d", len(e.Conflicts), e.Version)
	for i := range e.Conflicts {
		fmt.Fprintf(&b, "; %v", e.Conflicts[i].Err)
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// rebase brings the replica up to date under the transaction: takes its changes back, follows the cache, and makes them again, one by one.
// Those that can't be made are dropped and returned.
func (t *Txn) rebase() ([]Conflict, error) {
	r := t.replica
	ops := append([]op(nil), t.ops...)
	if err := t.undo(0); err != nil {
		return nil, err
	}
	t.rebased++
	if err := r.follow(); err != nil {
		return nil, err
	}
	var conflicts []Conflict
	for i := range ops {
		if c := t.redo(&ops[i]); c.Err != nil {
			c.Change, c.Pod = ops[i].Event, ops[i].spec
			conflicts = append(conflicts, c)
		}
	}
	return conflicts, nil
}

// redo makes a change again, if that is right on the state as it is.
func (t *Txn) redo(o *op) (c Conflict) {
	r := t.replica
	switch o.Kind {
	case PodAssumed:
		return t.placeAgain(o)
	case PodRemoved:
		if c.Err = r.stillOn(o.Key, o.was.NodeName); c.Err == nil {
			c.Err = t.Evict(o.Key)
		}
	case PodUpdated:
		if c.Err = r.stillOn(o.was.Key(), o.was.NodeName); c.Err == nil {
			c.Err = t.UpdatePod(o.spec)
		}
	case NodeAdded:
		c.Err = t.AddNode(o.Node)
	case NodeUpdated:
		if now := r.nodes[o.Node.Name]; now != nil && now != o.wasNode {
			c.Err = fmt.Errorf("%w: %q", ErrNodeChanged, o.Node.Name)
		} else {
			c.Err = t.UpdateNode(o.Node)
		}
	case NodeRemoved:
		c.Err = t.RemoveNode(o.Name)
	}
	return c
}

func (t *Txn) placeAgain(o *op) (c Conflict) {
	node := o.Pod.NodeName
	v, err := t.replica.rules.Verdict(o.spec, node, &c.Reason)
	switch {
	case errors.Is(err, affinity.ErrUnknownNode):
		c.Err = fmt.Errorf("%w: %q", ErrUnknownNode, node)
	case err != nil:
		c.Err = err
	case v.Rule != affinity.Feasible:
		c.Rule = v.Rule
		c.Err = fmt.Errorf("%w: pod %v on node %q: %v", ErrRefused, o.spec.Key(), node, v.Rule)
	default:
		c.Err = t.bindChecked(o.spec, node)
	}
	return c
}

// bindChecked binds a pod that the rules permit, if the caller's check does too.
func (t *Txn) bindChecked(pod *berth.Pod, node string) error {
	if check := t.replica.check; check != nil {
		if err := check(pod, node); err != nil {
			return fmt.Errorf("%w: pod %v on node %q: %w", ErrRefused, pod.Key(), node, err)
		}
	}
	return t.bind(pod, node)
}

// stillOn returns an error if a pod is not on a node any more.
func (r *Replica) stillOn(key berth.PodKey, node string) error {
	switch now, ok := r.graph.NodeOf(key); {
	case !ok:
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	case now != node:
		return fmt.Errorf("%w: %v, from %q to %q", ErrPodMoved, key, node, now)
	}
	return nil
}
