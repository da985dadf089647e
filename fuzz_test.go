package berth

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// source turns bytes into specs: each choice takes a byte, and when they have run out every choice is 0. So all input is
// a spec, and a change of one byte is a change of one choice.
type source struct{ data []byte }

func (s *source) choose(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func (s *source) bool() bool { return s.choose(2) == 1 }

// pick takes one of the values, the first if there is no more input.
func pick[T any](s *source, values ...T) T { return values[s.choose(len(values))] }

// list takes up to three elements, or none at all, which is nil.
func list[T any](s *source, element func(*source) T) []T {
	var out []T
	for range s.choose(4) {
		out = append(out, element(s))
	}
	return out
}

func pointer[T any](s *source, value func(*source) T) *T {
	if !s.bool() {
		return nil
	}
	return new(value(s))
}

// A few names so that keys and values meet, and a few that are wrong.
func (s *source) text() string {
	return pick(s, "a", "b", "c", "", "zone", "1", "-1", "1.5", "a b", "x/y/z", FieldName, strings.Repeat("q", 100))
}

func (s *source) amount() int64 {
	return pick(s, 0, 1, 1000, MaxAmount, MaxAmount+1, math.MaxInt64, -1, math.MinInt64)
}

func (s *source) labels() map[string]string {
	n := s.choose(4)
	if n == 0 {
		return nil
	}
	labels := map[string]string{}
	for range n {
		labels[s.text()] = s.text()
	}
	return labels
}

func (s *source) resources() Resources {
	r := Resources{MilliCPU: s.amount(), Memory: s.amount(), EphemeralStorage: s.amount(), Pods: s.amount()}
	for range s.choose(3) {
		if r.Scalar == nil {
			r.Scalar = map[string]int64{}
		}
		r.Scalar[pick(s, "gpu", "", "cpu", "x")] = s.amount()
	}
	return r
}

func (s *source) requirement() Requirement {
	return Requirement{
		Key:      s.text(),
		Operator: pick(s, In, NotIn, Exists, DoesNotExist, Gt, Lt, "", "Is"),
		Values:   list(s, (*source).text),
	}
}

func (s *source) selector() LabelSelector {
	return LabelSelector{MatchLabels: s.labels(), MatchExpressions: list(s, (*source).requirement)}
}

func (s *source) nodeTerm() NodeSelectorTerm {
	return NodeSelectorTerm{MatchExpressions: list(s, (*source).requirement), MatchFields: list(s, (*source).requirement)}
}

func (s *source) podTerm() PodAffinityTerm {
	return PodAffinityTerm{
		LabelSelector: pointer(s, (*source).selector), Namespaces: list(s, (*source).text),
		NamespaceSelector: pointer(s, (*source).selector), TopologyKey: s.text(),
		MatchLabelKeys: list(s, (*source).text), MismatchLabelKeys: list(s, (*source).text),
	}
}

func (s *source) weight() int32 { return pick[int32](s, 1, 100, 0, 101, -1) }

func (s *source) podAffinity() PodAffinity {
	return PodAffinity{
		list(s, (*source).podTerm),
		list(s, func(s *source) WeightedPodAffinityTerm { return WeightedPodAffinityTerm{s.weight(), s.podTerm()} }),
	}
}

func (s *source) nodeAffinity() NodeAffinity {
	return NodeAffinity{
		pointer(s, func(s *source) NodeSelector { return NodeSelector{list(s, (*source).nodeTerm)} }),
		list(s, func(s *source) PreferredSchedulingTerm { return PreferredSchedulingTerm{s.weight(), s.nodeTerm()} }),
	}
}

func (s *source) constraint() TopologySpreadConstraint {
	return TopologySpreadConstraint{
		MaxSkew: pick[int32](s, 1, 0, -1), TopologyKey: s.text(),
		WhenUnsatisfiable: pick(s, DoNotSchedule, ScheduleAnyway, "", "x"), LabelSelector: pointer(s, (*source).selector),
		MinDomains: pointer(s, func(s *source) int32 { return pick[int32](s, 1, 0) }), NodeAffinityPolicy: pick(s, "", Honor, Ignore, "x"),
		NodeTaintsPolicy: pick(s, "", Honor, Ignore, "x"), MatchLabelKeys: list(s, (*source).text),
	}
}

func (s *source) effect() TaintEffect {
	return pick(s, NoSchedule, PreferNoSchedule, NoExecute, "", "x")
}

func podFrom(data []byte) *Pod {
	s := &source{data}
	p := &Pod{
		Namespace: pick(s, "default", ""), Name: pick(s, "pod", ""), Labels: s.labels(), NodeName: s.text(),
		Requests: s.resources(), Images: list(s, (*source).text), NodeSelector: s.labels(),
		GPU: GPURequest{
			Count: pick(s, 0, 1, 2, 64, 65, -1), Milli: pick[int64](s, 0, 1, GPUMilli, GPUMilli+1, -1),
			Models: list(s, (*source).text), Devices: list(s, func(s *source) int { return pick(s, 0, 1, 63, 64, -1) }),
		},
		HostPorts: list(s, func(s *source) HostPort {
			return HostPort{pick(s, "", "0.0.0.0", "10.0.0.1", "x"), pick(s, "", TCP, UDP, "x"), pick[int32](s, 1, 65535, 0, -1)}
		}),
		Tolerations: list(s, func(s *source) Toleration {
			return Toleration{s.text(), pick(s, "", TolerationEqual, TolerationExists, "Lt", "x"), s.text(), s.effect()}
		}),
		DefaultSpreadSelector: pointer(s, (*source).selector),
	}
	if s.bool() {
		p.NonZeroRequests = &NonZeroRequests{s.amount(), s.amount()}
	}
	p.TopologySpreadConstraints = list(s, (*source).constraint)
	p.Affinity = pointer(s, func(s *source) Affinity {
		return Affinity{
			pointer(s, (*source).nodeAffinity), pointer(s, (*source).podAffinity),
			(*PodAntiAffinity)(pointer(s, (*source).podAffinity)),
		}
	})
	return p
}

func nodeFrom(data []byte) *Node {
	s := &source{data}
	return &Node{
		Name: pick(s, "node", ""), Labels: s.labels(), Allocatable: s.resources(), GPUs: GPUs{Count: pick(s, 0, 64, 65, -1)},
		Taints: list(s, func(s *source) Taint { return Taint{s.text(), s.text(), s.effect()} }),
		Images: list(s, func(s *source) ContainerImage { return ContainerImage{list(s, (*source).text), s.amount()} }),
	}
}

// checkReport looks at what holds for any report, whatever the spec.
func checkReport(t *testing.T, fs, again Faults) {
	t.Helper()
	if !reflect.DeepEqual(fs, again) {
		t.Errorf("the same spec gave\n%v\nand\n%v", fs, again)
	}
	if len(fs) > 2*maxFaults {
		t.Errorf("%d faults", len(fs))
	}
	hard := 0
	for _, f := range fs {
		if f.Path == "" || f.Detail == "" || f.Object == "" || len(f.Path) > 400 || len(f.Value) > maxShown+3 {
			t.Errorf("fault %+v", f)
		}
		if !f.Soft {
			hard++
		}
	}
	if err := fs.Err(); (hard > 0) != errors.Is(err, ErrInvalid) || (hard > 0) != (err != nil) {
		t.Errorf("%d hard faults, but Err() = %v", hard, err)
	}
}

func seeds(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("every text is a spec, and the longer it is the more there is in it: 0123456789 abcdefghijklmnopqrstuvwxyz"))
	for stride := range byte(8) {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(i)*(2*stride+1) + stride
		}
		f.Add(data)
	}
}

// FuzzValidatePod also states what a clean report is worth: the requests of as many pods as fit can be added up, and every
// term that counts parses.
func FuzzValidatePod(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		pod := podFrom(data)
		fs := ValidatePod(pod)
		checkReport(t, fs, ValidatePod(podFrom(data)))
		if fs.Err() != nil {
			return
		}
		for _, name := range []string{ResourceCPU, ResourceMemory, ResourceEphemeralStorage, "gpu"} {
			if amount := pod.Requests.Get(name); amount < 0 || amount > math.MaxInt64/8191 {
				t.Errorf("%d of %s was accepted", amount, name)
			}
		}
		if a := pod.Affinity; a != nil && a.NodeAffinity != nil {
			for _, term := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				if term.Weight != 0 && !term.Preference.Parses() {
					t.Errorf("%+v was accepted", term)
				}
			}
		}
	})
}

func FuzzValidateNode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkReport(t, ValidateNode(nodeFrom(data)), ValidateNode(nodeFrom(data)))
	})
}

func FuzzFold(f *testing.F) {
	seeds(f)
	f.Fuzz(checkFold)
}
