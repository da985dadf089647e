package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func term(n string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"n": n}}}
}

// randomPod is a pod that gives every rule something to look at.
func randomPod(rng *rand.Rand, name string) *v1.Pod {
	p := pod(name, 0, rng.IntN(3), false)
	one := func(n int) bool { return rng.IntN(n) == 0 }
	p.Spec.Containers = []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(fmt.Sprint(1 + rng.IntN(3))),
	}}}}
	if one(3) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: int32(80 + rng.IntN(2)), Protocol: v1.ProtocolTCP}}
	}
	p.Spec.Affinity = &v1.Affinity{}
	if one(2) {
		p.Spec.Affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(fmt.Sprint(rng.IntN(3)))}}
	}
	if one(2) {
		p.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(fmt.Sprint(rng.IntN(3)))}}
	}
	if one(2) {
		p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if one(2) {
		p.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
	}
	if one(2) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(rng.IntN(3))}},
		}}
	}
	return p
}

func bound(rng *rand.Rand, name string) *v1.Pod {
	p := randomPod(rng, name)
	p.Spec.NodeName = "n1"
	return p
}

func randomNode(rng *rand.Rand) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{}}}
	n.Status.Allocatable = v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(fmt.Sprint(rng.IntN(4))), v1.ResourcePods: resource.MustParse(fmt.Sprint(rng.IntN(3))),
	}
	if rng.IntN(3) > 0 {
		n.Labels["zone"] = fmt.Sprint(rng.IntN(2))
	}
	if rng.IntN(2) == 0 {
		n.Labels["disk"] = "ssd"
	}
	if rng.IntN(2) == 0 {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: v1.TaintEffectNoSchedule}}
	}
	n.Spec.Unschedulable = rng.IntN(3) == 0
	return n
}

func randomEvent(rng *rand.Rand) Event {
	switch rng.IntN(5) {
	case 0:
		return Event{Pod: bound(rng, "other")}
	case 1:
		return Event{OldPod: bound(rng, "other")}
	case 2:
		// Of a bound pod little may change: the labels.
		old := bound(rng, "other")
		current := old.DeepCopy()
		current.Labels["n"] = fmt.Sprint(rng.IntN(3))
		return Event{OldPod: old, Pod: current}
	case 3:
		return Event{Node: randomNode(rng)}
	default:
		return Event{OldNode: randomNode(rng), Node: randomNode(rng)}
	}
}

// TestRulesHelpWhereKubeSchedulersDo refuses random pods by each plugin in turn, lets something happen, and requires that
// berth's queue wakes the pod if kube-scheduler's does, and else only if that is a wake-up that v1.37.2 is known to lose.
func TestRulesHelpWhereKubeSchedulersDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	queues := open(t)
	kube, berth := queues["kube"].(*Kube), queues["berth"].(*Berth)
	more := 0
	for i := range 5_000 {
		plugin := rules()[i%len(rules())].plugin
		waiting := randomPod(rng, "waiting")
		e := randomEvent(rng)
		for name, q := range queues {
			for _, err := range []error{q.Add(waiting), firstError(q.Pop()), q.Fail(Failure{Pod: "waiting", Plugins: []string{plugin}}), q.Event(e)} {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		kubeWakes, berthWakes := len(kube.Pods(Unschedulable)) == 0, len(berth.Pods(Unschedulable)) == 0
		if kubeWakes != berthWakes {
			if kubeWakes || !lostByKube(plugin, waiting, e) {
				t.Fatalf("round %d: %s refused\n%+v\nevent %+v: kube-scheduler wakes it: %t, berth: %t", i, plugin, waiting, e, kubeWakes, berthWakes)
			}
			more++
		}
		kube.delete(waiting)
		if err := berth.queue.Delete("waiting", berth.now); err != nil {
			t.Fatal(err)
		}
	}
	if more == 0 {
		t.Error("no wake-up that kube-scheduler loses came up")
	}
	t.Logf("%d wake-ups more than kube-scheduler", more)
}

func firstError(_ string, _ bool, err error) error { return err }

// lostByKube says whether it is known that kube-scheduler does not see that this helps: a pod went that the waiting one wants,
// and that wants itself (kubernetes#141354).
func lostByKube(plugin string, waiting *v1.Pod, e Event) bool {
	wanted := affinityTerms(waiting)
	return plugin == "InterPodAffinity" && e.OldPod != nil && len(wanted) > 0 &&
		all(wanted, waiting, e.OldPod) && all(wanted, waiting, waiting)
}
