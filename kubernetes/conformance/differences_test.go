package conformance_test

// These tests show each difference of docs/DIFFERENCES.md from both sides, so that neither a change of ours nor a new release
// of kube-scheduler goes by unnoticed.

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/fast"
	"github.com/berth-go/berth/kubernetes/conformance/kube"
)

func node(name, cpu string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("64Gi"), v1.ResourcePods: resource.MustParse("110"),
	}}}
}

func pod(name, on, cpu string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{
		NodeName: on,
		Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("1Gi"),
		}}}},
	}}
	for _, f := range change {
		f(p)
	}
	return conformance.Admit(p)
}

// decider is a scheduler that decides.
type decider interface {
	conformance.Scheduler
	Prepare(*v1.Pod) (conformance.Waiting, error)
}

func berth(t *testing.T, c *conformance.Cluster) *fast.Scheduler {
	t.Helper()
	s, err := fast.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kubeScheduler(t *testing.T, c *conformance.Cluster, options ...kube.Option) *kube.Scheduler {
	t.Helper()
	s, err := kube.New(c, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// decisions are the nodes that a scheduler chooses for a pod if it is asked so often.
func decisions(t *testing.T, s decider, p *v1.Pod, times int) []string {
	t.Helper()
	var out []string
	for range times {
		w, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		node, err := w.Decide()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, node)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func evaluate(t *testing.T, s conformance.Scheduler, p *v1.Pod) *conformance.Evaluation {
	t.Helper()
	e, err := s.Evaluate(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func preempt(t *testing.T, s conformance.Scheduler, p *v1.Pod) *conformance.Preemption {
	t.Helper()
	out, err := s.Preempt(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDifferenceTies(t *testing.T) {
	c := &conformance.Cluster{}
	for i := range 6 {
		c.Nodes = append(c.Nodes, node(fmt.Sprint("n", i), "4"))
	}
	backwards := &conformance.Cluster{Nodes: slices.Clone(c.Nodes)}
	slices.Reverse(backwards.Nodes)
	p := pod("p", "", "1")
	once, again := decisions(t, berth(t, c), p, 50), decisions(t, berth(t, backwards), p, 50)
	if len(once) != 1 || !slices.Equal(once, again) {
		t.Errorf("berth chooses any of %v, or if the nodes come in another order, of %v", once, again)
	}
	once, again = decisions(t, kubeScheduler(t, c), p, 50), decisions(t, kubeScheduler(t, backwards), p, 50)
	if len(once) == 1 && slices.Equal(once, again) {
		t.Errorf("kube-scheduler chooses %v whatever the order of the nodes", once)
	}
}

func TestDifferenceSampling(t *testing.T) {
	c := &conformance.Cluster{}
	for i := range 400 {
		c.Nodes = append(c.Nodes, node(fmt.Sprint("n", i), "4"))
	}
	c.Nodes[200].Status.Allocatable[v1.ResourceCPU] = resource.MustParse("64")
	p := pod("p", "", "1")
	if chosen := decisions(t, berth(t, c), p, 10); !slices.Equal(chosen, []string{"n200"}) {
		t.Errorf("berth chooses %v", chosen)
	}
	if chosen := decisions(t, kubeScheduler(t, c, kube.Sampled(0)), p, 10); len(chosen) < 2 {
		t.Errorf("kube-scheduler always finds %v", chosen)
	}
}

func TestDifferenceOwnNomination(t *testing.T) {
	c := &conformance.Cluster{Nodes: []*v1.Node{node("nominated", "2"), node("roomy", "16")}}
	p := pod("p", "", "1", func(p *v1.Pod) { p.Status.NominatedNodeName = "nominated" })
	if chosen := decisions(t, berth(t, c), p, 5); !slices.Equal(chosen, []string{"roomy"}) {
		t.Errorf("berth chooses %v", chosen)
	}
	if chosen := decisions(t, kubeScheduler(t, c), p, 5); !slices.Equal(chosen, []string{"nominated"}) {
		t.Errorf("kube-scheduler chooses %v", chosen)
	}
}

func TestDifferenceImageSizes(t *testing.T) {
	c := &conformance.Cluster{Nodes: []*v1.Node{node("small", "4"), node("large", "4")}}
	for i, size := range []int64{100 << 20, 900 << 20} {
		c.Nodes[i].Status.Images = []v1.ContainerImage{{Names: []string{"app:1"}, SizeBytes: size}}
	}
	p := pod("p", "", "1", func(p *v1.Pod) { p.Spec.Containers[0].Image = "app:1" })
	if s := evaluate(t, berth(t, c), p).Scores[conformance.ImageLocality]; s["small"] >= s["large"] {
		t.Errorf("berth scores %v: each node counts with the size that it has", s)
	}
	if s := evaluate(t, kubeScheduler(t, c), p).Scores[conformance.ImageLocality]; s["small"] != s["large"] {
		t.Errorf("kube-scheduler scores %v: all count with the size on the node that came first", s)
	}
}

func TestDifferenceHostPortHeldTwice(t *testing.T) {
	port := func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80}} }
	c := &conformance.Cluster{
		Nodes: []*v1.Node{node("n", "4")},
		Pods:  []*v1.Pod{pod("a", "n", "1", port), pod("b", "n", "1", port)},
	}
	ours, theirs := berth(t, c), kubeScheduler(t, c)
	for _, s := range []conformance.Scheduler{ours, theirs} {
		if err := s.Apply(conformance.Change{DeletePod: c.Pods[0]}); err != nil {
			t.Fatal(err)
		}
	}
	p := pod("p", "", "1", port)
	if r := evaluate(t, ours, p).Refusals["n"]; r.Plugin != conformance.NodePorts {
		t.Errorf("berth: %v, but the other pod still holds the port", r)
	}
	if r, refused := evaluate(t, theirs, p).Refusals["n"]; refused {
		t.Errorf("kube-scheduler: %v, it used to forget a port when one of its holders goes", r)
	}
}

func TestDifferencePreemptionLooksAtAllNodes(t *testing.T) {
	c := &conformance.Cluster{}
	for i := range 150 {
		name := fmt.Sprint("n", i)
		c.Nodes = append(c.Nodes, node(name, "1"))
		c.Pods = append(c.Pods, pod("victim-"+name, name, "1"))
	}
	p := pod("p", "", "1", func(p *v1.Pod) { p.Spec.Priority = new(int32(10)) })
	if got := preempt(t, berth(t, c), p); len(got.Candidates) != 150 {
		t.Errorf("berth looks at %d candidates", len(got.Candidates))
	}
}

func TestDifferenceVictimsOfOneAge(t *testing.T) {
	start := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	sameAge := func(p *v1.Pod) { p.Status.StartTime = &start }
	p := pod("p", "", "1", func(p *v1.Pod) { p.Spec.Priority = new(int32(10)) })
	victims := map[string]bool{}
	for range 10 {
		c := &conformance.Cluster{Nodes: []*v1.Node{node("n", "4")}}
		for i := range 4 {
			c.Pods = append(c.Pods, pod(fmt.Sprint("v", i), "n", "1", sameAge))
		}
		victims[fmt.Sprint(preempt(t, berth(t, c), p).Candidates["n"].Pods)] = true
	}
	if len(victims) != 1 {
		t.Errorf("berth chooses any of %v", victims)
	}
}

func TestDifferenceInvalidPodsAreRefusedAtOnce(t *testing.T) {
	c := &conformance.Cluster{Nodes: []*v1.Node{node("only", "4")}}
	p := pod("p", "", "1", func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{Weight: 1, Preference: v1.NodeSelectorTerm{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: "cores", Operator: v1.NodeSelectorOpGt, Values: []string{"many"}}},
			}}},
		}}
	})
	if _, err := berth(t, c).Prepare(p); err == nil {
		t.Error("berth takes the pod")
	}
	// With one feasible node nothing is scored, so the term is never looked at; with two the pod can't be placed.
	if chosen := decisions(t, kubeScheduler(t, c), p, 1); !slices.Equal(chosen, []string{"only"}) {
		t.Errorf("kube-scheduler chooses %v", chosen)
	}
	two := &conformance.Cluster{Nodes: []*v1.Node{node("a", "4"), node("b", "4")}}
	if _, err := kubeScheduler(t, two).Evaluate(p); err == nil {
		t.Error("kube-scheduler scores the term")
	}
}

func TestDifferenceAssumeNeedsTheNode(t *testing.T) {
	c := &conformance.Cluster{Nodes: []*v1.Node{node("n", "4")}}
	assume := conformance.Change{AssumePod: pod("p", "elsewhere", "1")}
	if err := berth(t, c).Apply(assume); err == nil {
		t.Error("berth assumes a pod on a node that is not there")
	}
	if err := kubeScheduler(t, c).Apply(assume); err != nil {
		t.Errorf("kube-scheduler: %v", err)
	}
}
