package numa

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cadvisor "github.com/google/cadvisor/lib/model"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	tm "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"

	"github.com/berth-go/berth/internal/tartree"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/numa/sysfs"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := utilfeature.DefaultMutableFeatureGate.Set("CPUManagerPolicyAlphaOptions=true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// machineInfo is what cAdvisor would report of the machine: CPUs of a node,
// last-level caches as uncore caches.
func machineInfo(m *numa.Machine) *cadvisor.MachineInfo {
	info := &cadvisor.MachineInfo{}
	uncore := map[int]int{}
	level := 3
	for _, c := range m.Caches {
		level = max(level, c.Level)
	}
	for i, c := range m.Caches {
		if c.Level == level && !c.Instruction {
			for cpu := range c.CPUs.All() {
				uncore[cpu] = c.ID
				if c.ID < 0 {
					uncore[cpu] = i
				}
			}
		}
	}
	packages := map[int]bool{}
	for i, n := range m.Nodes {
		node := cadvisor.Node{Id: n.ID}
		for _, mem := range n.Memory {
			if mem.PageSize == 0 {
				node.Memory = uint64(mem.Bytes)
			} else {
				node.HugePages = append(node.HugePages, cadvisor.HugePagesInfo{PageSize: uint64(mem.PageSize >> 10), NumPages: uint64(mem.Bytes / mem.PageSize)})
			}
		}
		if i < len(m.Distances) {
			for _, d := range m.Distances[i] {
				node.Distances = append(node.Distances, uint64(d))
			}
		}
		at := map[int]int{}
		for _, c := range m.CPUs {
			if c.Node != n.ID {
				continue
			}
			packages[c.Package] = true
			k, ok := at[c.Core]
			if !ok {
				k = len(node.Cores)
				at[c.Core] = k
				core := cadvisor.Core{Id: c.Core, SocketID: c.Package}
				if id, ok := uncore[c.ID]; ok {
					core.UncoreCaches = []cadvisor.Cache{{Id: id, Level: level}}
				}
				node.Cores = append(node.Cores, core)
			}
			node.Cores[k].Threads = append(node.Cores[k].Threads, c.ID)
			info.NumCores++
		}
		info.Topology = append(info.Topology, node)
	}
	info.NumSockets = len(packages)
	return info
}

// treesDir is where the recorded machines are.
const treesDir = "../../../numa/sysfs/testdata"

// realMachines reads the recorded trees that the kubelet can stand: at least
// one CPU, no node id above 63.
func realMachines(t testing.TB) map[string]*numa.Machine {
	t.Helper()
	files, err := filepath.Glob(treesDir + "/*.tar.bz2")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded trees: %v", err)
	}
	machines := map[string]*numa.Machine{}
	for _, f := range files {
		tree, err := tartree.Open(os.DirFS(treesDir), filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		m, err := sysfs.Read(tree)
		if err != nil {
			t.Fatal(err)
		}
		ok := true
		for _, n := range m.Nodes {
			ok = ok && n.ID < 64
		}
		if ok {
			machines[strings.TrimSuffix(filepath.Base(f), ".tar.bz2")] = m
		}
	}
	return machines
}

func kubeMask(m numa.Mask) bitmask.BitMask {
	b := bitmask.NewEmptyBitMask()
	for id := range m.All() {
		if err := b.Add(id); err != nil {
			panic(err) // tests stay below 64
		}
	}
	return b
}

func kubeHint(h numa.Hint) tm.TopologyHint {
	k := tm.TopologyHint{Preferred: h.Preferred}
	if !h.Any {
		k.NUMANodeAffinity = kubeMask(h.Nodes)
	}
	return k
}

func ourHint(k tm.TopologyHint) numa.Hint {
	if k.NUMANodeAffinity == nil {
		return numa.Hint{Any: true, Preferred: k.Preferred}
	}
	return numa.Hint{Nodes: numa.MaskOf(k.NUMANodeAffinity.GetBits()...), Preferred: k.Preferred}
}

func kubePolicy(p numa.Policy, info *tm.NUMAInfo, o tm.PolicyOptions) tm.Policy {
	switch p {
	case numa.PolicyBestEffort:
		return tm.NewBestEffortPolicy(info, o)
	case numa.PolicyRestricted:
		return tm.NewRestrictedPolicy(info, o)
	case numa.PolicySingleNode:
		return tm.NewSingleNumaNodePolicy(info, o)
	}
	return tm.NewNonePolicy()
}

// store hands the kubelet's managers a hint.
type store struct {
	hint   tm.TopologyHint
	policy tm.Policy
}

func (s *store) GetAffinity(klog.Logger, string, string) tm.TopologyHint { return s.hint }
func (s *store) GetPolicy() tm.Policy                                    { return s.policy }
func (s *store) Name() string                                            { return "conformance" }
