package cache

import (
	"fmt"
	"time"

	"github.com/berth-go/berth"
)

// EventKind tells what an Event did.
type EventKind uint8

// The kinds of events. Their numbers are part of the log's format and never change.
const (
	// NodeAdded: Node is there; the pods that were known for it come with it.
	NodeAdded EventKind = iota + 1
	// NodeUpdated: Node takes the place of the node of the same name.
	NodeUpdated
	// NodeRemoved: the node Name is gone; its pods are remembered.
	NodeRemoved
	// PodAdded: Pod was observed on Pod.NodeName.
	PodAdded
	// PodAssumed: Pod was placed on Pod.NodeName by a decision that is not confirmed, until Deadline if that is not zero.
	PodAssumed
	// PodConfirmed: Pod was observed in place of the assumed pod of the same key, perhaps on another node.
	PodConfirmed
	// PodUpdated: Pod takes the place of the pod of the same key, which stays assumed if it was.
	PodUpdated
	// PodRemoved: the pod Key is gone.
	PodRemoved
	// PodForgotten: the assumption of the pod Key was given up.
	PodForgotten
	// PodExpired: the assumption of the pod Key was not confirmed before its deadline.
	PodExpired
	// PodNominated: the node Name promises room to Pod, which is not placed, in place of an earlier promise.
	PodNominated
	// PodDenominated: the promise to the pod Key ended.
	PodDenominated
	// NamespaceSet: Namespace has these labels.
	NamespaceSet
	// NamespaceRemoved: the namespace Name has no labels any more.
	NamespaceRemoved
)

// Event is one change of a Cache. Which fields are set is said with each kind. The specs must not be changed.
type Event struct {
	// Version is the version of the cache after the event; the first is 1, and there are no gaps.
	Version   uint64
	Kind      EventKind
	Node      *berth.Node
	Pod       *berth.Pod // with the devices that it was given
	Namespace *berth.Namespace
	Key       berth.PodKey
	Name      string
	Deadline  time.Time

	// bound are the pods that came with the node of NodeAdded, with the devices that they were given.
	bound []*berth.Pod
}

// String tells the event in one line.
func (e *Event) String() string {
	switch e.Kind {
	case NodeAdded, NodeUpdated:
		return fmt.Sprintf("%d %v %s", e.Version, e.Kind, e.Node.Name)
	case PodAdded, PodAssumed, PodConfirmed, PodUpdated:
		return fmt.Sprintf("%d %v %v on %s", e.Version, e.Kind, e.Pod.Key(), e.Pod.NodeName)
	case PodNominated:
		return fmt.Sprintf("%d %v %v to %s", e.Version, e.Kind, e.Pod.Key(), e.Name)
	case PodRemoved, PodForgotten, PodExpired, PodDenominated:
		return fmt.Sprintf("%d %v %v", e.Version, e.Kind, e.Key)
	case NamespaceSet:
		return fmt.Sprintf("%d %v %s", e.Version, e.Kind, e.Namespace.Name)
	}
	return fmt.Sprintf("%d %v %s", e.Version, e.Kind, e.Name)
}

// String returns the name of the kind.
func (k EventKind) String() string {
	names := [...]string{
		NodeAdded: "NodeAdded", NodeUpdated: "NodeUpdated", NodeRemoved: "NodeRemoved",
		PodAdded: "PodAdded", PodAssumed: "PodAssumed", PodConfirmed: "PodConfirmed", PodUpdated: "PodUpdated",
		PodRemoved: "PodRemoved", PodForgotten: "PodForgotten", PodExpired: "PodExpired",
		PodNominated: "PodNominated", PodDenominated: "PodDenominated",
		NamespaceSet: "NamespaceSet", NamespaceRemoved: "NamespaceRemoved",
	}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}
