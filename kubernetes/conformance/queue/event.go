package queue

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-go/berth/heap"
)

// kinds says what kinds of events a change is, in kube-scheduler's words.
func (e *Event) kinds() []fwk.ClusterEvent {
	switch {
	case e.Pod != nil && e.OldPod != nil:
		return framework.PodSchedulingPropertiesChange(e.Pod, e.OldPod, false)
	case e.Pod != nil:
		return []fwk.ClusterEvent{framework.EventAssignedPodAdd}
	case e.OldPod != nil:
		return []fwk.ClusterEvent{framework.EventAssignedPodDelete}
	case e.Node != nil && e.OldNode != nil:
		return framework.NodeSchedulingPropertiesChange(e.Node, e.OldNode)
	case e.Node != nil:
		return []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Add}}
	case e.OldNode != nil:
		return []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Delete}}
	}
	return nil
}

// objects returns the change as kube-scheduler's hints want it: an absent object is a nil interface.
func (e *Event) objects() (old, current any) {
	switch {
	case e.OldPod != nil:
		old = e.OldPod
	case e.OldNode != nil:
		old = e.OldNode
	}
	switch {
	case e.Pod != nil:
		current = e.Pod
	case e.Node != nil:
		current = e.Node
	}
	return old, current
}

// kinds are the kinds of events that some rule listens to; each has the bit of its place.
func kinds() []fwk.ClusterEvent {
	return []fwk.ClusterEvent{
		{Resource: fwk.AssignedPod, ActionType: fwk.Add},
		{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
		{Resource: fwk.AssignedPod, ActionType: fwk.UpdatePodLabel},
		{Resource: fwk.AssignedPod, ActionType: fwk.UpdatePodScaleDown},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodScaleDown},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodToleration},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated},
		{Resource: fwk.Node, ActionType: fwk.Add},
		{Resource: fwk.Node, ActionType: fwk.Delete},
		{Resource: fwk.Node, ActionType: fwk.UpdateNodeAllocatable},
		{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel},
		{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint},
	}
}

// kindOf returns the kind of an event that has happened; none if no rule listens. An update of which nothing more is known is
// none of the updates that rules listen to.
func kindOf(event fwk.ClusterEvent) heap.EventSet {
	if i := slices.IndexFunc(kinds(), func(k fwk.ClusterEvent) bool { return k.Resource == event.Resource && k.ActionType == event.ActionType }); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindsOf returns the kinds that a rule listens to if it names several actions at once.
func kindsOf(event fwk.ClusterEvent) (set heap.EventSet) {
	for i, k := range kinds() {
		if k.Resource == event.Resource && k.ActionType&event.ActionType != 0 {
			set |= 1 << i
		}
	}
	return set
}

// change is what a rule is told of an event.
type change struct {
	oldPod, pod   *v1.Pod
	oldNode, node *v1.Node
	// target says that the pod that waits has itself changed.
	target bool
}
