package reference_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

// TestPackingOfAnAccelerator: a named resource counts only for pods that ask for it, in the sum and in the weights.
func TestPackingOfAnAccelerator(t *testing.T) {
	big := func(name string, gpus int64) berth.Node {
		n := node(name)
		n.Allocatable = berth.Resources{MilliCPU: 10_000, Memory: 10 * gib, Pods: 110}
		if gpus > 0 {
			n.Allocatable.Scalar = map[string]int64{"example.com/gpu": gpus}
		}
		return n
	}
	asks := func(name, on string, cores, gpus int64) berth.Pod {
		p := pod(name, on, 1000*cores)
		p.Requests.Memory = cores * gib
		if gpus > 0 {
			p.Requests.Scalar = map[string]int64{"example.com/gpu": gpus}
		}
		return p
	}
	cluster := &reference.Cluster{
		Nodes: []berth.Node{big("accel", 8), big("plain", 0), big("accel-empty", 8)},
		Pods:  []berth.Pod{asks("trainer", "accel", 1, 6), asks("svc", "plain", 4, 0)},
		Config: reference.Config{FitStrategy: reference.MostAllocated, FitResources: []reference.ResourceSpec{
			{Name: "example.com/gpu", Weight: 2}, {Name: berth.ResourceCPU}, {Name: berth.ResourceMemory},
		}},
	}
	if got, want := scores(t, cluster, asks("cpu-only", "", 1, 0), reference.NodeResourcesFit), "20 50 10"; got != want {
		t.Errorf("without: got %s, want %s", got, want)
	}
	if got, want := scores(t, cluster, asks("gpu-pod", "", 1, 1), reference.NodeResourcesFit), "53 11"; got != want {
		t.Errorf("with: got %s, want %s", got, want)
	}
}

func TestRatioBetweenPoints(t *testing.T) {
	shape := []reference.ShapePoint{{Utilization: 20, Score: 10}, {Utilization: 60, Score: 0}, {Utilization: 80, Score: 5}}
	for _, c := range []struct {
		name  string
		milli int64
		want  string
	}{
		{"before the first it is level", 400, "100"},
		{"between two it is a line", 1600, "50"},
		{"a resource that scores 0 is left out of the mean, and alone gives 0", 2400, "0"},
		{"after the last it is level", 3900, "50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &reference.Cluster{Nodes: []berth.Node{node("n")}, Config: reference.Config{
				FitStrategy: reference.RequestedToCapacityRatio, FitShape: shape, FitResources: []reference.ResourceSpec{{Name: berth.ResourceCPU}},
			}}
			if got := scores(t, cluster, pod("p", "", c.milli), reference.NodeResourcesFit); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestBalanceOfThree: fractions 1/4, 1/2 and 3/4 have a standard deviation of 0.204, so that 79 follows on 100.
func TestBalanceOfThree(t *testing.T) {
	n := node("n")
	n.Allocatable.EphemeralStorage = 100
	p := pod("p", "", 1000)
	p.Requests.Memory, p.Requests.EphemeralStorage = 4*gib, 75
	cluster := &reference.Cluster{Nodes: []berth.Node{n}, Config: reference.Config{BalancedResources: []reference.ResourceSpec{
		{Name: berth.ResourceCPU}, {Name: berth.ResourceMemory}, {Name: berth.ResourceEphemeralStorage}, {Name: berth.ResourcePods},
	}}}
	if got, want := scores(t, cluster, p, reference.NodeResourcesBalancedAllocation), "64"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDefaultConstraintsOfTheConfiguration may be hard, ignore nodes that lack a key, and yield to an own constraint.
func TestDefaultConstraintsOfTheConfiguration(t *testing.T) {
	cluster := &reference.Cluster{
		Nodes: []berth.Node{node("n1", "zone=a"), node("n2", "zone=b"), node("n3")},
		Pods:  []berth.Pod{pod("q", "n1", 0, "app=web")},
		Config: reference.Config{DefaultConstraints: []berth.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: berth.DoNotSchedule},
		}},
	}
	plain := pod("p", "", 0, "app=web")
	selected := with(plain, func(p *berth.Pod) { p.DefaultSpreadSelector = selector("app=web") })
	everything := with(plain, func(p *berth.Pod) { p.DefaultSpreadSelector = &berth.LabelSelector{} })
	own := with(selected, spread(berth.TopologySpreadConstraint{TopologyKey: host, WhenUnsatisfiable: berth.ScheduleAnyway, LabelSelector: selector("app=web")}))
	for _, c := range []struct {
		name string
		pod  berth.Pod
		want string
	}{
		{"they hold for pods with a default selector", selected, "n1 PodTopologySpread*, n2 ok, n3 PodTopologySpread"},
		{"not for pods without", plain, "n1 ok, n2 ok, n3 ok"},
		{"nor with an empty one", everything, "n1 ok, n2 ok, n3 ok"},
		{"nor with any own constraint", own, "n1 ok, n2 ok, n3 ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(cluster, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	cluster.Config.DefaultConstraints = []berth.TopologySpreadConstraint{}
	if got, want := verdicts(cluster, selected), "n1 ok, n2 ok, n3 ok"; got != want {
		t.Errorf("none configured: got %s, want %s", got, want)
	}
}
