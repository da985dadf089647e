package cache

import (
	"fmt"
)

// Apply makes the change that an event of another cache, or of a log, tells of; the event must be the next one. The errors are ErrVersion
// and those of the method that made the event; after an error nothing is changed. Nobody else may write meanwhile.
func (c *Cache) Apply(e *Event) error {
	if e.Version != c.Version()+1 {
		return fmt.Errorf("%w: version %d does not follow on %d", ErrVersion, e.Version, c.Version())
	}
	switch e.Kind {
	case NodeAdded, NodeUpdated:
		if e.Node == nil {
			return fmt.Errorf("%w: %v without Node", ErrEvent, e.Kind)
		}
	case PodAdded, PodAssumed, PodConfirmed, PodUpdated, PodNominated:
		if e.Pod == nil {
			return fmt.Errorf("%w: %v without Pod", ErrEvent, e.Kind)
		}
	case NamespaceSet:
		if e.Namespace == nil {
			return fmt.Errorf("%w: %v without Namespace", ErrEvent, e.Kind)
		}
	}
	switch e.Kind {
	case NodeAdded:
		return c.AddNode(e.Node)
	case NodeUpdated:
		return c.UpdateNode(e.Node)
	case NodeRemoved:
		return c.RemoveNode(e.Name)
	case NamespaceSet:
		return c.SetNamespace(e.Namespace)
	case PodAdded:
		return c.AddPod(e.Pod)
	case PodAssumed:
		return c.AssumeUntil(e.Pod, e.Pod.NodeName, e.Deadline)
	case PodNominated:
		return c.Nominate(e.Pod, e.Name)
	case PodRemoved:
		return c.RemovePod(e.Key)
	case PodForgotten:
		return c.Forget(e.Key)
	}
	return c.applyOther(e)
}

// applyOther makes the changes that have no method of their own, or whose method may change nothing.
func (c *Cache) applyOther(e *Event) error {
	before := c.Version()
	var err error
	switch e.Kind {
	case PodConfirmed, PodUpdated:
		if err := placeable(e.Pod); err != nil {
			return err
		}
		err = c.withPod(e.Pod.Key(), e.Pod.NodeName, func(w *podWork) (Event, error) {
			if e.Kind == PodUpdated {
				return w.update(e.Pod)
			}
			if err := w.mustBeAssumed(); err != nil {
				return Event{}, err
			}
			return w.add(e.Pod)
		})
	case PodExpired:
		err = c.withPod(e.Key, "", func(w *podWork) (Event, error) {
			if err := w.mustBeAssumed(); err != nil {
				return Event{}, err
			}
			w.leave()
			return Event{Kind: PodExpired, Key: e.Key}, nil
		})
	case PodDenominated:
		c.Denominate(e.Key)
	case NamespaceRemoved:
		c.RemoveNamespace(e.Name)
	default:
		return fmt.Errorf("%w: %v", ErrEvent, e.Kind)
	}
	if err == nil && c.Version() == before {
		return fmt.Errorf("%w: %v changes nothing", ErrEvent, e)
	}
	return err
}
