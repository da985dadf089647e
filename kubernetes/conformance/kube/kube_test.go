package kube

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/berth-go/berth/kubernetes/conformance"
)

func node(name, cpu string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("110"),
	}}}
}

func pod(name, on, cpu string) *v1.Pod {
	return conformance.Admit(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{
		NodeName: on,
		Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu),
		}}}},
	}})
}

func open(t *testing.T, c *conformance.Cluster, options ...Option) *Scheduler {
	t.Helper()
	s, err := New(c, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestEvaluateAsksEveryNode(t *testing.T) {
	c := &conformance.Cluster{}
	for i := range 300 { // so many that the scheduler itself would look at a part of them
		c.Nodes = append(c.Nodes, node(string(rune('a'+i%26))+string(rune('a'+i/26)), "4"))
	}
	c.Nodes = append(c.Nodes, node("small", "1"))
	e, err := open(t, c, Sampled(0)).Evaluate(pod("p", "", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Totals) != 300 || len(e.Refusals) != 1 {
		t.Errorf("%d feasible, %d refused", len(e.Totals), len(e.Refusals))
	}
	if r := e.Refusals["small"]; r.Plugin != conformance.NodeResourcesFit || r.Resolvable {
		t.Errorf("small: %+v", r) // it asks for more than the node has in all
	}
	for plugin := range conformance.Weights() {
		if len(e.Scores[plugin]) != 300 {
			t.Errorf("%s scores %d nodes", plugin, len(e.Scores[plugin]))
		}
	}
}

func TestChangesReachTheCache(t *testing.T) {
	s := open(t, &conformance.Cluster{Nodes: []*v1.Node{node("n", "4")}})
	requested := func() int64 {
		t.Helper()
		r, err := s.Requested("n")
		if err != nil {
			t.Fatal(err)
		}
		return r[v1.ResourceCPU]
	}
	steps := []struct {
		change conformance.Change
		want   int64
	}{
		{conformance.Change{AddPod: pod("a", "n", "1")}, 1000},
		{conformance.Change{UpdatePod: pod("a", "n", "2")}, 2000},
		{conformance.Change{AssumePod: pod("b", "n", "1")}, 3000},
		{conformance.Change{ForgetPod: pod("b", "", "1")}, 2000},
		{conformance.Change{AssumePod: pod("b", "n", "1")}, 3000},
		{conformance.Change{AddPod: pod("b", "elsewhere", "1")}, 2000},
		{conformance.Change{AddPod: pod("w", "", "1")}, 2000},
		{conformance.Change{UpdatePod: pod("w", "n", "1")}, 3000},
		{conformance.Change{DeletePod: pod("a", "", "0")}, 1000},
	}
	for _, step := range steps {
		if err := s.Apply(step.change); err != nil {
			t.Fatalf("%v: %v", step.change, err)
		}
		if got := requested(); got != step.want {
			t.Errorf("after %v: %d requested, want %d", step.change, got, step.want)
		}
	}
	for _, c := range []conformance.Change{
		{}, {UpdateNode: node("x", "1")}, {DeleteNode: "x"}, {UpdatePod: pod("x", "n", "1")}, {DeletePod: pod("x", "n", "1")}, {ForgetPod: pod("x", "n", "1")},
	} {
		if err := s.Apply(c); err == nil {
			t.Errorf("no error for %v", c)
		}
	}
}

func TestNominatedPodsHoldTheirRoom(t *testing.T) {
	waiting := pod("waiting", "", "3")
	waiting.Status.NominatedNodeName = "n"
	s := open(t, &conformance.Cluster{Nodes: []*v1.Node{node("n", "4")}, Pods: []*v1.Pod{waiting}})
	feasible := func() int {
		t.Helper()
		e, err := s.Evaluate(pod("p", "", "2"))
		if err != nil {
			t.Fatal(err)
		}
		return len(e.Totals)
	}
	if feasible() != 0 {
		t.Error("the nominated pod holds no room")
	}
	if err := s.Apply(conformance.Change{DeletePod: waiting}); err != nil {
		t.Fatal(err)
	}
	if feasible() != 1 {
		t.Error("the nominated pod still holds its room")
	}
}

func TestFeatureGatesAreSetForTheTimeOfTheQuestion(t *testing.T) {
	const gate = "InterPodAffinityHostnameFastPath"
	s, err := New(&conformance.Cluster{Config: conformance.Config{FeatureGates: map[string]bool{gate: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if !utilfeature.DefaultFeatureGate.Enabled(gate) {
		t.Error("not set")
	}
	s.Close()
	if utilfeature.DefaultFeatureGate.Enabled(gate) {
		t.Error("still set")
	}
	if _, err := New(&conformance.Cluster{Config: conformance.Config{FeatureGates: map[string]bool{"NoSuchGate": true}}}); err == nil {
		t.Error("no error for an unknown gate")
	}
}

func TestFirstRanked(t *testing.T) {
	ranks := map[string]rank{"a": {0, 5, 3}, "b": {0, 5, 2}, "c": {1}, "d": {0, 5, 2}}
	if got := firstRanked(ranks); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("first are %v", got)
	}
	if got := firstRanked(nil); len(got) != 0 {
		t.Errorf("first of none are %v", got)
	}
}

func TestDecideIsAmongTheBest(t *testing.T) {
	s := open(t, &conformance.Cluster{Nodes: []*v1.Node{node("a", "4"), node("b", "8"), node("c", "8")}})
	for i := range 10 {
		p := pod(string(rune('p'+i)), "", "1")
		w, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		best, err := s.Best(p)
		if err != nil {
			t.Fatal(err)
		}
		on, err := w.Decide()
		if err != nil || !slices.Contains(best, on) {
			t.Fatalf("decided on %q, best are %v (%v)", on, best, err)
		}
		if err := w.Assume(on); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImageHoldersOfUnchangedNodesAreStale shows why Evaluate makes all nodes look changed: kube-scheduler copies a node into
// its snapshot with the number of nodes that held its images at that time, and again only when that node changes.
func TestImageHoldersOfUnchangedNodesAreStale(t *testing.T) {
	holder := func(name string) *v1.Node {
		n := node(name, "4")
		n.Status.Images = []v1.ContainerImage{{Names: []string{"app:1"}, SizeBytes: 500 << 20}}
		return n
	}
	p := pod("p", "", "1")
	p.Spec.Containers[0].Image = "app:1"
	s := open(t, &conformance.Cluster{Nodes: []*v1.Node{holder("first"), node("bare", "4")}})
	score := func() int64 {
		t.Helper()
		f, err := s.filterSnapshot(p)
		if err != nil {
			t.Fatal(err)
		}
		e := conformance.NewEvaluation()
		if err := s.score(p, f, e); err != nil {
			t.Fatal(err)
		}
		return e.Scores[conformance.ImageLocality]["first"]
	}
	if err := s.look(); err != nil {
		t.Fatal(err)
	}
	alone := score()
	if err := s.Apply(conformance.Change{AddNode: holder("second")}); err != nil {
		t.Fatal(err)
	}
	if err := s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		t.Fatal(err)
	}
	// One of two nodes held it, now two of three do, but the node counts one of three.
	if stale := score(); stale >= alone {
		t.Errorf("score %d after %d: the number of holders is not stale", stale, alone)
	}
	if err := s.look(); err != nil {
		t.Fatal(err)
	}
	if fresh := score(); fresh <= alone {
		t.Errorf("score %d after %d with another holder", fresh, alone)
	}
}
