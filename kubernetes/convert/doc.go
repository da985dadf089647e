// Package convert turns Kubernetes API objects into berth's vocabulary and back.
//
// [Pod], [Node], [Namespace] and [PodDisruptionBudget] convert one object each, [Owners] finds the selector that spreads
// a pod by default, and [ToPod], [ToNode], [ToNamespace] and [ToPodDisruptionBudget] convert back.
//
// # What becomes of a pod
//
// The result says what kube-scheduler v1.37 sees in the pod, not what its author wrote. The effective requests are the
// larger of what the containers (with restartable init containers) and what the init containers need, pod-level requests
// in their place where set, plus the overhead; a placed pod in the middle of an in-place resize counts with the largest
// of wished, allocated and actual. NonZeroRequests holds what resource scores use. Host ports are those of containers and
// restartable init containers. Images are those of init containers, containers and image volumes.
//
// A pod is seen otherwise once it is placed: then a resize counts, and so do, in scores, requests at pod level. So convert
// a pod again when it is observed on its node.
//
// matchLabelKeys of pod affinity terms are merged into the selectors by the API server when it creates a pod, so a pod
// that was read from one has them merged already, and Pod leaves them alone. Those of spread constraints are merged by
// the scheduler, and so by Pod. A pod that never saw an API server, made from a template, wants [berth.Fold] after Pod.
//
// # What is refused and what is reported
//
// An error of this package is an [Errors], which names every field at fault with its path. There are two kinds:
//
//   - Invalid fields ([berth.ErrInvalid]), such as a negative quantity: nothing is returned beside the error.
//
//   - Unsupported fields ([ErrUnsupported]): ones that bear on where kube-scheduler may place the pod and that berth has
//     no words for, such as persistent volume claims, DRA claims or scheduling gates. The object is returned beside the
//     error, without the field.
//
// A caller that does nothing special refuses the object for either, as for any error. One that knows better, because the
// pod is placed already or its volumes don't tie it to a node, goes on with the object it got:
//
//	pod, err := convert.Pod(p)
//	if pod == nil {
//		return err // invalid
//	}
//	if err != nil {
//		log.Print(err) // to be placed as if the field were not there
//	}
//
// Fields without bearing on placement (environment, probes, security context, emptyDir and config volumes, ...) and
// resources that kube-scheduler ignores (neither a standard one nor prefixed with a domain) are left out without a word.
//
// # The caller's duties
//
// Objects must not be changed during or after the conversion: the result shares maps and slices with its argument, as
// objects from an informer may be. Pods that ended (phase Succeeded or Failed) hold nothing and should not be converted;
// Pod reports them. Specs are not validated beyond what conversion needs; package berth does that where they enter.
//
// # Guarantees
//
// Converting is a pure function, safe for concurrent use, and panics on no object that a JSON decoder can produce.
// Converting back and forth again gives an equal object for everything that berth has a field for.
package convert
