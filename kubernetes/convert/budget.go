package convert

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
)

// PodDisruptionBudget converts a disruption budget. DisruptedPods are in the order of their names.
func PodDisruptionBudget(b *policyv1.PodDisruptionBudget) *berth.PodDisruptionBudget {
	out := &berth.PodDisruptionBudget{
		Namespace:          b.Namespace,
		Name:               b.Name,
		Selector:           labelSelector(b.Spec.Selector),
		DisruptionsAllowed: b.Status.DisruptionsAllowed,
	}
	for name := range b.Status.DisruptedPods {
		out.DisruptedPods = append(out.DisruptedPods, name)
	}
	slices.Sort(out.DisruptedPods)
	return out
}

// ToPodDisruptionBudget converts a disruption budget back. The times at which the disrupted pods were evicted are zero.
func ToPodDisruptionBudget(b *berth.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	out := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: toLabelSelector(b.Selector)},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: b.DisruptionsAllowed},
	}
	for _, name := range b.DisruptedPods {
		if out.Status.DisruptedPods == nil {
			out.Status.DisruptedPods = make(map[string]metav1.Time, len(b.DisruptedPods))
		}
		out.Status.DisruptedPods[name] = metav1.Time{}
	}
	return out
}
