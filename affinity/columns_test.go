package affinity_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// TestGroupsOfNodesThatWentAreDropped cordons, a few at a time, all but a few of the nodes, each of which is a zone and so a
// group, and lets them come back.
func TestGroupsOfNodesThatWentAreDropped(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.NewProfile(affinity.ProfileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]berth.Node, 400)
	for i := range nodes {
		nodes[i] = berth.Node{Name: fmt.Sprintf("node-%03d", i), Allocatable: berth.Resources{MilliCPU: 1000, Memory: 1 << 30, Pods: 10},
			Labels: map[string]string{berth.LabelZone: fmt.Sprint("zone-", i)}}
		if err := g.AddNode(&nodes[i]); err != nil {
			t.Fatal(err)
		}
	}
	pod := &berth.Pod{Namespace: "default", Name: "pod", Labels: map[string]string{"app": "web"}}
	pod.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: berth.LabelZone,
		WhenUnsatisfiable: berth.ScheduleAnyway, LabelSelector: &berth.LabelSelector{MatchLabels: pod.Labels}}}
	feasible := len(nodes)
	for _, cordoned := range []bool{true, false, true} {
		for i := range nodes[:390] {
			nodes[i].Unschedulable = cordoned
			if err := g.UpdateNode(&nodes[i]); err != nil {
				t.Fatal(err)
			}
			if feasible++; cordoned {
				feasible -= 2
			}
			if i%13 != 0 {
				continue
			}
			choice, _, err := p.Best(pod)
			if err != nil || choice.Feasible != feasible {
				t.Fatalf("%d feasible nodes, want %d: %v", choice.Feasible, feasible, err)
			}
			if err := g.CheckInvariants(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWhatANodeHolds reads a node back.
func TestWhatANodeHolds(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		t.Fatal(err)
	}
	node := berth.Node{Name: "a", GPUs: berth.GPUs{Model: "T4", Count: 2}, Allocatable: berth.Resources{
		MilliCPU: 4000, Memory: 8 << 30, EphemeralStorage: 100, Pods: 10, Scalar: map[string]int64{"example.com/x": 7}}}
	if err := g.AddNode(&node); err != nil {
		t.Fatal(err)
	}
	pod := berth.Pod{Namespace: "default", Name: "pod", GPU: berth.GPURequest{Count: 1, Milli: 300}, Requests: berth.Resources{
		MilliCPU: 5000, Memory: 1 << 30, EphemeralStorage: 10, Scalar: map[string]int64{"example.com/x": 2}}}
	_, before, _ := g.Changes(0)
	if err := g.Bind(&pod, "a"); err != nil {
		t.Fatal(err)
	}
	n, _ := g.Topology().Lookup("a")
	for name, want := range map[string][2]int64{
		berth.ResourceCPU:              {4000, 5000},
		berth.ResourceMemory:           {8 << 30, 1 << 30},
		berth.ResourceEphemeralStorage: {100, 10},
		berth.ResourcePods:             {10, 1},
		"example.com/x":                {7, 2},
		"example.com/unknown":          {0, 0},
	} {
		if alloc, used := g.Amount(n, name); alloc != want[0] || used != want[1] {
			t.Errorf("%s: %d of %d, want %d of %d", name, used, alloc, want[1], want[0])
		}
	}
	if cpu, memory := g.FreeMilliCPU(n), g.FreeMemory(n); cpu != -1000 || memory != 7<<30 {
		t.Errorf("free are %d and %d", cpu, memory)
	}
	if free, devices := g.GPUFree(n), g.Devices(pod.Key()); fmt.Sprintf("%v %v %s", free, devices, g.GPUModel(n)) != "[700 1000] [0] T4" {
		t.Errorf("%v free, pod holds %v of a %s", free, devices, g.GPUModel(n))
	}
	for key, spec := range g.PodsOn(n) {
		if key != pod.Key() || spec.GPU.Milli != 300 {
			t.Errorf("%v %+v", key, spec)
		}
	}
	if nodes, _, ok := g.Changes(before); !ok || len(nodes) != 1 || nodes[0] != n {
		t.Errorf("changed since: %v %v", nodes, ok)
	}
	if _, _, ok := g.Changes(1 << 40); ok {
		t.Error("a position in the future is known")
	}
	if g.Before(n, topology.NodeID(0)) {
		t.Error("a node wins against itself")
	}
}
