package affinity_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// ready returns a small graph with a node and a placed pod, and a profile of it.
func ready(t *testing.T) (*affinity.Graph, *affinity.Profile) {
	t.Helper()
	s := shapes()[0]
	return s.uniform(t, 3)
}

// unchanged runs f and requires that the graph is afterwards as it was.
func unchanged(t *testing.T, g *affinity.Graph, p *affinity.Profile, f func() error) error {
	t.Helper()
	before := g.Dump()
	err := f()
	if after := g.Dump(); before != after {
		t.Errorf("the graph changed from\n%s\nto\n%s", before, after)
	}
	if err := g.CheckInvariants(p); err != nil {
		t.Error(err)
	}
	return err
}

// manyLabels are more labels than a spec may have.
func manyLabels() map[string]string {
	m := make(map[string]string)
	for i := range 10_000 {
		m[fmt.Sprint("key-", i)] = "v"
	}
	return m
}

func TestBadPodsAreRefusedAndChangeNothing(t *testing.T) {
	badSelector := &berth.LabelSelector{MatchExpressions: []berth.Requirement{{Key: "app", Operator: "Like", Values: []string{"x"}}}}
	for _, c := range []struct {
		name, path, value string
		spoil             func(p *berth.Pod)
	}{
		{"negative request", "spec.resources.requests[cpu]", "-1", func(p *berth.Pod) { p.Requests.MilliCPU = -1 }},
		{"overflowing request", "spec.resources.requests[memory]", fmt.Sprint(int64(math.MaxInt64)), func(p *berth.Pod) { p.Requests.Memory = math.MaxInt64 }},
		{"negative scalar", "spec.resources.requests[example.com/x]", "-7", func(p *berth.Pod) { p.Requests.Scalar = map[string]int64{"example.com/x": -7} }},
		{"empty name", "metadata.name", "", func(p *berth.Pod) { p.Name = "" }},
		{"empty namespace", "metadata.namespace", "", func(p *berth.Pod) { p.Namespace = "" }},
		{"unknown operator of a selector", "labelSelector.matchExpressions[0].operator", "Like", func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{
				{LabelSelector: badSelector, TopologyKey: berth.LabelZone}}}}
		}},
		{"selector that does not parse", "labelSelector.matchExpressions[0]", "", func(p *berth.Pod) {
			p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.DoNotSchedule,
				LabelSelector: &berth.LabelSelector{MatchExpressions: []berth.Requirement{{Key: "app", Operator: berth.In}}}}}
		}},
		{"unknown operator of a toleration", "spec.tolerations[0].operator", "Near", func(p *berth.Pod) { p.Tolerations = []berth.Toleration{{Key: "a", Operator: "Near"}} }},
		{"10,000 labels", "metadata.labels", "10000", func(p *berth.Pod) { p.Labels = manyLabels() }},
		{"empty topology key", "topologyKey", "", func(p *berth.Pod) {
			p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{MaxSkew: 1, WhenUnsatisfiable: berth.DoNotSchedule}}
		}},
		{"more than one device of a share", "spec.gpu.milli", "500", func(p *berth.Pod) { p.GPU = berth.GPURequest{Count: 2, Milli: 500} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := ready(t)
			s := shapes()[0]
			bad, placed := s.pod("bad"), s.pod("first")
			c.spoil(bad)
			c.spoil(placed)
			for call, f := range map[string]func() error{
				"Bind":      func() error { return g.Bind(bad, "node-000000") },
				"UpdatePod": func() error { return g.UpdatePod(placed) },
				"Nominate":  func() error { return g.Nominate(bad, "node-000000") },
				"Class":     func() error { _, err := g.Class(bad); return err },
				"Best":      func() error { _, _, err := p.Best(bad); return err },
				"Evaluate":  func() error { return p.Evaluate(bad, new(affinity.Evaluation)) },
				"Verdict":   func() error { _, err := p.Verdict(bad, "node-000000", nil); return err },
				"PlaceRun":  func() error { _, err := p.PlaceRun(bad, []string{bad.Name}); return err },
				"Preempt":   func() error { _, err := p.Preempt(bad, nil); return err },
			} {
				err := unchanged(t, g, p, f)
				var fault *berth.Fault
				if !errors.As(err, &fault) || !strings.Contains(fault.Path, c.path) || !strings.Contains(fault.Value, c.value) {
					t.Errorf("%s: %v does not name %s and %q", call, err, c.path, c.value)
				}
			}
		})
	}
}

func TestABadBudgetIsRefused(t *testing.T) {
	g, p := ready(t)
	s := shapes()[0]
	var fault *berth.Fault
	err := unchanged(t, g, p, func() error {
		_, err := p.Preempt(s.pod("vip"), []berth.PodDisruptionBudget{{Namespace: "default"}})
		return err
	})
	if !errors.As(err, &fault) || fault.Path != "metadata.name" {
		t.Errorf("%v does not name metadata.name", err)
	}
}

func TestBadNodesAreRefusedAndChangeNothing(t *testing.T) {
	for _, c := range []struct {
		name, path, value string
		spoil             func(n *berth.Node)
	}{
		{"empty name", "metadata.name", "", func(n *berth.Node) { n.Name = "" }},
		{"negative amount", "status.allocatable[cpu]", "-5", func(n *berth.Node) { n.Allocatable.MilliCPU = -5 }},
		{"overflowing amount", "status.allocatable[memory]", fmt.Sprint(int64(math.MaxInt64)), func(n *berth.Node) { n.Allocatable.Memory = math.MaxInt64 }},
		{"taint with no effect", "spec.taints[0].effect", "", func(n *berth.Node) { n.Taints = []berth.Taint{{Key: "a"}} }},
		{"unknown taint effect", "spec.taints[0].effect", "Never", func(n *berth.Node) { n.Taints = []berth.Taint{{Key: "a", Effect: "Never"}} }},
		{"10,000 labels", "metadata.labels", "10000", func(n *berth.Node) { n.Labels = manyLabels() }},
		{"too many GPUs", "status.gpus.count", "65", func(n *berth.Node) { n.GPUs.Count = 65 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := ready(t)
			fresh, known := berth.Node{Name: "fresh"}, berth.Node{Name: "node-000001"}
			c.spoil(&fresh)
			c.spoil(&known)
			for call, f := range map[string]func() error{
				"AddNode":    func() error { return g.AddNode(&fresh) },
				"UpdateNode": func() error { return g.UpdateNode(&known) },
			} {
				err := unchanged(t, g, p, f)
				var fault *berth.Fault
				if !errors.As(err, &fault) || fault.Path != c.path || !strings.Contains(fault.Value, c.value) {
					t.Errorf("%s: %v does not name %s and %q", call, err, c.path, c.value)
				}
			}
		})
	}
}

func TestCallsThatContradictTheStateChangeNothing(t *testing.T) {
	s := shapes()[0]
	gpuPod := s.pod("gpu")
	gpuPod.GPU = berth.GPURequest{Count: 1, Milli: 500}
	grown := s.pod("first")
	grown.GPU = berth.GPURequest{Count: 1, Milli: 1000}
	for _, c := range []struct {
		name string
		want error
		call func(g *affinity.Graph) error
	}{
		{"duplicate node", affinity.ErrNodeExists, func(g *affinity.Graph) error { return g.AddNode(&berth.Node{Name: "node-000001"}) }},
		{"update of an unknown node", affinity.ErrUnknownNode, func(g *affinity.Graph) error { return g.UpdateNode(&berth.Node{Name: "x"}) }},
		{"removal of an unknown node", affinity.ErrUnknownNode, func(g *affinity.Graph) error { return g.RemoveNode("x") }},
		{"removal of a node with pods", affinity.ErrNodeInUse, func(g *affinity.Graph) error {
			node, _ := g.NodeOf(s.pod("first").Key())
			return g.RemoveNode(node)
		}},
		{"duplicate pod", affinity.ErrPodExists, func(g *affinity.Graph) error { return g.Bind(s.pod("first"), "node-000001") }},
		{"pod on an unknown node", affinity.ErrUnknownNode, func(g *affinity.Graph) error { return g.Bind(s.pod("x"), "x") }},
		{"release of an unknown pod", affinity.ErrUnknownPod, func(g *affinity.Graph) error { return g.Release(s.pod("x").Key()) }},
		{"update of an unknown pod", affinity.ErrUnknownPod, func(g *affinity.Graph) error { return g.UpdatePod(s.pod("x")) }},
		{"nomination of a placed pod", affinity.ErrPodExists, func(g *affinity.Graph) error { return g.Nominate(s.pod("first"), "node-000001") }},
		{"nomination for an unknown node", affinity.ErrUnknownNode, func(g *affinity.Graph) error { return g.Nominate(s.pod("x"), "x") }},
		{"GPUs that are not there", affinity.ErrDevices, func(g *affinity.Graph) error { return g.Bind(gpuPod, "node-000001") }},
		{"a placed pod that asks for other GPUs", affinity.ErrDevices, func(g *affinity.Graph) error { return g.UpdatePod(grown) }},
		{"namespace without a name", berth.ErrInvalid, func(g *affinity.Graph) error { return g.SetNamespace(&berth.Namespace{}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, p := ready(t)
			if err := unchanged(t, g, p, func() error { return c.call(g) }); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestANodeKeepsTheGPUsThatItsPodsHold(t *testing.T) {
	g, p := ready(t)
	n := berth.Node{Name: "gpus", Allocatable: berth.Resources{Pods: 10}, GPUs: berth.GPUs{Model: "T4", Count: 2}}
	if err := g.AddNode(&n); err != nil {
		t.Fatal(err)
	}
	pod := berth.Pod{Namespace: "default", Name: "gpu", GPU: berth.GPURequest{Count: 1, Milli: 700, Devices: []int{1}}}
	if err := g.Bind(&pod, "gpus"); err != nil {
		t.Fatal(err)
	}
	n.GPUs.Count = 1
	if err := unchanged(t, g, p, func() error { return g.UpdateNode(&n) }); !errors.Is(err, affinity.ErrDevices) {
		t.Errorf("%v, want %v", err, affinity.ErrDevices)
	}
	taken := pod
	taken.Name = "other"
	if err := unchanged(t, g, p, func() error { return g.Bind(&taken, "gpus") }); !errors.Is(err, affinity.ErrDevices) {
		t.Errorf("%v, want %v", err, affinity.ErrDevices)
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for _, cfg := range []affinity.Config{{MaxColumnBytes: -1}, {MaxPlans: -1}, {MaxIdleClasses: -1}} {
		if _, err := affinity.New(cfg); !errors.Is(err, affinity.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	g, _ := ready(t)
	for name, cfg := range map[string]affinity.ProfileConfig{
		"negative weight":         {Weights: affinity.Weights{affinity.ScoreNodeAffinity: -1}},
		"huge weight":             {Weights: affinity.Weights{affinity.ScoreNodeAffinity: 1<<20 + 1}},
		"unknown strategy":        {Fit: 17},
		"no shape":                {Fit: affinity.RequestedToCapacityRatio},
		"descending shape":        {Fit: affinity.RequestedToCapacityRatio, FitShape: []affinity.ShapePoint{{Utilization: 50}, {Utilization: 40}}},
		"shape out of range":      {FitShape: []affinity.ShapePoint{{Utilization: 101}}},
		"score out of range":      {FitShape: []affinity.ShapePoint{{Score: 11}}},
		"resource without a name": {FitResources: []affinity.ResourceWeight{{Weight: 1}}},
		"resource without weight": {FitResources: []affinity.ResourceWeight{{Name: "cpu"}}},
		"balance of nothing":      {BalancedResources: []string{""}},
		"hard affinity weight":    {HardPodAffinityWeight: 101},
		"default maxSkew 0":       {DefaultConstraints: []berth.TopologySpreadConstraint{{TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.ScheduleAnyway}}},
		"default without key":     {DefaultConstraints: []berth.TopologySpreadConstraint{{MaxSkew: 1, WhenUnsatisfiable: berth.ScheduleAnyway}}},
	} {
		if _, err := g.NewProfile(cfg); !errors.Is(err, affinity.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSumsThatCannotBeCountedAreRefused(t *testing.T) {
	g, p := ready(t)
	s := shapes()[0]
	var err error
	for i := 0; err == nil && i < 3000; i++ { // 2^50 each
		huge := s.pod(fmt.Sprint("huge-", i))
		huge.Requests.Memory = berth.MaxAmount
		err = g.Bind(huge, "node-000000")
	}
	if err := g.CheckInvariants(p); err != nil {
		t.Error(err)
	}
	if !errors.Is(err, affinity.ErrAmount) {
		t.Fatalf("%v, want %v", err, affinity.ErrAmount)
	}
	small := s.pod("small")
	small.Requests.Memory, small.NonZeroRequests = 0, &berth.NonZeroRequests{}
	if err := g.Bind(small, "node-000000"); err != nil {
		t.Fatal(err)
	}
	small.Requests.Memory = berth.MaxAmount
	if err := unchanged(t, g, p, func() error { return g.UpdatePod(small) }); !errors.Is(err, affinity.ErrAmount) {
		t.Errorf("%v, want %v", err, affinity.ErrAmount)
	}
}
