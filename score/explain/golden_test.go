package explain_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
	"github.com/berth-go/berth/topology"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests find to testdata")

// scenario is a small cluster, a pod, and what is asked of it.
type scenario struct {
	name  string
	nodes []berth.Node
	pods  []berth.Pod // placed, or nominated
	pod   berth.Pod
	cfg   score.Config
	opts  explain.Options
	// place, if set, asks for this node instead of a decision.
	place string
}

func node(name, zone string, with ...func(*berth.Node)) berth.Node {
	n := berth.Node{Name: name, Labels: map[string]string{berth.LabelHostname: name, berth.LabelZone: zone},
		Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}}
	for _, f := range with {
		f(&n)
	}
	return n
}

func pod(name, on string, with ...func(*berth.Pod)) berth.Pod {
	p := berth.Pod{Namespace: "shop", Name: name, NodeName: on, Requests: berth.Resources{MilliCPU: 1000, Memory: 1 << 30}}
	for _, f := range with {
		f(&p)
	}
	return p
}

func cpu(milli int64) func(*berth.Pod) {
	return func(p *berth.Pod) { p.Requests.MilliCPU = milli }
}

func memory(bytes int64) func(*berth.Pod) {
	return func(p *berth.Pod) { p.Requests.Memory = bytes }
}

func app(name string) func(*berth.Pod) {
	return func(p *berth.Pod) { p.Labels = map[string]string{"app": name} }
}

func priority(i int32) func(*berth.Pod) {
	return func(p *berth.Pod) { p.Priority = i }
}

func gpus(count int, milli int64, models ...string) func(*berth.Pod) {
	return func(p *berth.Pod) { p.GPU = berth.GPURequest{Count: count, Milli: milli, Models: models} }
}

func nominated(to string) func(*berth.Pod) {
	return func(p *berth.Pod) { p.NodeName, p.NominatedNodeName = "", to }
}

func selects(name string) *berth.LabelSelector {
	return &berth.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func near(name, key string) func(*berth.Pod) {
	return func(p *berth.Pod) {
		terms := []berth.PodAffinityTerm{{LabelSelector: selects(name), TopologyKey: key}}
		p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func apart(name, key string) func(*berth.Pod) {
	return func(p *berth.Pod) {
		terms := []berth.PodAffinityTerm{{LabelSelector: selects(name), TopologyKey: key}}
		p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func spread(name, key string) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key,
			WhenUnsatisfiable: berth.DoNotSchedule, LabelSelector: selects(name)}}
	}
}

func required(terms ...berth.NodeSelectorTerm) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.Affinity = &berth.Affinity{NodeAffinity: &berth.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &berth.NodeSelector{NodeSelectorTerms: terms}}}
	}
}

// noSpot is a filter that refuses nodes named spot-....
type noSpot struct{}

func (noSpot) Name() string { return "NoSpot" }

func (noSpot) Filter(in *score.Input, feasible *topology.NodeSet) error {
	for n := range feasible.Clone().All() {
		if strings.HasPrefix(in.Graph.Topology().Name(n), "spot-") {
			feasible.Remove(n)
		}
	}
	return nil
}

func scenarios() []scenario {
	two := []berth.Node{node("n1", "a"), node("n2", "b")}
	three := []berth.Node{node("n1", "a"), node("n2", "b"), node("n3", "c")}
	taint := func(key, value string, effect berth.TaintEffect) func(*berth.Node) {
		return func(n *berth.Node) { n.Taints = append(n.Taints, berth.Taint{Key: key, Value: value, Effect: effect}) }
	}
	cordoned := func(n *berth.Node) { n.Unschedulable = true }
	t4 := func(n *berth.Node) { n.GPUs = berth.GPUs{Model: "T4", Count: 2} }
	port := func(p *berth.Pod) { p.HostPorts = []berth.HostPort{{Port: 8080}} }
	in := func(key string, values ...string) berth.Requirement {
		return berth.Requirement{Key: key, Operator: berth.In, Values: values}
	}
	return []scenario{
		{name: "01-emptier-node-wins", nodes: three, pods: []berth.Pod{pod("old", "n1"), pod("older", "n2", cpu(3000))}, pod: pod("p", "")},
		{name: "02-equal-nodes-go-by-name", nodes: two, pod: pod("p", "")},
		{name: "03-insufficient-cpu", nodes: two, pods: []berth.Pod{pod("big", "n1", cpu(3000)), pod("low", "n2", cpu(2500))}, pod: pod("p", "", cpu(2500))},
		{name: "04-one-pod-frees-two-resources", nodes: two[:1],
			pods: []berth.Pod{pod("small", "n1"), pod("big", "n1", cpu(2000), memory(6<<30)), pod("vital", "n1", priority(1000))},
			pod:  pod("p", "", cpu(2000), memory(4<<30))},
		{name: "05-too-many-pods", nodes: []berth.Node{node("n1", "a", func(n *berth.Node) { n.Allocatable.Pods = 1 })}, pods: []berth.Pod{pod("old", "n1")}, pod: pod("p", "")},
		{name: "06-taints-and-cordons", nodes: []berth.Node{node("n1", "a", taint("gpu", "yes", berth.NoSchedule), taint("down", "", berth.NoExecute)), node("n2", "b", cordoned), node("n3", "c", taint("spot", "", berth.PreferNoSchedule))}, pod: pod("p", "")},
		{name: "07-node-selector", nodes: two, pod: pod("p", "", func(p *berth.Pod) { p.NodeSelector = map[string]string{"disk": "ssd", berth.LabelZone: "a"} })},
		{name: "08-nearest-term-of-node-affinity", nodes: two, pod: pod("p", "", required(
			berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{in("arch", "arm64"), in("disk", "ssd")}},
			berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{{Key: "cores", Operator: berth.Gt, Values: []string{"15"}}}}))},
		{name: "09-node-affinity-by-name", nodes: two, pod: pod("p", "", required(
			berth.NodeSelectorTerm{MatchFields: []berth.Requirement{in(berth.FieldName, "n9")}}))},
		{name: "10-node-name", nodes: two, pod: pod("p", "n2", cpu(5000))},
		{name: "11-host-port", nodes: two, pods: []berth.Pod{pod("web", "n1", port), pod("proxy", "n2", port)}, pod: pod("p", "", port)},
		{name: "12-gpus", nodes: []berth.Node{node("n1", "a", t4), node("n2", "b")}, pods: []berth.Pod{pod("train", "n1", gpus(1, 1000)), pod("infer", "n1", gpus(1, 300))}, pod: pod("p", "", gpus(1, 800, "T4"))},
		{name: "13-gpu-model", nodes: []berth.Node{node("n1", "a", t4)}, pod: pod("p", "", gpus(2, 1000, "A100"))},
		{name: "14-spread-over-zones", nodes: three, pods: []berth.Pod{pod("w1", "n1", app("web")), pod("w2", "n2", app("web")), pod("w3", "n2", app("web"))}, pod: pod("w4", "", app("web"), spread("web", berth.LabelZone))},
		{name: "15-spread-needs-a-label", nodes: []berth.Node{node("n1", "a"), {Name: "n2", Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}}}, pods: []berth.Pod{pod("w1", "n1", app("web"))}, pod: pod("w2", "", app("web"), spread("web", berth.LabelZone))},
		{name: "16-affinity-finds-no-company", nodes: two, pods: []berth.Pod{pod("db", "n1", app("db"))}, pod: pod("p", "", near("db", berth.LabelZone))},
		{name: "17-anti-affinity-of-the-pod", nodes: append(two[:2:2], node("n3", "a")), pods: []berth.Pod{pod("w1", "n1", app("web")), pod("w2", "n2", app("web"))}, pod: pod("w3", "", app("web"), apart("web", berth.LabelZone))},
		{name: "18-anti-affinity-of-placed-pods", nodes: two, pods: []berth.Pod{pod("loner", "n1", apart("web", berth.LabelHostname))}, pod: pod("w1", "", app("web"))},
		{name: "19-nominated-pod-holds-its-room", nodes: two[:1], pods: []berth.Pod{pod("waiting", "", cpu(3000), priority(100), nominated("n1"))}, pod: pod("p", "", cpu(2000))},
		{name: "20-filter-and-scorer-of-ones-own", nodes: []berth.Node{node("n1", "a"), node("spot-1", "a"), node("n2", "b"), node("n3", "b", cordoned)},
			pod: pod("p", ""), cfg: score.Config{Filters: []score.Filter{noSpot{}}, Scorers: []score.Weighted{{Scorer: inZone("b"), Weight: 3}}}},
		{name: "21-many-obstacles", nodes: []berth.Node{node("n1", "a", taint("gpu", "yes", berth.NoSchedule), cordoned)},
			pods: []berth.Pod{pod("web", "n1", app("web"), port, cpu(3500))}, pod: pod("p", "", app("web"), port, apart("web", berth.LabelHostname), cpu(5000))},
		{name: "22-details-of-two-of-four", nodes: append(three[:3:3], node("n4", "d")), pod: pod("p", "", cpu(9000)), opts: explain.Options{Refusals: 2, NoSuggestions: true}},
		{name: "23-what-if-on-the-second-best", nodes: three, pods: []berth.Pod{pod("old", "n1"), pod("older", "n2", cpu(3000))}, pod: pod("p", ""), place: "n1"},
		{name: "24-what-if-on-a-refused-node", nodes: three, pods: []berth.Pod{pod("old", "n1"), pod("older", "n2", cpu(3500))}, pod: pod("p", ""), place: "n2"},
		{name: "25-a-node-name-that-contradicts-the-affinity", nodes: two, pod: pod("p", "n1", required(
			berth.NodeSelectorTerm{MatchFields: []berth.Requirement{in(berth.FieldName, "n2")}}))},
		{name: "26-affinity-terms-that-conflict", nodes: two, pod: pod("p", "", required(
			berth.NodeSelectorTerm{MatchFields: []berth.Requirement{in(berth.FieldName, "n1"), in(berth.FieldName, "n2")}}))},
		{name: "27-signals-with-and-without-answer", nodes: three, pod: pod("p", ""),
			cfg: score.Config{Signals: []score.Signal{{Source: meter{"Load", nil}, Weight: 2}, {Source: meter{"Down", errFaulty}}}}},
	}
}

// inZone scores the nodes of one zone 10, the others 0.
type inZone string

func (inZone) Name() string { return "InZone" }

func (z inZone) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	x := in.Graph.Topology()
	for _, n := range nodes {
		if column[n] = 0; x.Value(n, x.Key(berth.LabelZone)) != topology.NoValue {
			d := topology.Domain{Key: x.Key(berth.LabelZone), Value: x.Value(n, x.Key(berth.LabelZone))}
			if x.ValueName(d) == string(z) {
				column[n] = 10
			}
		}
	}
	return nil
}

func (s *scenario) graph(t *testing.T) *affinity.Graph {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for i := range s.nodes {
		require.NoError(t, g.AddNode(&s.nodes[i]))
	}
	for i := range s.pods {
		if p := &s.pods[i]; p.NodeName != "" {
			require.NoError(t, g.Bind(p, p.NodeName))
		} else {
			require.NoError(t, g.Nominate(p, p.NominatedNodeName))
		}
	}
	return g
}

// answer is all forms of an explanation.
func (s *scenario) answer(t *testing.T) string {
	p, err := score.New(s.graph(t), s.cfg)
	require.NoError(t, err)
	var parts []string
	var value any
	if s.place != "" {
		e, err := explain.WhatIf(t.Context(), p, &s.pod, s.place, s.opts)
		require.NoError(t, err)
		value, parts = e, append(parts, e.String())
	} else {
		e, err := explain.Explain(t.Context(), p, &s.pod, s.opts)
		require.NoError(t, err)
		value, parts = e, append(parts, e.Line()+"\n", e.String(), e.Table())
	}
	text, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	return strings.Join(append(parts, string(text)+"\n"), "\n")
}

// TestGolden compares all forms of an explanation, line, tree, table and JSON, with those in testdata.
func TestGolden(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			file := filepath.Join("testdata", s.name+".txt")
			got := s.answer(t)
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
		})
	}
}
