package berth

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestFoldMergesLabelKeys(t *testing.T) {
	labels := map[string]string{"revision": "7", "tenant": "t1", "empty": ""}
	app := map[string]string{"app": "web"}
	for _, test := range []struct {
		rule            string
		selector        *LabelSelector
		match, mismatch []string
		want            *LabelSelector
	}{
		{"a key to match becomes In", &LabelSelector{MatchLabels: app}, []string{"revision"}, nil,
			&LabelSelector{app, []Requirement{{"revision", In, []string{"7"}}}}},
		{"a key to mismatch becomes NotIn", &LabelSelector{MatchLabels: app}, nil, []string{"tenant"},
			&LabelSelector{app, []Requirement{{"tenant", NotIn, []string{"t1"}}}}},
		{"matches come first, each in the order of its list, after what is there",
			&LabelSelector{MatchExpressions: []Requirement{{"a", Exists, nil}}}, []string{"tenant", "revision"}, []string{"empty"},
			&LabelSelector{nil, []Requirement{
				{"a", Exists, nil}, {"tenant", In, []string{"t1"}}, {"revision", In, []string{"7"}}, {"empty", NotIn, []string{""}},
			}}},
		{"a selector of everything is narrowed", &LabelSelector{}, []string{"revision"}, nil,
			&LabelSelector{nil, []Requirement{{"revision", In, []string{"7"}}}}},
		{"no selector stays none, for it selects nothing", nil, []string{"revision"}, []string{"tenant"}, nil},
		{"a key that the pod does not carry is ignored", &LabelSelector{}, []string{"gone"}, []string{"gone"}, &LabelSelector{}},
		{"a key is merged once", &LabelSelector{}, []string{"revision", "revision"}, nil,
			&LabelSelector{nil, []Requirement{{"revision", In, []string{"7"}}}}},
		{"what is merged already stays", &LabelSelector{nil, []Requirement{{"revision", In, []string{"7"}}}}, []string{"revision"}, nil,
			&LabelSelector{nil, []Requirement{{"revision", In, []string{"7"}}}}},
		{"another requirement on the key is kept beside it", &LabelSelector{nil, []Requirement{{"tenant", NotIn, []string{"t2"}}}}, nil, []string{"tenant"},
			&LabelSelector{nil, []Requirement{{"tenant", NotIn, []string{"t2"}}, {"tenant", NotIn, []string{"t1"}}}}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			term := PodAffinityTerm{LabelSelector: test.selector, MatchLabelKeys: test.match, MismatchLabelKeys: test.mismatch}
			pod := &Pod{Labels: labels, Affinity: &Affinity{
				PodAffinity:     &PodAffinity{[]PodAffinityTerm{term}, []WeightedPodAffinityTerm{{1, term}}},
				PodAntiAffinity: &PodAntiAffinity{[]PodAffinityTerm{term}, []WeightedPodAffinityTerm{{1, term}}},
			}}
			if test.mismatch == nil { // a spread constraint has only keys to match
				pod.TopologySpreadConstraints = []TopologySpreadConstraint{{LabelSelector: test.selector, MatchLabelKeys: test.match}}
			}
			folded := Fold(pod)
			for where, got := range selectors(folded) {
				if !reflect.DeepEqual(got, test.want) {
					t.Errorf("%s: %+v, want %+v", where, got, test.want)
				}
			}
			if again := Fold(folded); again != folded {
				t.Error("folding twice changed the pod")
			}
		})
	}
}

// selectors returns the selectors that Fold is about, by the term that they belong to.
func selectors(p *Pod) map[string]*LabelSelector {
	near, apart := p.Affinity.PodAffinity, p.Affinity.PodAntiAffinity
	out := map[string]*LabelSelector{
		"required affinity":       near.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector,
		"preferred affinity":      near.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector,
		"required anti-affinity":  apart.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector,
		"preferred anti-affinity": apart.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector,
	}
	if len(p.TopologySpreadConstraints) > 0 {
		out["spread"] = p.TopologySpreadConstraints[0].LabelSelector
	}
	return out
}

func TestFoldReturnsThePodItselfIfThereIsNothingToMerge(t *testing.T) {
	pod := goodPod()
	if Fold(pod) != pod {
		t.Error("a folded pod was copied")
	}
	if bare := (&Pod{}); Fold(bare) != bare {
		t.Error("a bare pod was copied")
	}
	if n := testing.AllocsPerRun(100, func() { Fold(pod) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFoldSharesWhatItDoesNotChange(t *testing.T) {
	pod := goodPod()
	pod.TopologySpreadConstraints[0].LabelSelector = &LabelSelector{}
	folded := Fold(pod)
	if folded == pod || folded.Affinity != pod.Affinity {
		t.Error("only the constraints need a copy")
	}
	if len(pod.TopologySpreadConstraints[0].LabelSelector.MatchExpressions) != 0 {
		t.Error("the given pod was changed")
	}
	if want := brief(ValidatePod(folded)); want != nil {
		t.Errorf("a folded pod has faults: %v", want)
	}
}

// A selector with room to grow is where an append without a copy would write into the caller's array.
func TestFoldDoesNotWriteIntoSpareCapacity(t *testing.T) {
	backing := make([]Requirement, 2)
	selector := &LabelSelector{MatchExpressions: backing[:1:2]}
	Fold(&Pod{
		Labels: map[string]string{"a": "1"}, TopologySpreadConstraints: []TopologySpreadConstraint{{LabelSelector: selector, MatchLabelKeys: []string{"a"}}},
	})
	if !reflect.DeepEqual(backing, make([]Requirement, 2)) {
		t.Errorf("the caller's array became %+v", backing)
	}
}

// TestFoldEqualsTheObviousWay folds random pods and compares with a copy of everything that is then changed in place, which
// is what the API server does.
func TestFoldEqualsTheObviousWay(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		data := make([]byte, random.IntN(400))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		checkFold(t, data)
	}
}

// checkFold makes a pod of data, folds it, and looks at everything that Fold promises.
func checkFold(t *testing.T, data []byte) {
	t.Helper()
	pod, want := podFrom(data), podFrom(data)
	foldInPlace(want)
	folded := Fold(pod)
	if !reflect.DeepEqual(folded, want) {
		t.Errorf("folded %+v\nwant %+v", folded, want)
	}
	if !reflect.DeepEqual(pod, podFrom(data)) {
		t.Errorf("the given pod was changed to %+v", pod)
	}
	if again := Fold(folded); again != folded {
		t.Error("folding twice changed the pod")
	}
	if changed := folded != pod; changed == reflect.DeepEqual(folded, pod) {
		t.Errorf("a copy was made: %v", changed)
	}
}

func foldInPlace(p *Pod) {
	add := func(s *LabelSelector, keys []string, op Operator) {
		if s == nil {
			return
		}
		for _, key := range keys {
			if value, found := p.Labels[key]; found && !s.requires(key, op, value) {
				s.MatchExpressions = append(s.MatchExpressions, Requirement{key, op, []string{value}})
			}
		}
	}
	term := func(t *PodAffinityTerm) {
		add(t.LabelSelector, t.MatchLabelKeys, In)
		add(t.LabelSelector, t.MismatchLabelKeys, NotIn)
	}
	terms := func(a *PodAffinity) {
		if a == nil {
			return
		}
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			term(&a.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			term(&a.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	if p.Affinity != nil {
		terms(p.Affinity.PodAffinity)
		terms((*PodAffinity)(p.Affinity.PodAntiAffinity))
	}
	for i := range p.TopologySpreadConstraints {
		c := &p.TopologySpreadConstraints[i]
		add(c.LabelSelector, c.MatchLabelKeys, In)
	}
}
