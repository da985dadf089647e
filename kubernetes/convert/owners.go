package convert

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/berth-go/berth"
)

// Owners knows the objects that say which pods belong together. Listers may be nil: none of the kind exist then.
type Owners struct {
	Services               corelisters.ServiceLister
	ReplicationControllers corelisters.ReplicationControllerLister
	ReplicaSets            appslisters.ReplicaSetLister
	StatefulSets           appslisters.StatefulSetLister
}

// DefaultSpreadSelector returns the selector for [berth.Pod.DefaultSpreadSelector]: what the selectors of the services
// that select the pod and of its controller (a ReplicationController, ReplicaSet or StatefulSet) require together. Nil
// means that there are none. The rule is DefaultSelector's in pkg/scheduler/framework/plugins/helper/spread.go.
//
// The cost is linear in the services of the pod's namespace.
func (o *Owners) DefaultSpreadSelector(p *v1.Pod) (*berth.LabelSelector, error) {
	required, err := o.serviceLabels(p)
	if err != nil {
		return nil, err
	}
	selector := &berth.LabelSelector{MatchLabels: required}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		o.addController(selector, p.Namespace, ref)
	}
	if len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
		return nil, nil
	}
	return selector, nil
}

// serviceLabels merges the selectors of the services that select the pod.
func (o *Owners) serviceLabels(p *v1.Pod) (map[string]string, error) {
	required := make(map[string]string)
	if o.Services == nil {
		return required, nil
	}
	services, err := o.Services.Services(p.Namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		// A service without a selector selects nothing, not everything.
		if s.Spec.Selector != nil && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels)) {
			maps.Copy(required, s.Spec.Selector)
		}
	}
	return required, nil
}

// addController adds what the pod's controller requires. A controller that is unknown or whose selector is invalid adds
// nothing, and the controller's word for a label does not displace that of a service: both must hold.
func (o *Owners) addController(selector *berth.LabelSelector, namespace string, ref *metav1.OwnerReference) {
	var of *metav1.LabelSelector
	switch schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind) {
	case v1.SchemeGroupVersion.WithKind("ReplicationController"):
		if o.ReplicationControllers == nil {
			return
		}
		if rc, err := o.ReplicationControllers.ReplicationControllers(namespace).Get(ref.Name); err == nil {
			maps.Copy(selector.MatchLabels, rc.Spec.Selector)
		}
		return
	case appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):
		if o.ReplicaSets == nil {
			return
		}
		if rs, err := o.ReplicaSets.ReplicaSets(namespace).Get(ref.Name); err == nil {
			of = rs.Spec.Selector
		}
	case appsv1.SchemeGroupVersion.WithKind("StatefulSet"):
		if o.StatefulSets == nil {
			return
		}
		if ss, err := o.StatefulSets.StatefulSets(namespace).Get(ref.Name); err == nil {
			of = ss.Spec.Selector
		}
	}
	if _, err := metav1.LabelSelectorAsSelector(of); of == nil || err != nil {
		return
	}
	for _, key := range sortedKeys(of.MatchLabels) {
		value := of.MatchLabels[key]
		if have, found := selector.MatchLabels[key]; found && have != value {
			selector.MatchExpressions = append(selector.MatchExpressions,
				berth.Requirement{Key: key, Operator: berth.In, Values: []string{value}})
			continue
		}
		selector.MatchLabels[key] = value
	}
	selector.MatchExpressions = append(selector.MatchExpressions, labelSelector(of).MatchExpressions...)
}

// ToOwner makes the controller that gives the pod its DefaultSpreadSelector: the ReplicaSet that its Owner names, or one
// of the pod's own name if it has no owner. It returns nil if the pod has no selector.
func ToOwner(p *berth.Pod) *appsv1.ReplicaSet {
	if p.DefaultSpreadSelector == nil {
		return nil
	}
	ref := spreadOwner(p)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: ref.Name, UID: types.UID(ref.UID)},
		Spec:       appsv1.ReplicaSetSpec{Selector: toLabelSelector(p.DefaultSpreadSelector)},
	}
}

// spreadOwner is the pod's owner, made up if it needs one for its DefaultSpreadSelector and has none.
func spreadOwner(p *berth.Pod) berth.OwnerReference {
	if p.Owner == (berth.OwnerReference{}) && p.DefaultSpreadSelector != nil {
		return berth.OwnerReference{Kind: "ReplicaSet", Name: p.Name}
	}
	return p.Owner
}

func toOwnerReferences(p *berth.Pod, r *report) []metav1.OwnerReference {
	ref := spreadOwner(p)
	if ref == (berth.OwnerReference{}) {
		return nil
	}
	var group schema.GroupVersion
	switch ref.Kind {
	case "ReplicaSet", "StatefulSet", "DaemonSet", "Deployment":
		group = appsv1.SchemeGroupVersion
	case "Job", "CronJob":
		group = batchv1.SchemeGroupVersion
	case "ReplicationController", "Node":
		group = v1.SchemeGroupVersion
	default:
		r.unsupported(ref.Kind, "the API group of the kind is not known", "Owner.Kind")
		return nil
	}
	if p.DefaultSpreadSelector != nil && ref.Kind != "ReplicaSet" {
		r.unsupported(ref.Kind, "only a ReplicaSet can carry the selector", "DefaultSpreadSelector")
	}
	controller := true
	return []metav1.OwnerReference{{
		APIVersion: group.String(), Kind: ref.Kind, Name: ref.Name, UID: types.UID(ref.UID), Controller: &controller,
	}}
}
