package berth

import (
	"math"
	"strings"
	"testing"
)

// podFaults is a rule, a change to a good pod that breaks it, and the faults that come of it.
type podFaults struct {
	rule   string
	change func(p *Pod)
	want   []string
}

func checkPodFaults(t *testing.T, tests []podFaults) {
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			p := goodPod()
			test.change(p)
			checkFaults(t, ValidatePod(p), test.want)
		})
	}
}

func TestValidatePodResources(t *testing.T) {
	checkPodFaults(t, []podFaults{
		{"a pod has a name and a namespace", func(p *Pod) { p.Name, p.Namespace = "", "" },
			[]string{`hard metadata.namespace ""`, `hard metadata.name ""`}},
		{"there are at most MaxLabels labels", func(p *Pod) {
			p.Labels, p.NodeSelector = manyLabels(10_000), manyLabels(10_000)
			p.Affinity, p.TopologySpreadConstraints = nil, nil
		}, []string{`hard metadata.labels "10000 entries"`, `hard spec.nodeSelector "10000 entries"`}},
		{"labels and node selectors that the API server would not store are accepted", func(p *Pod) {
			p.Labels["x"], p.NodeSelector = "-", map[string]string{"a": "-", "": ""}
		}, []string{`soft metadata.labels[x] "-"`, `hard spec.nodeSelector[] ""`, `soft spec.nodeSelector[a] "-"`}},
		{"a request is not negative", func(p *Pod) {
			p.Requests = Resources{MilliCPU: -1, Memory: -2, EphemeralStorage: -3, Scalar: map[string]int64{"gpu": -4}}
		}, []string{
			`hard spec.resources.requests[cpu] "-1m"`,
			`hard spec.resources.requests[memory] "-2"`,
			`hard spec.resources.requests[ephemeral-storage] "-3"`,
			`hard spec.resources.requests[gpu] "-4"`,
		}},
		{"requests are small enough to be added up", func(p *Pod) {
			p.Requests = Resources{MilliCPU: MaxAmount, Memory: math.MaxInt64, Scalar: map[string]int64{"gpu": MaxAmount + 1}}
		}, []string{
			`hard spec.resources.requests[memory] "9223372036854775807"`,
			`hard spec.resources.requests[gpu] "1125899906842625"`,
		}},
		{"a pod counts as one pod", func(p *Pod) { p.Requests.Pods = 3 }, []string{`soft spec.resources.requests[pods] "3"`}},
		{"requests for scores are amounts too", func(p *Pod) { p.NonZeroRequests = &NonZeroRequests{-1, math.MaxInt64} }, []string{
			`hard spec.nonZeroRequests.milliCPU "-1m"`,
			`hard spec.nonZeroRequests.memory "9223372036854775807"`,
		}},
		{"an image without a name has no effect", func(p *Pod) { p.Images = []string{"a", ""} }, []string{`soft spec.images[1] ""`}},
	})
}

func TestValidatePodGPU(t *testing.T) {
	request := func(g GPURequest) func(*Pod) { return func(p *Pod) { p.GPU = g } }
	checkPodFaults(t, []podFaults{
		{"no GPU", request(GPURequest{}), nil},
		{"a share of one", request(GPURequest{Count: 1, Milli: 1}), nil},
		{"one whole", request(GPURequest{Count: 1, Milli: GPUMilli}), nil},
		{"no more than 64", request(GPURequest{Count: 65, Milli: GPUMilli}), []string{`hard spec.gpu.count "65"`}},
		{"not a negative number", request(GPURequest{Count: math.MinInt32}), []string{`hard spec.gpu.count "-2147483648"`}},
		{"no milli of no GPU", request(GPURequest{Milli: 500}), []string{`hard spec.gpu.milli "500"`}},
		{"no empty share", request(GPURequest{Count: 1}), []string{`hard spec.gpu.milli "0"`}},
		{"no negative share", request(GPURequest{Count: 1, Milli: math.MinInt64}), []string{`hard spec.gpu.milli "-9223372036854775808"`}},
		{"no more than a whole of one", request(GPURequest{Count: 1, Milli: 1001}), []string{`hard spec.gpu.milli "1001"`}},
		{"several are whole", request(GPURequest{Count: 2, Milli: 500}), []string{`hard spec.gpu.milli "500"`}},
		{"a model has a name", request(GPURequest{Count: 1, Milli: 1, Models: []string{"T4", ""}}), []string{`hard spec.gpu.models[1] ""`}},
		{"devices are as many as the pod asks for", request(GPURequest{Count: 1, Milli: 1, Devices: []int{1, 2}}),
			[]string{`hard spec.gpu.devices "2 entries"`}},
		{"devices exist and differ", request(GPURequest{Count: 4, Milli: GPUMilli, Devices: []int{3, 64, -1, 3}}),
			[]string{`hard spec.gpu.devices[1] "64"`, `hard spec.gpu.devices[2] "-1"`, `hard spec.gpu.devices[3] "3"`}},
		{"only a placed pod holds devices", func(p *Pod) { p.NodeName = "" }, []string{`soft spec.gpu.devices "2 entries"`}},
	})
}

func TestValidatePodHostPorts(t *testing.T) {
	ports := func(ports ...HostPort) func(*Pod) { return func(p *Pod) { p.HostPorts = ports } }
	var many []HostPort
	for i := range int32(1000) {
		many = append(many, HostPort{Port: 20_000 + i})
	}
	checkPodFaults(t, []podFaults{
		{"a port is in 1..65535", ports(HostPort{Port: 0}, HostPort{Port: -1}, HostPort{Port: 65536}),
			[]string{`hard spec.hostPorts[0].port "0"`, `hard spec.hostPorts[1].port "-1"`, `hard spec.hostPorts[2].port "65536"`}},
		{"a protocol is known", ports(HostPort{Port: 1, Protocol: "tcp"}), []string{`hard spec.hostPorts[0].protocol "tcp"`}},
		{"an address that is none is compared as text", ports(HostPort{Port: 1, HostIP: "localhost"}),
			[]string{`soft spec.hostPorts[0].hostIP "localhost"`}},
		{"a port need not be listed twice", ports(HostPort{"", TCP, 80}, HostPort{"", UDP, 80}, HostPort{"", TCP, 80}),
			[]string{`soft spec.hostPorts[2] "80"`}},
		{"nor in a long list", ports(append(many, many[7])...), []string{`soft spec.hostPorts[1000] "20007"`}},
	})
}

func TestValidatePodTolerations(t *testing.T) {
	tolerations := func(list ...Toleration) func(*Pod) { return func(p *Pod) { p.Tolerations = list } }
	checkPodFaults(t, []podFaults{
		{"an operator is known", tolerations(Toleration{Key: "a", Operator: "equal"}, Toleration{Key: "a", Operator: "In"}),
			[]string{`hard spec.tolerations[0].operator "equal"`, `hard spec.tolerations[1].operator "In"`}},
		{"Lt and Gt are behind a gate that is off, and never match", tolerations(Toleration{Key: "a", Operator: "Lt", Value: "5"}),
			[]string{`soft spec.tolerations[0].operator "Lt"`}},
		{"an effect is known", tolerations(Toleration{Operator: TolerationExists, Effect: "Evict"}),
			[]string{`hard spec.tolerations[0].effect "Evict"`}},
		{"without a key the operator should be Exists", tolerations(Toleration{Value: "gpu"}, Toleration{Operator: TolerationEqual}),
			[]string{`soft spec.tolerations[0].operator ""`, `soft spec.tolerations[1].operator "Equal"`}},
		{"Exists looks at no value", tolerations(Toleration{Key: "a", Operator: TolerationExists, Value: "v"}),
			[]string{`soft spec.tolerations[0].value "v"`}},
		{"what the API server would not store is accepted", tolerations(Toleration{Key: "a b", Value: "c d"}),
			[]string{`soft spec.tolerations[0].key "a b"`, `soft spec.tolerations[0].value "c d"`}},
	})
}

func TestValidatePodNodeAffinity(t *testing.T) {
	const (
		inRequired  = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		inPreferred = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	)
	terms := func(list ...NodeSelectorTerm) func(*Pod) {
		return func(p *Pod) {
			p.Affinity = &Affinity{NodeAffinity: &NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &NodeSelector{list}}}
		}
	}
	expressions := func(rs ...Requirement) func(*Pod) { return terms(NodeSelectorTerm{MatchExpressions: rs}) }
	fields := func(rs ...Requirement) func(*Pod) { return terms(NodeSelectorTerm{MatchFields: rs}) }
	prefers := func(weight int32, rs ...Requirement) func(*Pod) {
		return func(p *Pod) {
			p.Affinity = &Affinity{NodeAffinity: &NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []PreferredSchedulingTerm{
				{weight, NodeSelectorTerm{MatchExpressions: rs}},
			}}}
		}
	}
	checkPodFaults(t, []podFaults{
		{"without terms no node matches", terms(), []string{`soft ` + inRequired + ` ""`}},
		{"without requirements no node matches a term", terms(NodeSelectorTerm{}), []string{`soft ` + inRequired + `[0] ""`}},
		{"a required term with an unknown operator is skipped", expressions(Requirement{"a", "in", []string{"b"}}, Requirement{Key: "a"}), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].operator "in"`,
			`soft ` + inRequired + `[0].matchExpressions[1].operator ""`,
		}},
		{"so is one where In or NotIn lacks a value", expressions(Requirement{"a", In, nil}, Requirement{"a", NotIn, nil}), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].values ""`,
			`soft ` + inRequired + `[0].matchExpressions[1].values ""`,
		}},
		{"or Exists or DoesNotExist has one", expressions(
			Requirement{"a", Exists, []string{"v"}}, Requirement{"a", DoesNotExist, []string{"v", "w"}},
		), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].values "v"`,
			`soft ` + inRequired + `[0].matchExpressions[1].values "v,w"`,
		}},
		{"or Gt or Lt has another number than one", expressions(Requirement{"a", Gt, nil}, Requirement{"a", Lt, []string{"1", "2"}}), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].values ""`,
			`soft ` + inRequired + `[0].matchExpressions[1].values "1,2"`,
		}},
		{"a requirement has a key", expressions(Requirement{"", Exists, nil}), []string{`hard ` + inRequired + `[0].matchExpressions[0].key ""`}},
		{"a required term that compares with no integer is skipped", expressions(
			Requirement{"a", Gt, []string{"1.5"}}, Requirement{"a", Lt, []string{"9223372036854775808"}},
		), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].values[0] "1.5"`,
			`soft ` + inRequired + `[0].matchExpressions[1].values[0] "9223372036854775808"`,
		}},
		{"a required term that is not in the syntax of labels is skipped", expressions(
			Requirement{"a b", NotIn, []string{"x"}}, Requirement{"a", NotIn, []string{"x", "y z"}}, Requirement{"a", Gt, []string{"-1"}},
		), []string{
			`soft ` + inRequired + `[0].matchExpressions[0].key "a b"`,
			`soft ` + inRequired + `[0].matchExpressions[1].values[1] "y z"`,
			`soft ` + inRequired + `[0].matchExpressions[2].values[0] "-1"`,
		}},
		{"the only field is metadata.name", fields(Requirement{"metadata.uid", In, []string{"v"}}),
			[]string{`soft ` + inRequired + `[0].matchFields[0].key "metadata.uid"`}},
		{"fields are compared by In and NotIn", fields(Requirement{FieldName, Exists, nil}),
			[]string{`soft ` + inRequired + `[0].matchFields[0].operator "Exists"`}},
		{"fields are compared with one value", fields(Requirement{FieldName, In, nil}, Requirement{FieldName, NotIn, []string{"a", "b"}}),
			[]string{`soft ` + inRequired + `[0].matchFields[0].values ""`, `soft ` + inRequired + `[0].matchFields[1].values "a,b"`}},
		{"a field's value is any text", fields(Requirement{FieldName, In, []string{"a b"}}), nil},
		{"a preferred term parses", prefers(1, Requirement{"a", Gt, []string{"1.5"}}, Requirement{"a b", Exists, nil}), []string{
			`hard ` + inPreferred + `[0].preference.matchExpressions[0].values[0] "1.5"`,
			`hard ` + inPreferred + `[0].preference.matchExpressions[1].key "a b"`,
		}},
		{"a preferred term has known operators, and values that suit them", prefers(1,
			Requirement{"a", "Is", nil}, Requirement{"a", In, nil}, Requirement{"a", Exists, []string{"v"}}, Requirement{"a", Lt, []string{"1", "2"}},
		), []string{
			`hard ` + inPreferred + `[0].preference.matchExpressions[0].operator "Is"`,
			`hard ` + inPreferred + `[0].preference.matchExpressions[1].values ""`,
			`hard ` + inPreferred + `[0].preference.matchExpressions[2].values "v"`,
			`hard ` + inPreferred + `[0].preference.matchExpressions[3].values "1,2"`,
		}},
		{"a preferred term of weight 0 is dropped, whatever it says", prefers(0, Requirement{"a", "bad", nil}),
			[]string{`soft ` + inPreferred + `[0].weight "0"`}},
		{"a preferred term without requirements is dropped", prefers(1), []string{`soft ` + inPreferred + `[0].preference ""`}},
		{"a weight is in 1..100", prefers(101, Requirement{"a", Exists, nil}), []string{`hard ` + inPreferred + `[0].weight "101"`}},
		{"a weight is not negative", prefers(-1, Requirement{"a", Exists, nil}), []string{`hard ` + inPreferred + `[0].weight "-1"`}},
		{"a list of values is bounded", expressions(Requirement{"a", In, make([]string, MaxItems+1)}),
			[]string{`hard ` + inRequired + `[0].matchExpressions[0].values "10001 entries"`}},
	})
}

func TestValidatePodAffinityTerms(t *testing.T) {
	const inRequired = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
	term := func(term PodAffinityTerm) func(*Pod) {
		return func(p *Pod) { p.Affinity = &Affinity{PodAffinity: &PodAffinity{[]PodAffinityTerm{term}, nil}} }
	}
	selector := func(s LabelSelector) func(*Pod) { return term(PodAffinityTerm{LabelSelector: &s, TopologyKey: "zone"}) }
	checkPodFaults(t, []podFaults{
		{"a term has a topology key", term(PodAffinityTerm{}), []string{`hard ` + inRequired + `.topologyKey ""`}},
		{"any topology key is accepted", term(PodAffinityTerm{TopologyKey: "a b"}), []string{`soft ` + inRequired + `.topologyKey "a b"`}},
		{"a namespace has a name", term(PodAffinityTerm{TopologyKey: "zone", Namespaces: []string{"a", ""}}),
			[]string{`hard ` + inRequired + `.namespaces[1] ""`}},
		{"a selector compares no numbers", selector(LabelSelector{MatchExpressions: []Requirement{{"a", Gt, []string{"1"}}}}),
			[]string{`hard ` + inRequired + `.labelSelector.matchExpressions[0].operator "Gt"`}},
		{"a selector parses", selector(LabelSelector{
			MatchLabels:      map[string]string{"b": "x y", "a b": ""},
			MatchExpressions: []Requirement{{"a", In, nil}, {"a", Exists, []string{"v"}}, {"a", In, []string{"x y"}}, {"", Exists, nil}},
		}), []string{
			`hard ` + inRequired + `.labelSelector.matchLabels[a b] "a b"`,
			`hard ` + inRequired + `.labelSelector.matchLabels[b] "x y"`,
			`hard ` + inRequired + `.labelSelector.matchExpressions[0].values ""`,
			`hard ` + inRequired + `.labelSelector.matchExpressions[1].values "v"`,
			`hard ` + inRequired + `.labelSelector.matchExpressions[2].values[0] "x y"`,
			`hard ` + inRequired + `.labelSelector.matchExpressions[3].key ""`,
		}},
		{"a namespace selector parses", term(PodAffinityTerm{
			TopologyKey: "zone", NamespaceSelector: &LabelSelector{MatchExpressions: []Requirement{{"a", "=", []string{"v"}}}},
		}), []string{`hard ` + inRequired + `.namespaceSelector.matchExpressions[0].operator "="`}},
		{"a weight is in 1..100, and 0 has no effect", func(p *Pod) {
			weights := []WeightedPodAffinityTerm{{Weight: 0}, {Weight: 101}, {Weight: -7}}
			for i := range weights {
				weights[i].PodAffinityTerm.TopologyKey = "zone"
			}
			p.Affinity = &Affinity{PodAntiAffinity: &PodAntiAffinity{nil, weights}}
		}, []string{
			`soft spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight "0"`,
			`hard spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].weight "101"`,
			`hard spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[2].weight "-7"`,
		}},
		{"keys to be matched are to be folded, and carried", term(PodAffinityTerm{
			TopologyKey: "zone", LabelSelector: &LabelSelector{},
			MatchLabelKeys: []string{"revision", "other", ""}, MismatchLabelKeys: []string{"tenant"},
		}), []string{
			`soft ` + inRequired + `.matchLabelKeys[0] "revision"`,
			`soft ` + inRequired + `.matchLabelKeys[1] "other"`,
			`hard ` + inRequired + `.matchLabelKeys[2] ""`,
			`soft ` + inRequired + `.mismatchLabelKeys[0] "tenant"`,
		}},
		{"keys to be matched need a selector", term(PodAffinityTerm{TopologyKey: "zone", MatchLabelKeys: []string{"revision", "app"}}),
			[]string{`soft ` + inRequired + `.matchLabelKeys "revision,app"`}},
	})
}

func TestValidatePodTopologySpread(t *testing.T) {
	const first = "spec.topologySpreadConstraints[0]"
	constraints := func(list ...TopologySpreadConstraint) func(*Pod) {
		return func(p *Pod) { p.TopologySpreadConstraints = list }
	}
	with := func(change func(c *TopologySpreadConstraint)) func(*Pod) {
		c := TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: DoNotSchedule}
		change(&c)
		return constraints(c)
	}
	checkPodFaults(t, []podFaults{
		{"nothing is optional but policies and minDomains", constraints(TopologySpreadConstraint{}),
			[]string{`hard ` + first + `.maxSkew "0"`, `hard ` + first + `.topologyKey ""`, `hard ` + first + `.whenUnsatisfiable ""`}},
		{"an action is known", with(func(c *TopologySpreadConstraint) { c.WhenUnsatisfiable = "Maybe" }),
			[]string{`hard ` + first + `.whenUnsatisfiable "Maybe"`}},
		{"minDomains is at least 1", with(func(c *TopologySpreadConstraint) { c.MinDomains = new(int32) }),
			[]string{`hard ` + first + `.minDomains "0"`}},
		{"minDomains is for DoNotSchedule", with(func(c *TopologySpreadConstraint) {
			c.WhenUnsatisfiable, c.MinDomains = ScheduleAnyway, new(int32(2))
		}), []string{`hard ` + first + `.minDomains "2"`}},
		{"policies are known", with(func(c *TopologySpreadConstraint) { c.NodeAffinityPolicy, c.NodeTaintsPolicy = "honor", "None" }),
			[]string{`hard ` + first + `.nodeAffinityPolicy "honor"`, `hard ` + first + `.nodeTaintsPolicy "None"`}},
		{"a selector parses", with(func(c *TopologySpreadConstraint) {
			c.LabelSelector = &LabelSelector{MatchExpressions: []Requirement{{"a", In, nil}}}
		}), []string{`hard ` + first + `.labelSelector.matchExpressions[0].values ""`}},
		{"keys to be matched are to be folded", with(func(c *TopologySpreadConstraint) {
			c.LabelSelector, c.MatchLabelKeys = &LabelSelector{}, []string{"revision"}
		}), []string{`soft ` + first + `.matchLabelKeys[0] "revision"`}},
		{"constraints of the same key and action both count", constraints(
			TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: DoNotSchedule},
			TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: ScheduleAnyway},
			TopologySpreadConstraint{MaxSkew: 3, TopologyKey: "zone", WhenUnsatisfiable: DoNotSchedule},
		), []string{`soft spec.topologySpreadConstraints[2] "zone"`}},
		{"labels of a default selector are taken as they are, for they are a service's; expressions parse", func(p *Pod) {
			p.DefaultSpreadSelector = &LabelSelector{
				MatchLabels: map[string]string{"a": "x y"}, MatchExpressions: []Requirement{{"b", "bad", nil}},
			}
		}, []string{`soft spec.defaultSpreadSelector.matchLabels[a] "x y"`, `hard spec.defaultSpreadSelector.matchExpressions[0].operator "bad"`}},
	})
}

func TestParses(t *testing.T) {
	for _, test := range []struct {
		term NodeSelectorTerm
		want bool
	}{
		{NodeSelectorTerm{}, true},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", Gt, []string{"42"}}, {"a", NotIn, []string{""}}}}, true},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", Gt, []string{"4.2"}}}}, false},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", Gt, []string{"-42"}}}}, false}, // not the value of any label
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", NotIn, []string{"b", "?"}}}}, false},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", NotIn, []string{strings.Repeat("b", 64)}}}}, false},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", Exists, nil}}, MatchFields: []Requirement{{FieldName, Exists, nil}}}, false},
		{NodeSelectorTerm{MatchFields: []Requirement{{FieldName, In, []string{"a"}}}}, true},
		{NodeSelectorTerm{MatchFields: []Requirement{{"metadata.uid", In, []string{"a"}}}}, true}, // but nodes have no such field
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"a", "Is", []string{"b"}}}}, false},
		{NodeSelectorTerm{MatchExpressions: []Requirement{{"", Exists, nil}}}, false},
	} {
		if got := test.term.Parses(); got != test.want {
			t.Errorf("%+v parses: %v, want %v", test.term, got, test.want)
		}
	}
}
