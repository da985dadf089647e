package reference

import "github.com/berth-go/berth"

// tolerates follows api/core/v1, Toleration.ToleratesTaint, with the alpha operators Lt and Gt off.
func tolerates(tolerations []berth.Toleration, taint *berth.Taint) bool {
	for i := range tolerations {
		t := &tolerations[i]
		if t.Effect != "" && t.Effect != taint.Effect {
			continue
		}
		if t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case berth.TolerationExists:
			return true
		case "", berth.TolerationEqual:
			if t.Value == taint.Value {
				return true
			}
		}
	}
	return false
}

// toleratesNode reports whether the pod tolerates all of the node's taints that forbid scheduling.
func toleratesNode(pod *berth.Pod, node *berth.Node) bool {
	for i := range node.Taints {
		t := &node.Taints[i]
		if (t.Effect == berth.NoSchedule || t.Effect == berth.NoExecute) && !tolerates(pod.Tolerations, t) {
			return false
		}
	}
	return true
}

// filterTaints is plugins/tainttoleration.
func filterTaints(pod *berth.Pod, node *berth.Node) verdict {
	if toleratesNode(pod, node) {
		return passes
	}
	return unresolvable
}

// filterUnschedulable is plugins/nodeunschedulable.
func filterUnschedulable(pod *berth.Pod, node *berth.Node) verdict {
	cordon := berth.Taint{Key: berth.TaintNodeUnschedulable, Effect: berth.NoSchedule}
	if !node.Unschedulable || tolerates(pod.Tolerations, &cordon) {
		return passes
	}
	return unresolvable
}

// scoreTaints counts the PreferNoSchedule taints that the pod does not tolerate: few are good.
func scoreTaints(pod *berth.Pod, nodes []*berth.Node) []int64 {
	scores := make([]int64, len(nodes))
	for i, node := range nodes {
		for j := range node.Taints {
			t := &node.Taints[j]
			if t.Effect == berth.PreferNoSchedule && !tolerates(pod.Tolerations, t) {
				scores[i]++
			}
		}
	}
	normalise(scores)
	for i := range scores {
		scores[i] = 100 - scores[i]
	}
	return scores
}

// normalise scales scores to 0..100 by their maximum (plugins/helper/normalize_score.go). All zero stays zero.
func normalise(scores []int64) {
	var highest int64
	for _, s := range scores {
		highest = max(highest, s)
	}
	if highest == 0 {
		return
	}
	for i, s := range scores {
		scores[i] = 100 * s / highest
	}
}
