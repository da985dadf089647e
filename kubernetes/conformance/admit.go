package conformance

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Admit returns the pod as the API server would store it: with a namespace, a UID and a scheduler, and with the
// matchLabelKeys and mismatchLabelKeys of its pod affinity terms merged into the selectors. (Those of spread constraints
// are left to the scheduler while the gate MatchLabelKeysInPodTopologySpreadSelectorMerge is off, as it is by default.)
// Quantities are as they come out of JSON: kube-scheduler adds to a pod's own requests in place where one is kept as a
// decimal, as that of "0.5Gi" is before it is stored as "512Mi". The given pod is not changed.
func Admit(p *v1.Pod) *v1.Pod {
	p = stored(p)
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
	if p.UID == "" {
		p.UID = types.UID(Key(p))
	}
	p.Spec.SchedulerName = v1.DefaultSchedulerName
	for _, t := range podAffinityTerms(p.Spec.Affinity) {
		mergeKeys(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
		mergeKeys(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, p.Labels)
	}
	return p
}

// stored returns the pod after a way through JSON, or a copy if there is no such way.
func stored(p *v1.Pod) *v1.Pod {
	data, err := json.Marshal(p)
	if err != nil {
		return p.DeepCopy()
	}
	out := new(v1.Pod)
	if json.Unmarshal(data, out) != nil {
		return p.DeepCopy()
	}
	return out
}

func podAffinityTerms(a *v1.Affinity) []*v1.PodAffinityTerm {
	var terms []*v1.PodAffinityTerm
	add := func(required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if a != nil && a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}

func mergeKeys(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, labels map[string]string) {
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, found := labels[key]; found {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
}
