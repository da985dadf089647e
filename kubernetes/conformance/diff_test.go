package conformance

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func evaluation() *Evaluation {
	return &Evaluation{
		Refusals: map[string]Refusal{"full": {Plugin: NodeResourcesFit, Resolvable: true, Reason: "cpu"}},
		Scores:   map[string]map[string]int64{NodeAffinity: {"a": 100, "b": 100, "c": 0}},
		Totals:   map[string]int64{"a": 100, "b": 100, "c": 0},
	}
}

func TestBestAreAllNodesOfTheHighestTotal(t *testing.T) {
	if best := evaluation().Best(); !slices.Equal(best, []string{"a", "b"}) {
		t.Errorf("best %v", best)
	}
	if best := (&Evaluation{}).Best(); len(best) != 0 {
		t.Errorf("best of nothing: %v", best)
	}
	negative := &Evaluation{Totals: map[string]int64{"a": -5, "b": -7}}
	if best := negative.Best(); !slices.Equal(best, []string{"a"}) {
		t.Errorf("best of negative totals: %v", best)
	}
}

func TestEvaluationDiff(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*Evaluation)
		want   []string
	}{
		{"reasons are not compared", func(e *Evaluation) { e.Refusals["full"] = Refusal{Plugin: NodeResourcesFit, Resolvable: true} }, nil},
		{
			"another plugin refuses", func(e *Evaluation) { e.Refusals["full"] = Refusal{Plugin: NodePorts, Resolvable: true} },
			[]string{"node full: refused by NodePorts (resolvable), kube-scheduler: NodeResourcesFit (resolvable)"},
		},
		{
			"preemption could not help", func(e *Evaluation) { e.Refusals["full"] = Refusal{Plugin: NodeResourcesFit} },
			[]string{"node full: refused by NodeResourcesFit (unresolvable), kube-scheduler: NodeResourcesFit (resolvable)"},
		},
		{
			"a node is feasible", func(e *Evaluation) { delete(e.Refusals, "full"); e.Totals["full"] = 0 },
			[]string{
				"node full: refused by nobody, kube-scheduler: NodeResourcesFit (resolvable)",
				"node full: total 0 (feasible: true), kube-scheduler: 0 (false)",
			},
		},
		{
			"a score is another", func(e *Evaluation) { e.Scores[NodeAffinity]["c"], e.Totals["c"] = 1, 1 },
			[]string{"node c: NodeAffinity scores 1, kube-scheduler: 0", "node c: total 1 (feasible: true), kube-scheduler: 0 (true)"},
		},
		{
			"other nodes are best", func(e *Evaluation) { e.Scores[NodeAffinity]["b"], e.Totals["b"] = 99, 99 },
			[]string{
				"node b: NodeAffinity scores 99, kube-scheduler: 100", "node b: total 99 (feasible: true), kube-scheduler: 100 (true)",
				"best [a], kube-scheduler: [a b]",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			e := evaluation()
			test.change(e)
			if got := e.Diff(evaluation()); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestPreemptionDiff(t *testing.T) {
	judge := &Preemption{
		Candidates: map[string]Victims{"a": {Pods: []string{"x/p"}, Violations: 1}, "b": {Pods: []string{"x/q"}}},
		Chosen:     []string{"a", "b"},
	}
	tests := []struct {
		rule string
		got  Preemption
		want int
	}{
		{"any of the best may be chosen", Preemption{judge.Candidates, []string{"b"}}, 0},
		{"one must be chosen", Preemption{judge.Candidates, nil}, 1},
		{"none but the best may be chosen", Preemption{judge.Candidates, []string{"c"}}, 1},
		{"a candidate is missing", Preemption{map[string]Victims{"a": judge.Candidates["a"]}, []string{"a"}}, 1},
		{"a candidate is none", Preemption{map[string]Victims{"a": judge.Candidates["a"], "b": judge.Candidates["b"], "c": {}}, []string{"a"}}, 1},
		{"other victims", Preemption{map[string]Victims{"a": {Pods: []string{"x/q"}, Violations: 1}, "b": judge.Candidates["b"]}, []string{"a"}}, 1},
		{"other violations", Preemption{map[string]Victims{"a": {Pods: []string{"x/p"}}, "b": judge.Candidates["b"]}, []string{"a"}}, 1},
	}
	for _, test := range tests {
		if lines := test.got.Diff(judge); len(lines) != test.want {
			t.Errorf("%s: %q", test.rule, lines)
		}
	}
}

func TestAdmit(t *testing.T) {
	selector := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	term := v1.PodAffinityTerm{LabelSelector: selector(), MatchLabelKeys: []string{"rev", "absent"}, MismatchLabelKeys: []string{"tenant"}}
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"rev": "1", "tenant": "t"}},
		Spec: v1.PodSpec{
			Affinity: &v1.Affinity{
				PodAffinity:     &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term, {MatchLabelKeys: []string{"rev"}}}},
				PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{PodAffinityTerm: term}}},
			},
			TopologySpreadConstraints: []v1.TopologySpreadConstraint{{LabelSelector: selector(), MatchLabelKeys: []string{"rev"}}},
		},
	}
	got := Admit(p)
	if Key(got) != "default/p" || got.UID == "" || got.Spec.SchedulerName != v1.DefaultSchedulerName {
		t.Errorf("stored as %s, UID %q, for %q", Key(got), got.UID, got.Spec.SchedulerName)
	}
	folded := []metav1.LabelSelectorRequirement{
		{Key: "rev", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}},
		{Key: "tenant", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"t"}},
	}
	check := func(what string, s *metav1.LabelSelector, want []metav1.LabelSelectorRequirement) {
		t.Helper()
		if s == nil {
			t.Errorf("%s: selector is gone", what)
			return
		}
		if !slices.EqualFunc(s.MatchExpressions, want, func(a, b metav1.LabelSelectorRequirement) bool {
			return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
		}) {
			t.Errorf("%s: %+v", what, s.MatchExpressions)
		}
	}
	a := got.Spec.Affinity
	check("affinity", a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector, folded)
	check("anti-affinity", a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector, folded)
	check("spread, which the scheduler folds", got.Spec.TopologySpreadConstraints[0].LabelSelector, nil)
	if a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[1].LabelSelector != nil {
		t.Error("a term without a selector got one")
	}
	check("the pod that was given", p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector, nil)
}
