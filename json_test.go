package berth

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// survives checks that a spec comes back from JSON as it was, to the difference between nil and empty.
func survives[T any](t *testing.T, spec *T) {
	t.Helper()
	data, err := json.Marshal(spec)
	require.NoError(t, err)
	got := new(T)
	require.NoError(t, json.Unmarshal(data, got))
	if !reflect.DeepEqual(spec, got) {
		t.Errorf("%s\ncame back as\n%+v\nfor\n%+v", data, got, spec)
	}
}

func FuzzJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		survives(t, podFrom(data))
		survives(t, nodeFrom(data))
	})
}

// TestJSONTellsNilFromEmpty: a nil selector selects nothing, an empty one everything.
func TestJSONTellsNilFromEmpty(t *testing.T) {
	survives(t, &Pod{})
	survives(t, &Pod{
		Labels: map[string]string{}, HostPorts: []HostPort{}, Images: []string{}, NodeSelector: map[string]string{},
		Affinity: &Affinity{
			NodeAffinity: &NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &NodeSelector{NodeSelectorTerms: []NodeSelectorTerm{{}}}},
			PodAffinity:  &PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []PodAffinityTerm{}},
			PodAntiAffinity: &PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []PodAffinityTerm{
				{LabelSelector: &LabelSelector{}}, {NamespaceSelector: &LabelSelector{MatchExpressions: []Requirement{}}},
			}},
		},
		Tolerations: []Toleration{{}}, GPU: GPURequest{Models: []string{}, Devices: []int{}},
		Requests:                  Resources{Scalar: map[string]int64{}},
		NonZeroRequests:           &NonZeroRequests{},
		TopologySpreadConstraints: []TopologySpreadConstraint{{MinDomains: new(int32)}},
		DefaultSpreadSelector:     &LabelSelector{MatchLabels: map[string]string{}},
	})
	survives(t, &Node{Labels: map[string]string{}, Taints: []Taint{}, Images: []ContainerImage{{Names: []string{}}, {}}})
	survives(t, &Namespace{Labels: map[string]string{}})
	survives(t, &PodDisruptionBudget{Selector: &LabelSelector{}, DisruptedPods: []string{}})
}

func TestEveryFieldIsNamedInJSON(t *testing.T) {
	seen := make(map[reflect.Type]bool)
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			if seen[of] || of == reflect.TypeFor[time.Time]() {
				return
			}
			seen[of] = true
			for field := range of.Fields() {
				name, found := strings.CutSuffix(field.Tag.Get("json"), ",omitzero")
				if !found || !strings.EqualFold(name, field.Name) || name[0] < 'a' {
					t.Errorf("%v.%s is called %q", of, field.Name, field.Tag)
				}
				walk(field.Type)
			}
		}
	}
	walk(reflect.TypeFor[Pod]())
	walk(reflect.TypeFor[Node]())
	walk(reflect.TypeFor[Namespace]())
	walk(reflect.TypeFor[PodKey]())
	walk(reflect.TypeFor[PodDisruptionBudget]())
	require.Greater(t, len(seen), 20)
}
