package affinity_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/topology"
)

// TestTheOrderOfArrivalDoesNotMatter adds the nodes and pods of a cluster in two orders, and wants the same verdicts, the same
// scores and the same choice, by name.
func TestTheOrderOfArrivalDoesNotMatter(t *testing.T) {
	for seed := range uint64(25 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 31))
		opts := presets()[seed%uint64(len(presets()))]
		opts.Nodes, opts.Pods = 30, 80
		opts.GPU = 0 // which devices a pod gets does depend on who came first
		gn := gen.New(rng, opts)
		c := gn.Cluster()
		shuffled := &gen.Cluster{Nodes: slices.Clone(c.Nodes), Pods: slices.Clone(c.Pods), Namespaces: c.Namespaces}
		rng.Shuffle(len(c.Nodes), func(i, j int) { shuffled.Nodes[i], shuffled.Nodes[j] = shuffled.Nodes[j], shuffled.Nodes[i] })
		rng.Shuffle(len(c.Pods), func(i, j int) { shuffled.Pods[i], shuffled.Pods[j] = shuffled.Pods[j], shuffled.Pods[i] })
		one, err := newTwin(c, tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		other, err := newTwin(shuffled, tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			if err := sameByName(one, other, &pod, &pod, func(name string) string { return name }); err != nil {
				t.Fatalf("seed %d, pod %d: %v", seed, i, err)
			}
		}
	}
}

// sameByName compares the answers of two graphs for a pod each. What is a node of the first is the node of another name in
// the second, and of another id.
func sameByName(a, b *twin, podA, podB *berth.Pod, inB func(name string) string) error {
	verdicts := func(t *twin, pod *berth.Pod) (map[string]affinity.Verdict, error) {
		m := make(map[string]affinity.Verdict)
		err := t.profile.Verdicts(pod, func(n topology.NodeID, v affinity.Verdict) { m[t.graph.Topology().Name(n)] = v })
		return m, err
	}
	va, errA := verdicts(a, podA)
	vb, errB := verdicts(b, podB)
	if errA != nil || errB != nil {
		return fmt.Errorf("verdicts: %w, %w", errA, errB)
	}
	for name, v := range va {
		if v != vb[inB(name)] {
			return fmt.Errorf("node %s: %v in the one, %v in the other", name, v, vb[inB(name)])
		}
	}
	ca, okA, errA := a.profile.Best(podA)
	cb, okB, errB := b.profile.Best(podB)
	if errA != nil || errB != nil || okA != okB {
		return fmt.Errorf("best: %v %w, %v %w", okA, errA, okB, errB)
	}
	if !okA {
		return nil
	}
	na, nb := a.graph.Topology().Name(ca.Node), b.graph.Topology().Name(cb.Node)
	ca.Node, cb.Node = 0, 0
	if inB(na) != nb || ca != cb {
		return fmt.Errorf("%s %+v in the one, %s %+v in the other", na, ca, nb, cb)
	}
	return nil
}
