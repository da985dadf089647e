package numa

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/klog/v2"
	tm "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"

	"github.com/berth-go/berth/numa"
)

var merges = flag.Int("numa.merges", 20_000, "random merges to compare with the kubelet's")

// plain is a machine of n nodes with random, asymmetric distances.
func plain(rng *rand.Rand, n int) *numa.Machine {
	m := &numa.Machine{}
	for i := range n {
		m.Nodes = append(m.Nodes, numa.Node{ID: i})
		m.CPUs = append(m.CPUs, numa.CPU{ID: i, Core: i, Package: i, Node: i})
		row := make([]int, n)
		for j := range row {
			row[j] = []int{10, 11, 12, 20, 21, 32, 255}[rng.IntN(7)]
		}
		m.Distances = append(m.Distances, row)
	}
	return m
}

// providers draws up to four providers: with nothing to say, with resources
// without a list, with empty lists, with hints.
func providers(rng *rand.Rand, n int) (kube []map[string][]tm.TopologyHint, ours [][]numa.Hint) {
	for range rng.IntN(5) {
		if rng.IntN(6) == 0 {
			kube = append(kube, nil)
			ours = append(ours, nil)
			continue
		}
		p := map[string][]tm.TopologyHint{}
		for r := range 1 + rng.IntN(2) {
			name := fmt.Sprint("r", r)
			switch rng.IntN(8) {
			case 0:
				p[name] = nil
				ours = append(ours, nil)
				continue
			case 1:
				p[name] = []tm.TopologyHint{}
				ours = append(ours, []numa.Hint{})
				continue
			}
			var list []numa.Hint
			for range 1 + rng.IntN(4) {
				h := numa.Hint{Preferred: rng.IntN(2) == 0, Any: rng.IntN(9) == 0}
				if !h.Any {
					for id := range n {
						if rng.IntN(2) == 0 {
							h.Nodes.Add(id)
						}
					}
				}
				list = append(list, h)
				p[name] = append(p[name], kubeHint(h))
			}
			ours = append(ours, list)
		}
		kube = append(kube, p)
	}
	return kube, ours
}

func TestMergeEqualsTheKubelets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	log := klog.Background()
	preferred, refused := 0, 0
	for i := range *merges {
		n := 1 + rng.IntN(6)
		m := plain(rng, n)
		l, err := numa.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		o := tm.PolicyOptions{PreferClosestNUMA: rng.IntN(2) == 0, MaxAllowableNUMANodes: 8}
		info, err := tm.NewNUMAInfo(machineInfo(m).Topology, o)
		if err != nil {
			t.Fatal(err)
		}
		p := numa.Policy(rng.IntN(4))
		kube, ours := providers(rng, n)
		wantHint, wantAdmit := kubePolicy(p, info, o).Merge(log, kube)
		want := ourHint(wantHint)
		got, admit := l.MergeHints(p, o.PreferClosestNUMA, ours)
		if got != want || admit != wantAdmit {
			t.Fatalf("merge %d, %v closest=%v of %v: got %v %v, the kubelet says %v %v", i, p, o.PreferClosestNUMA, ours, got, admit, want, wantAdmit)
		}
		if got.Preferred {
			preferred++
		}
		if !admit {
			refused++
		}
	}
	t.Logf("%d merges equal, %d preferred, %d refused", *merges, preferred, refused)
}
