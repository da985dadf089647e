package numa

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
	tm "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"github.com/berth-go/berth/numa"
)

var memoryPods = flag.Int("numa.memory", 3_000, "random pods with memory to compare with the kubelet's")

const hugePage = 2 << 20

// TestMemoryGroupsEqualTheKubelets fills machines with pods that pin memory
// and huge pages and compares the merged hint, admission and what is free on
// each node after each.
func TestMemoryGroupsEqualTheKubelets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	log, ctx := klog.Background(), context.Background()
	admitted, refused, groups := 0, 0, 0
	for pods := 0; pods < *memoryPods; {
		n := 1 + rng.IntN(4)
		m := plain(rng, n)
		for i := range m.Nodes {
			m.Nodes[i].Memory = []numa.Memory{{Bytes: (20 + rng.Int64N(20)) * hugePage}, {PageSize: hugePage, Bytes: rng.Int64N(12) * hugePage}}
		}
		reserved := map[int]map[v1.ResourceName]uint64{0: {v1.ResourceMemory: hugePage}}
		o := tm.PolicyOptions{PreferClosestNUMA: rng.IntN(2) == 0, MaxAllowableNUMANodes: 8}
		mi := machineInfo(m)
		info, err := tm.NewNUMAInfo(mi.Topology, o)
		if err != nil {
			t.Fatal(err)
		}
		p := numa.Policy(rng.IntN(4))
		st := &store{policy: kubePolicy(p, info, o)}
		kube, err := memorymanager.NewPolicyStatic(log, mi, reserved, st)
		if err != nil {
			t.Fatal(err)
		}
		ks := state.NewMemoryState(log)
		if err := kube.Start(log, ks); err != nil {
			t.Fatal(err)
		}
		l, err := numa.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		s, err := numa.NewState(l, numa.Config{
			Policy: p, PreferClosest: o.PreferClosestNUMA,
			ReservedMemory: []numa.MemoryBlock{{Node: 0, Bytes: hugePage}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			pods++
			name := fmt.Sprint("pod", i)
			requests := v1.ResourceList{
				v1.ResourceCPU:    resource.MustParse("1"),
				v1.ResourceMemory: *resource.NewQuantity((1+rng.Int64N(45))*hugePage, resource.BinarySI),
			}
			ours := numa.Container{Name: "c", Memory: []numa.Memory{{Bytes: requests.Memory().Value()}}}
			if rng.IntN(3) == 0 {
				q := *resource.NewQuantity((1+rng.Int64N(14))*hugePage, resource.BinarySI)
				requests["hugepages-2Mi"] = q
				ours.Memory = append(ours.Memory, numa.Memory{PageSize: hugePage, Bytes: q.Value()})
			}
			pod := guaranteed(name, requests)
			hint, ok := st.policy.Merge(log, []map[string][]tm.TopologyHint{kube.GetTopologyHints(log, ks, pod, &pod.Spec.Containers[0], lifecycle.AddOperation)})
			st.hint = hint
			kubeErr := error(nil)
			if ok {
				kubeErr = kube.Allocate(ctx, ks, pod, &pod.Spec.Containers[0], lifecycle.AddOperation)
			}
			placement, planErr := s.Plan(&numa.Request{Name: name, Containers: []numa.Container{ours}})
			if (ok && kubeErr == nil) != (planErr == nil) {
				t.Fatalf("%v, %+v: the kubelet has %+v admit %v, %v; got %+v %v", p, ours, ourHint(hint), ok, kubeErr, placement, planErr)
			}
			if planErr != nil {
				refused++
				continue
			}
			if got := placement.Containers[0].Hint; got != ourHint(hint) && p != numa.PolicyNone {
				t.Fatalf("%v: hint %+v, want %+v", p, got, ourHint(hint))
			}
			admitted++
			if placement.Containers[0].MemoryNodes.Len() > 1 {
				groups++
			}
			if err := s.Apply(placement); err != nil {
				t.Fatal(err)
			}
			for id, node := range ks.GetMachineState() {
				for r, page := range map[v1.ResourceName]int64{v1.ResourceMemory: 0, "hugepages-2Mi": hugePage} {
					want := int64(0)
					if table := node.MemoryMap[r]; table != nil {
						want = int64(table.Free)
					}
					if got := s.FreeMemory(id, page); got != want {
						t.Fatalf("%v after %+v: node %d has %d bytes of %s free, the kubelet %d", p, ours, id, got, r, want)
					}
				}
			}
		}
	}
	if groups == 0 || refused == 0 {
		t.Errorf("%d groups, %d refused: the test lost its grip", groups, refused)
	}
	t.Logf("%d pods admitted, %d on several nodes, %d refused", admitted, groups, refused)
}
