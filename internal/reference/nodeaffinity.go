package reference

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// emptyTerm: a term without requirements matches nothing.
func emptyTerm(t *berth.NodeSelectorTerm) bool {
	return len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0
}

func termParses(t *berth.NodeSelectorTerm) bool {
	for i := range t.MatchExpressions {
		if !parses(&t.MatchExpressions[i]) {
			return false
		}
	}
	for _, f := range t.MatchFields {
		if f.Operator != berth.In && f.Operator != berth.NotIn || len(f.Values) != 1 {
			return false
		}
	}
	return true
}

// termMatches follows component-helpers/scheduling/corev1/nodeaffinity: a term that does not parse matches nothing, and a
// field other than metadata.name is the empty string.
func termMatches(t *berth.NodeSelectorTerm, node *berth.Node) bool {
	if emptyTerm(t) || !termParses(t) {
		return false
	}
	for i := range t.MatchExpressions {
		if !meets(node.Labels, &t.MatchExpressions[i]) {
			return false
		}
	}
	for _, f := range t.MatchFields {
		value := ""
		if f.Key == berth.FieldName {
			value = node.Name
		}
		if (f.Values[0] == value) != (f.Operator == berth.In) {
			return false
		}
	}
	return true
}

func requiredNodeTerms(pod *berth.Pod) *berth.NodeSelector {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// matchesNode reports whether the node meets the pod's node selector and required node affinity.
func matchesNode(pod *berth.Pod, node *berth.Node) bool {
	for key, value := range pod.NodeSelector {
		if have, ok := node.Labels[key]; !ok || have != value {
			return false
		}
	}
	required := requiredNodeTerms(pod)
	if required == nil {
		return true
	}
	for i := range required.NodeSelectorTerms {
		if termMatches(&required.NodeSelectorTerms[i], node) {
			return true
		}
	}
	return false
}

// filterNodeAffinity is plugins/nodeaffinity.
func filterNodeAffinity(pod *berth.Pod, node *berth.Node) verdict {
	if matchesNode(pod, node) {
		return passes
	}
	return unresolvable
}

// pinnedNodes returns the names that required matchFields leave, if every term names nodes: the plugin's PreFilter.
// It reads the terms' fields whether or not the terms parse.
func pinnedNodes(pod *berth.Pod) (names []string, pinned bool) {
	required := requiredNodeTerms(pod)
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		return nil, false
	}
	for i := range required.NodeSelectorTerms {
		var ofTerm []string
		named := false
		for _, f := range required.NodeSelectorTerms[i].MatchFields {
			if f.Key != berth.FieldName || f.Operator != berth.In {
				continue
			}
			if !named {
				ofTerm, named = slices.Clone(f.Values), true
				continue
			}
			ofTerm = slices.DeleteFunc(ofTerm, func(name string) bool { return !slices.Contains(f.Values, name) })
		}
		if !named {
			return nil, false
		}
		names = append(names, ofTerm...)
	}
	return names, true
}

// scoreNodeAffinity sums the weights of the preferred terms that a node matches.
func scoreNodeAffinity(pod *berth.Pod, nodes []*berth.Node) ([]int64, error) {
	scores := make([]int64, len(nodes))
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return scores, nil
	}
	for i := range pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
		if t.Weight == 0 || emptyTerm(&t.Preference) {
			continue
		}
		if !termParses(&t.Preference) {
			return nil, fmt.Errorf("reference: pod %v: preferred node affinity term %d does not parse", pod.Key(), i)
		}
		for j, node := range nodes {
			if termMatches(&t.Preference, node) {
				scores[j] += int64(t.Weight)
			}
		}
	}
	normalise(scores)
	return scores, nil
}
