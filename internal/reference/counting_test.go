package reference_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

// The tests of this file show where kube-scheduler keeps counts by addition and subtraction and a recount would differ.

func nominated(p *berth.Pod) { p.NodeName, p.NominatedNodeName = "", "n1" }

// TestANominatedPodsAntiAffinityAlone: the plugin finds nothing to do among the placed pods and is skipped, so that
// nobody asks the nominated pod; any other term switches it on.
func TestANominatedPodsAntiAffinityAlone(t *testing.T) {
	nodes := []berth.Node{node("n1", host+"=n1"), node("n2", host+"=n2")}
	guard := with(pod("guard", "", 0), nominated, apart(term(host, "app=web")))
	web := pod("web", "", 0, "app=web")
	for _, c := range []struct {
		name string
		pods []berth.Pod
		pod  berth.Pod
		want string
	}{
		{"does not hold", []berth.Pod{guard}, web, "n1 ok, n2 ok"},
		{"holds against a pod with a term of its own", []berth.Pod{guard}, with(web, apart(term(host, "app=none"))), "n1 InterPodAffinity*, n2 ok"},
		{"holds if a placed pod is against it somewhere", []berth.Pod{guard, with(pod("other", "n2", 0), apart(term(host, "app=web")))}, web,
			"n1 InterPodAffinity*, n2 InterPodAffinity*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(&reference.Cluster{Nodes: nodes, Pods: c.pods}, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestAnEmptySpreadSelectorCountsNominatedPods although it counts no placed ones.
func TestAnEmptySpreadSelectorCountsNominatedPods(t *testing.T) {
	nodes := []berth.Node{node("n1", "zone=a"), node("n2", "zone=b")}
	everything := berth.TopologySpreadConstraint{TopologyKey: zone, LabelSelector: &berth.LabelSelector{}}
	p := with(pod("p", "", 0), spread(everything))
	placed := &reference.Cluster{Nodes: nodes, Pods: []berth.Pod{pod("q", "n1", 0)}}
	if got, want := verdicts(placed, p), "n1 ok, n2 ok"; got != want {
		t.Errorf("a placed pod: got %s, want %s", got, want)
	}
	waiting := &reference.Cluster{Nodes: nodes, Pods: []berth.Pod{with(pod("q", "", 0), nominated)}}
	if got, want := verdicts(waiting, p), "n1 PodTopologySpread*, n2 ok"; got != want {
		t.Errorf("a nominated pod: got %s, want %s", got, want)
	}
}

// TestATerminatingVictimIsTakenOffTheSpread although it was never counted: the pod that runs counts 1, and 1 - 2 is -1 when
// both that terminate are taken off. With one of them back it is 0, which has room.
func TestATerminatingVictimIsTakenOffTheSpread(t *testing.T) {
	nodes := []berth.Node{node("n1", "zone=a"), node("n2", "zone=b")}
	web := func(name string, changes ...func(*berth.Pod)) berth.Pod {
		return with(pod(name, "n1", 0, "app=web"), changes...)
	}
	cluster := &reference.Cluster{Nodes: nodes, Pods: []berth.Pod{
		web("running", priority(9)), web("leaving-1", terminating, started(1)), web("leaving-2", terminating, started(2)),
	}}
	byZone := berth.TopologySpreadConstraint{TopologyKey: zone, LabelSelector: selector("app=web")}
	p := with(pod("p", "", 5000, "app=web"), priority(5), spread(byZone))
	cluster.Nodes[0].Allocatable.MilliCPU = 8000
	if got, want := verdicts(cluster, p), "n1 PodTopologySpread*, n2 NodeResourcesFit"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	got := cluster.Preempt(&p)
	if len(got.Candidates) != 1 || len(got.Candidates[0].Victims) != 1 || got.Candidates[0].Victims[0].Name != "leaving-2" {
		t.Errorf("got %+v, want leaving-2 to go", got.Candidates)
	}
}
