package berth

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goodNode and goodPod use every field in a way that nothing can be said against.
func goodNode() *Node {
	return &Node{
		Name:   "node-1",
		Labels: map[string]string{LabelHostname: "node-1", LabelZone: "a", "disk": "ssd", "empty": ""},
		Taints: []Taint{
			{Key: "dedicated", Value: "gpu", Effect: NoSchedule},
			{Key: "dedicated", Value: "gpu", Effect: NoExecute},
			{Key: "slow", Effect: PreferNoSchedule},
		},
		Unschedulable: true,
		Allocatable: Resources{
			MilliCPU: 64_000, Memory: 256 << 30, EphemeralStorage: 1 << 40, Pods: 110,
			Scalar: map[string]int64{"nvidia.com/gpu": 8, "hugepages-2Mi": MaxAmount},
		},
		GPUs:   GPUs{Model: "V100", Count: 64},
		Images: []ContainerImage{{Names: []string{"app:latest", "app:1"}, SizeBytes: 1 << 30}},
	}
}

func goodPod() *Pod {
	web := &LabelSelector{
		MatchLabels: map[string]string{"app": "web"},
		MatchExpressions: []Requirement{
			{"tier", In, []string{"a", "b"}},
			{"gone", DoesNotExist, nil},
			{"revision", In, []string{"7"}}, // merged from matchLabelKeys
			{"tenant", NotIn, []string{"t1"}},
		},
	}
	term := PodAffinityTerm{
		LabelSelector: web, Namespaces: []string{"default"}, NamespaceSelector: &LabelSelector{}, TopologyKey: LabelZone,
		MatchLabelKeys: []string{"revision"}, MismatchLabelKeys: []string{"tenant"},
	}
	return &Pod{
		Namespace: "default",
		Name:      "web-1",
		Labels:    map[string]string{"app": "web", "revision": "7", "tenant": "t1"},
		Requests: Resources{
			MilliCPU: 500, Memory: 1 << 30, EphemeralStorage: 1 << 20, Scalar: map[string]int64{"nvidia.com/gpu": 1},
		},
		NonZeroRequests: &NonZeroRequests{MilliCPU: 500, Memory: 1 << 30},
		NodeName:        "node-1",
		GPU:             GPURequest{Count: 2, Milli: GPUMilli, Models: []string{"V100"}, Devices: []int{0, 63}},
		HostPorts:       []HostPort{{"", TCP, 80}, {"10.0.0.1", UDP, 65535}, {"::1", SCTP, 1}, {"", "", 443}},
		Images:          []string{"app:latest", "app:latest"},
		NodeSelector:    map[string]string{"disk": "ssd"},
		Affinity: &Affinity{
			NodeAffinity: &NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &NodeSelector{[]NodeSelectorTerm{
					{MatchExpressions: []Requirement{
						{LabelZone, In, []string{"a", "b", ""}}, {"cores", Gt, []string{"16"}}, {"old", DoesNotExist, nil}, {"disk", Exists, nil},
					}},
					{MatchFields: []Requirement{{FieldName, NotIn, []string{"node-2"}}}},
				}},
				PreferredDuringSchedulingIgnoredDuringExecution: []PreferredSchedulingTerm{
					{Weight: 100, Preference: NodeSelectorTerm{MatchExpressions: []Requirement{{"age", Lt, []string{"9223372036854775807"}}}}},
				},
			},
			PodAffinity:     &PodAffinity{[]PodAffinityTerm{term}, []WeightedPodAffinityTerm{{1, term}}},
			PodAntiAffinity: &PodAntiAffinity{[]PodAffinityTerm{term}, []WeightedPodAffinityTerm{{100, term}}},
		},
		Tolerations: []Toleration{
			{Key: "dedicated", Operator: TolerationEqual, Value: "gpu", Effect: NoSchedule},
			{Key: "dedicated", Value: "gpu"},
			{Operator: TolerationExists, Effect: NoExecute},
		},
		TopologySpreadConstraints: []TopologySpreadConstraint{
			{
				MaxSkew: 1, TopologyKey: LabelZone, WhenUnsatisfiable: DoNotSchedule, LabelSelector: web, MinDomains: new(int32(3)),
				NodeAffinityPolicy: Ignore, NodeTaintsPolicy: Honor, MatchLabelKeys: []string{"revision"},
			},
			{MaxSkew: math.MaxInt32, TopologyKey: LabelHostname, WhenUnsatisfiable: ScheduleAnyway},
		},
		DefaultSpreadSelector: web,
	}
}

func goodBudget() *PodDisruptionBudget {
	return &PodDisruptionBudget{
		Namespace: "default", Name: "web", DisruptionsAllowed: 1, DisruptedPods: []string{"web-3"},
		Selector: &LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}
}

// brief spells faults as the tables below do: severity, path and value.
func brief(fs Faults) []string {
	var out []string
	for _, f := range fs {
		severity := "hard"
		if f.Soft {
			severity = "soft"
		}
		out = append(out, fmt.Sprintf("%s %s %q", severity, f.Path, f.Value))
	}
	return out
}

func checkFaults(t *testing.T, got Faults, want []string) {
	t.Helper()
	if !slices.Equal(brief(got), want) {
		t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(brief(got), "\n"), strings.Join(want, "\n"))
	}
	hard := slices.ContainsFunc(got, func(f *Fault) bool { return !f.Soft })
	err := got.Err()
	if (err != nil) != hard || errors.Is(err, ErrInvalid) != hard {
		t.Errorf("Err() = %v, want an error exactly if there is a hard fault", err)
	}
	for _, f := range got {
		if f.Detail == "" || f.Object == "" {
			t.Errorf("%+v lacks detail or object", f)
		}
		text := f.Error()
		if !strings.HasPrefix(text, "berth: "+f.Object) || !strings.Contains(text, f.Path) || !strings.Contains(text, strconv.Quote(f.Value)) {
			t.Errorf("%q does not name object, field and value", text)
		}
	}
}

func TestGoodSpecsHaveNoFaultsAndCostNoAllocation(t *testing.T) {
	node, pod, budget := goodNode(), goodPod(), goodBudget()
	namespace := &Namespace{Name: "default", Labels: map[string]string{"team": "a"}}
	term := pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference
	for name, validate := range map[string]func() Faults{
		"node":      func() Faults { return ValidateNode(node) },
		"pod":       func() Faults { return ValidatePod(pod) },
		"namespace": func() Faults { return ValidateNamespace(namespace) },
		"budget":    func() Faults { return ValidateBudget(budget) },
		"term":      func() Faults { term.Parses(); return nil },
	} {
		if fs := validate(); fs != nil || fs.Err() != nil {
			t.Errorf("%s: %v", name, fs)
		}
		if n := testing.AllocsPerRun(100, func() { validate() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestValidateNode(t *testing.T) {
	for _, test := range []struct {
		rule   string
		change func(n *Node)
		want   []string
	}{
		{"a node has a name", func(n *Node) { n.Name = "" }, []string{`hard metadata.name ""`}},
		{"an amount is not negative", func(n *Node) { n.Allocatable.MilliCPU, n.Allocatable.Memory = -1, math.MinInt64 }, []string{
			`hard status.allocatable[cpu] "-1m"`,
			`hard status.allocatable[memory] "-9223372036854775808"`,
		}},
		{"an amount is small enough to be added up", func(n *Node) {
			n.Allocatable.Pods, n.Allocatable.EphemeralStorage = MaxAmount+1, math.MaxInt64
		}, []string{
			`hard status.allocatable[ephemeral-storage] "9223372036854775807"`,
			`hard status.allocatable[pods] "1125899906842625"`,
		}},
		{"a scalar resource has a name, a right amount and no field of its own, and faults are in the order of names", func(n *Node) {
			n.Allocatable.Scalar = map[string]int64{"z": -1, "": 1, "memory": 1, "a": math.MaxInt64, "good": 1}
		}, []string{
			`hard status.allocatable[] ""`,
			`hard status.allocatable[a] "9223372036854775807"`,
			`hard status.allocatable[memory] "memory"`,
			`hard status.allocatable[z] "-1"`,
		}},
		{"a label has a key", func(n *Node) { n.Labels = map[string]string{"": "x"} }, []string{`hard metadata.labels[] ""`}},
		{"labels that the API server would not store are accepted", func(n *Node) {
			n.Labels = map[string]string{"a b": "", "zone": "no such zone!", "good": "x"}
		}, []string{`soft metadata.labels[a b] "a b"`, `soft metadata.labels[zone] "no such zone!"`}},
		{"there are at most MaxLabels labels", func(n *Node) { n.Labels = manyLabels(10_000) },
			[]string{`hard metadata.labels "10000 entries"`}},
		{"MaxLabels labels are not too many", func(n *Node) { n.Labels = manyLabels(MaxLabels) }, nil},
		{"a taint has a key and a known effect", func(n *Node) {
			n.Taints = []Taint{{Key: "a"}, {Key: "b", Effect: "noschedule"}, {Effect: NoExecute}}
		}, []string{
			`hard spec.taints[0].effect ""`,
			`hard spec.taints[1].effect "noschedule"`,
			`hard spec.taints[2].key ""`,
		}},
		{"taints of the same key and effect both count", func(n *Node) {
			n.Taints = []Taint{{"a", "1", NoSchedule}, {"a", "2", NoExecute}, {"a", "3", NoSchedule}}
		}, []string{`soft spec.taints[2] "a"`}},
		{"taints that the API server would not store are accepted", func(n *Node) { n.Taints = []Taint{{"a/b/c", "x y", NoSchedule}} },
			[]string{`soft spec.taints[0].key "a/b/c"`, `soft spec.taints[0].value "x y"`}},
		{"a node has at most 64 GPUs", func(n *Node) { n.GPUs.Count = 65 }, []string{`hard status.gpus.count "65"`}},
		{"a number of GPUs is not negative", func(n *Node) { n.GPUs.Count = -1 }, []string{`hard status.gpus.count "-1"`}},
		{"an image's size is an amount", func(n *Node) { n.Images = []ContainerImage{{[]string{"a:1"}, -5}} },
			[]string{`hard status.images[0].sizeBytes "-5"`}},
		{"an image without a name is of no use", func(n *Node) { n.Images = []ContainerImage{{}, {Names: []string{""}}} },
			[]string{`soft status.images[0].names ""`, `soft status.images[1].names[0] ""`}},
		{"a list is bounded", func(n *Node) { n.Taints, n.Images = make([]Taint, MaxItems+1), make([]ContainerImage, MaxItems+1) },
			[]string{`hard spec.taints "10001 entries"`, `hard status.images "10001 entries"`}},
		{"all faults come at once", func(n *Node) {
			n.Name, n.Allocatable.MilliCPU, n.GPUs.Count, n.Taints = "", -1, 100, []Taint{{}}
		}, []string{
			`hard metadata.name ""`,
			`hard spec.taints[0].key ""`,
			`hard spec.taints[0].effect ""`,
			`hard status.allocatable[cpu] "-1m"`,
			`hard status.gpus.count "100"`,
		}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			n := goodNode()
			test.change(n)
			checkFaults(t, ValidateNode(n), test.want)
		})
	}
}

func manyLabels(n int) map[string]string {
	labels := make(map[string]string, n)
	for i := range n {
		labels["key-"+strconv.Itoa(i)] = "v"
	}
	return labels
}

func TestValidateNamespace(t *testing.T) {
	checkFaults(t, ValidateNamespace(&Namespace{Labels: map[string]string{"": "", "a": "?"}}),
		[]string{`hard metadata.name ""`, `hard metadata.labels[] ""`, `soft metadata.labels[a] "?"`})
	checkFaults(t, ValidateNamespace(&Namespace{Name: "a", Labels: manyLabels(MaxLabels + 1)}),
		[]string{`hard metadata.labels "1001 entries"`})
}

func TestValidateBudget(t *testing.T) {
	for _, test := range []struct {
		rule   string
		change func(b *PodDisruptionBudget)
		want   []string
	}{
		{"a budget has a name and a namespace", func(b *PodDisruptionBudget) { b.Namespace, b.Name = "", "" },
			[]string{`hard metadata.namespace ""`, `hard metadata.name ""`}},
		{"a budget without a selector selects nothing", func(b *PodDisruptionBudget) { b.Selector = nil }, []string{`soft spec.selector ""`}},
		{"a budget with an empty selector selects nothing", func(b *PodDisruptionBudget) { b.Selector = &LabelSelector{} },
			[]string{`soft spec.selector ""`}},
		{"a selector parses", func(b *PodDisruptionBudget) { b.Selector.MatchExpressions = []Requirement{{"a", Gt, []string{"1"}}} },
			[]string{`hard spec.selector.matchExpressions[0].operator "Gt"`}},
		{"allowed disruptions are not negative", func(b *PodDisruptionBudget) { b.DisruptionsAllowed = -1 },
			[]string{`hard status.disruptionsAllowed "-1"`}},
		{"a disrupted pod has a name", func(b *PodDisruptionBudget) { b.DisruptedPods = []string{"a", ""} },
			[]string{`hard status.disruptedPods[1] ""`}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			b := goodBudget()
			test.change(b)
			checkFaults(t, ValidateBudget(b), test.want)
		})
	}
}

func TestAReportIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1_000_000)
	pod := goodPod()
	pod.NodeSelector = map[string]string{long: long}
	for range 1000 {
		pod.Tolerations = append(pod.Tolerations, Toleration{Key: "a b", Operator: "bad"})
	}
	faults := ValidatePod(pod)
	if len(faults) != 2*maxFaults {
		t.Fatalf("%d faults, want %d hard and as many soft ones", len(faults), maxFaults)
	}
	for _, f := range faults {
		if len(f.Path) > 150 || len(f.Value) > 100 {
			t.Fatalf("%.300s is too long", f)
		}
	}
	last := map[bool]*Fault{}
	for _, f := range faults {
		last[f.Soft] = f
	}
	for _, f := range last {
		if !strings.HasSuffix(f.Detail, "more faults)") {
			t.Errorf("%v does not say that there are more", f)
		}
	}
}

func TestErrorNamesObjectFieldAndValue(t *testing.T) {
	pod := goodPod()
	pod.HostPorts[1].Port = 70_000
	pod.Tolerations[0].Effect = "Never"
	pod.NodeSelector = map[string]string{"disk": "a b"}
	err := ValidatePod(pod).Err()
	want := `berth: pod "default/web-1": spec.hostPorts[1].port: invalid "70000": must be in 1..65535
berth: pod "default/web-1": spec.tolerations[0].effect: invalid "Never": must be NoSchedule, PreferNoSchedule or NoExecute`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	fault, ok := errors.AsType[*Fault](err)
	if !ok || fault.Path != "spec.hostPorts[1].port" || fault.Value != "70000" {
		t.Errorf("errors.AsType gave %+v", fault)
	}
}
