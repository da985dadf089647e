package berth

import "slices"

// Fold returns the pod with its matchLabelKeys and mismatchLabelKeys merged into the label selectors beside them, as the
// Kubernetes API server does when a pod is created (pkg/registry/core/pod/strategy.go): for each key that the pod carries
// with a value v, "key In [v]" or "key NotIn [v]" joins the selector of the pod affinity, pod anti-affinity or topology
// spread term. A term without a selector selects nothing and stays so; a key that the pod does not carry is ignored.
//
// Rules are compiled from the selectors alone, so fold a pod once, when it is created, before it is handed to anything
// else. A pod that was read from an API server is folded already. The keys stay in their lists, as they do in the API, and
// a requirement that a selector already has is not added again: Fold(Fold(p)) is Fold(p) as long as the labels are the same.
//
// The given pod is not changed. The result is p itself if there is nothing to merge; otherwise it is a copy that shares
// with p all but the changed terms. The cost is linear in the terms, and there is no allocation unless one changes.
func Fold(p *Pod) *Pod {
	affinity := foldAffinity(p.Affinity, p.Labels)
	constraints, changed := foldTerms(p.TopologySpreadConstraints, p.Labels, func(c *TopologySpreadConstraint) foldable {
		return foldable{&c.LabelSelector, c.MatchLabelKeys, nil}
	})
	if affinity == p.Affinity && !changed {
		return p
	}
	folded := *p
	folded.Affinity = affinity
	folded.TopologySpreadConstraints = constraints
	return &folded
}

func foldAffinity(a *Affinity, labels map[string]string) *Affinity {
	if a == nil {
		return nil
	}
	near := foldPodAffinity(a.PodAffinity, labels)
	apart := (*PodAntiAffinity)(foldPodAffinity((*PodAffinity)(a.PodAntiAffinity), labels))
	if near == a.PodAffinity && apart == a.PodAntiAffinity {
		return a
	}
	return &Affinity{a.NodeAffinity, near, apart}
}

// foldPodAffinity serves anti-affinity too: its terms are of the same form.
func foldPodAffinity(a *PodAffinity, labels map[string]string) *PodAffinity {
	if a == nil {
		return nil
	}
	required, changed := foldTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, labels,
		func(t *PodAffinityTerm) foldable {
			return foldable{&t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys}
		})
	preferred, preferredChanged := foldTerms(a.PreferredDuringSchedulingIgnoredDuringExecution, labels,
		func(t *WeightedPodAffinityTerm) foldable {
			return foldable{&t.PodAffinityTerm.LabelSelector, t.PodAffinityTerm.MatchLabelKeys, t.PodAffinityTerm.MismatchLabelKeys}
		})
	if !changed && !preferredChanged {
		return a
	}
	return &PodAffinity{required, preferred}
}

// foldable is the part of a term that folding is about.
type foldable struct {
	selector        **LabelSelector
	match, mismatch []string
}

// foldTerms returns the terms folded and true, or the terms themselves and false if there is nothing to fold.
func foldTerms[T any](terms []T, labels map[string]string, part func(*T) foldable) ([]T, bool) {
	folded, changed := terms, false
	for i := range terms {
		t := part(&terms[i])
		selector := merge(*t.selector, In, t.match, labels)
		selector = merge(selector, NotIn, t.mismatch, labels)
		if selector == *t.selector {
			continue
		}
		if !changed {
			folded, changed = slices.Clone(terms), true
		}
		*part(&folded[i]).selector = selector
	}
	return folded, changed
}

// merge returns the selector with a requirement more for each key that the labels have and the selector lacks.
func merge(s *LabelSelector, op Operator, keys []string, labels map[string]string) *LabelSelector {
	if s == nil {
		return nil
	}
	merged := s
	for _, key := range keys {
		value, found := labels[key]
		if !found || merged.requires(key, op, value) {
			continue
		}
		if merged == s {
			merged = &LabelSelector{s.MatchLabels, slices.Clone(s.MatchExpressions)}
		}
		merged.MatchExpressions = append(merged.MatchExpressions, Requirement{key, op, []string{value}})
	}
	return merged
}

// requires reports whether "key op [value]" is one of the selector's expressions.
func (s *LabelSelector) requires(key string, op Operator, value string) bool {
	return slices.ContainsFunc(s.MatchExpressions, func(r Requirement) bool {
		return r.Key == key && r.Operator == op && len(r.Values) == 1 && r.Values[0] == value
	})
}
