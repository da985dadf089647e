package numa

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	tm "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"

	"github.com/berth-go/berth/numa"
)

// demands are resources of a machine in use, each needing about span nodes.
func demands(rng *rand.Rand, l *numa.Layout, count, span int) []numa.Resource {
	rs := make([]numa.Resource, count)
	for i := range rs {
		d := numa.Demand{Amount: int64(span*8 - 2)}
		for id := range l.Nodes().All() {
			d.Supply = append(d.Supply, numa.Supply{Nodes: numa.MaskOf(id), Total: 8, Free: 3 + rng.Int64N(6)})
		}
		rs[i] = numa.Resource{Name: fmt.Sprint("r", i), Demands: []numa.Demand{d}}
	}
	return rs
}

// listed writes out the masks of the resources as the kubelet's managers do.
func listed(n int, rs []numa.Resource) []map[string][]tm.TopologyHint {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	provider := map[string][]tm.TopologyHint{}
	for _, r := range rs {
		d := r.Demands[0]
		least := n
		list := []tm.TopologyHint{}
		bitmask.IterateBitMasks(ids, func(mask bitmask.BitMask) {
			total, free := int64(0), int64(0)
			for i, s := range d.Supply {
				if mask.IsSet(i) {
					total += s.Total
					free += s.Free
				}
			}
			if total >= d.Amount {
				least = min(least, mask.Count())
			}
			if free >= d.Amount {
				list = append(list, tm.TopologyHint{NUMANodeAffinity: mask})
			}
		})
		for i := range list {
			list[i].Preferred = list[i].NUMANodeAffinity.Count() == least
		}
		provider[r.Name] = list
	}
	return []map[string][]tm.TopologyHint{provider}
}

// BenchmarkMerge puts the kubelet's merge, the listing of masks included,
// beside ours where it ends in reasonable time.
func BenchmarkMerge(b *testing.B) {
	log := klog.Background()
	for _, c := range []struct {
		nodes, resources int
		kubelet          bool
	}{{2, 4, true}, {3, 4, true}, {4, 3, true}, {4, 4, true}, {6, 3, true}, {8, 2, true}, {8, 6, false}} {
		rng := rand.New(rand.NewPCG(1, 2))
		m := plain(rng, c.nodes)
		l, err := numa.Compile(m)
		if err != nil {
			b.Fatal(err)
		}
		rs := demands(rng, l, c.resources, 1)
		name := fmt.Sprintf("nodes=%d/resources=%d", c.nodes, c.resources)
		b.Run(name+"/berth", func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Merge(numa.MergeConfig{Policy: numa.PolicyRestricted}, rs); err != nil {
					b.Fatal(err)
				}
			}
		})
		if !c.kubelet {
			continue
		}
		o := tm.PolicyOptions{MaxAllowableNUMANodes: 8}
		info, err := tm.NewNUMAInfo(machineInfo(m).Topology, o)
		if err != nil {
			b.Fatal(err)
		}
		p := tm.NewRestrictedPolicy(info, o)
		b.Run(name+"/kubelet", func(b *testing.B) {
			for b.Loop() {
				p.Merge(log, listed(c.nodes, rs))
			}
		})
	}
}

// grid has nodes in packages of nodesPerSocket, two threads a core.
func grid(nodes, cores, nodesPerSocket int) *numa.Machine {
	m := &numa.Machine{}
	for n := range nodes {
		m.Nodes = append(m.Nodes, numa.Node{ID: n})
		for c := range cores {
			for range 2 {
				m.CPUs = append(m.CPUs, numa.CPU{ID: len(m.CPUs), Core: n*cores + c, Package: n / nodesPerSocket, Node: n})
			}
		}
	}
	return m
}

// BenchmarkCPUs puts the kubelet's allocation beside ours. Half of what is
// free is taken from a machine that is partly in use.
func BenchmarkCPUs(b *testing.B) {
	for _, c := range []struct {
		mode                         string
		nodes, cores, nodesPerSocket int
		o                            numa.CPUOptions
		kubelet                      bool
	}{
		{"packed", 2, 32, 1, numa.CPUOptions{}, true},
		{"packed", 8, 16, 4, numa.CPUOptions{}, true},
		{"distributed", 2, 32, 1, numa.CPUOptions{AcrossNodes: true}, true},
		{"distributed", 8, 16, 4, numa.CPUOptions{AcrossNodes: true}, true},
		{"distributed", 64, 8, 4, numa.CPUOptions{AcrossNodes: true}, false},
	} {
		m := grid(c.nodes, c.cores, c.nodesPerSocket)
		l, err := numa.Compile(m)
		if err != nil {
			b.Fatal(err)
		}
		topo, err := topology.Discover(klog.Background(), machineInfo(m))
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		free := randomFree(rng, m)
		for free.Len() < len(m.CPUs)/2 {
			free = randomFree(rng, m)
		}
		n := free.Len() / 4 * 2
		name := fmt.Sprintf("mode=%s/cpus=%d/nodes=%d", c.mode, len(m.CPUs), c.nodes)
		b.Run(name+"/berth", func(b *testing.B) {
			for b.Loop() {
				if _, err := l.TakeCPUs(free, n, c.o); err != nil {
					b.Fatal(err)
				}
			}
		})
		if !c.kubelet {
			continue
		}
		b.Run(name+"/kubelet", func(b *testing.B) {
			for b.Loop() {
				if _, err := kubeletTakes(topo, free, n, numa.Hint{Any: true}, c.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
