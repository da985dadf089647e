package convert

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
)

// each converts a list element by element; an empty list becomes nil, as the API does not tell them apart.
func each[A, B any](list []A, f func(*A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

func labelSelector(s *metav1.LabelSelector) *berth.LabelSelector {
	if s == nil {
		return nil
	}
	return &berth.LabelSelector{
		MatchLabels: s.MatchLabels,
		MatchExpressions: each(s.MatchExpressions, func(r *metav1.LabelSelectorRequirement) berth.Requirement {
			return berth.Requirement{Key: r.Key, Operator: berth.Operator(r.Operator), Values: r.Values}
		}),
	}
}

func toLabelSelector(s *berth.LabelSelector) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	return &metav1.LabelSelector{
		MatchLabels: s.MatchLabels,
		MatchExpressions: each(s.MatchExpressions, func(r *berth.Requirement) metav1.LabelSelectorRequirement {
			return metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values}
		}),
	}
}

func nodeRequirement(r *v1.NodeSelectorRequirement) berth.Requirement {
	return berth.Requirement{Key: r.Key, Operator: berth.Operator(r.Operator), Values: r.Values}
}

func toNodeRequirement(r *berth.Requirement) v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{Key: r.Key, Operator: v1.NodeSelectorOperator(r.Operator), Values: r.Values}
}

func nodeSelectorTerm(t *v1.NodeSelectorTerm) berth.NodeSelectorTerm {
	return berth.NodeSelectorTerm{
		MatchExpressions: each(t.MatchExpressions, nodeRequirement),
		MatchFields:      each(t.MatchFields, nodeRequirement),
	}
}

func toNodeSelectorTerm(t *berth.NodeSelectorTerm) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{
		MatchExpressions: each(t.MatchExpressions, toNodeRequirement),
		MatchFields:      each(t.MatchFields, toNodeRequirement),
	}
}
