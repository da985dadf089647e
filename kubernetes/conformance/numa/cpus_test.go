package numa

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	tm "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"

	"github.com/berth-go/berth/numa"
)

var allocations = flag.Int("numa.cpus", 1_500, "random CPU allocations to compare with the kubelet's")

func guaranteed(name string, requests v1.ResourceList) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: requests, Limits: requests},
		}}},
	}
}

// cpuPod asks for n CPUs.
func cpuPod(n int) *v1.Pod {
	return guaranteed("pod", v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(int64(n), resource.DecimalSI),
		v1.ResourceMemory: resource.MustParse("1Gi"),
	})
}

// kubeOptions writes the options the kubelet's way.
func kubeOptions(o numa.CPUOptions) map[string]string {
	return map[string]string{
		cpumanager.FullPCPUsOnlyOption:             strconv.FormatBool(o.FullCores),
		cpumanager.DistributeCPUsAcrossNUMAOption:  strconv.FormatBool(o.AcrossNodes),
		cpumanager.DistributeCPUsAcrossCoresOption: strconv.FormatBool(o.AcrossCores),
		cpumanager.AlignBySocketOption:             strconv.FormatBool(o.AlignSockets),
		cpumanager.PreferAlignByUnCoreCacheOption:  strconv.FormatBool(o.UncoreCache),
	}
}

func kubeCPUs(s numa.CPUSet) cpuset.CPUSet { return cpuset.New(slices.Collect(s.All())...) }

// kubeletTakes is what the static policy gives to a pod of n CPUs under the
// hint, free being what it has to give.
func kubeletTakes(topo *topology.CPUTopology, free numa.CPUSet, n int, h numa.Hint, o numa.CPUOptions) (cpuset.CPUSet, error) {
	log := klog.Background()
	st := &store{hint: kubeHint(h), policy: tm.NewNonePolicy()}
	policy, err := cpumanager.NewStaticPolicy(log, topo, 0, cpuset.New(), st, kubeOptions(o))
	if err != nil {
		return cpuset.New(), fmt.Errorf("policy: %w", err)
	}
	s := state.NewMemoryState(log)
	s.SetDefaultCPUSet(kubeCPUs(free))
	pod := cpuPod(n)
	if err := policy.Allocate(log, s, pod, &pod.Spec.Containers[0], lifecycle.AddOperation); err != nil {
		return cpuset.New(), err
	}
	got, _ := s.GetCPUSet("pod", "c")
	return got, nil
}

// regular machines have cores and packages of one size: where the kubelet's
// arithmetic with means is exact.
func regular(m *numa.Machine) bool {
	cores, sockets := map[int]int{}, map[int]int{}
	for _, c := range m.CPUs {
		if c.Node < 0 {
			continue
		}
		cores[c.Core]++
		sockets[c.Package]++
	}
	same := func(sizes map[int]int) bool {
		return len(slices.Compact(slices.Sorted(maps.Values(sizes)))) == 1
	}
	return same(cores) && same(sockets)
}

// overlapping reports whether a CPU lies in two last-level caches: one tree was
// broken by hand in this way, and who asks first then decides which cache it is.
func overlapping(m *numa.Machine) bool {
	level := 3
	for _, c := range m.Caches {
		level = max(level, c.Level)
	}
	for i, a := range m.Caches {
		for _, b := range m.Caches[:i] {
			if a.Level == level && b.Level == level && a.CPUs.Intersects(b.CPUs) {
				return true
			}
		}
	}
	return false
}

func randomFree(rng *rand.Rand, m *numa.Machine) numa.CPUSet {
	var free numa.CPUSet
	share := rng.IntN(4)
	core := map[int]bool{}
	for _, c := range m.CPUs {
		if c.Node < 0 {
			continue
		}
		in, known := core[c.Core]
		if !known || rng.IntN(8) == 0 {
			in = rng.IntN(4) >= share
			core[c.Core] = in
		}
		if in {
			free.Add(c.ID)
		}
	}
	return free
}

func randomOptions(rng *rand.Rand) numa.CPUOptions {
	var o numa.CPUOptions
	switch rng.IntN(6) {
	case 0:
		o.AcrossCores = true
	case 1:
		o.UncoreCache = true
	case 2:
		o.AcrossNodes = true
	case 3:
		o.AcrossNodes, o.FullCores = true, true
	case 4:
		o.FullCores = true
	}
	return o
}

func TestCPUsEqualTheKubelets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	machines := realMachines(t)
	names := slices.Sorted(maps.Keys(machines))
	type counts struct{ equal, faults, endless int }
	packed, distributed := counts{}, counts{}
	seen := map[string]bool{}
	for i := 0; i < *allocations; {
		name := names[i%len(names)]
		m := machines[name]
		l, err := numa.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := topology.Discover(klog.Background(), machineInfo(m))
		if err != nil {
			t.Fatal(err)
		}
		i++
		free := randomFree(rng, m)
		o := randomOptions(rng)
		o.UncoreCache = o.UncoreCache && !overlapping(m)
		count := &packed
		if o.AcrossNodes {
			if topo.NumNUMANodes > 8 { // the kubelet goes through 2^n combinations and more
				o.AcrossNodes = false
			} else {
				count = &distributed
			}
		}
		n := 1 + rng.IntN(free.Len()+2)
		if rng.IntN(2) == 0 {
			n = max(1, n/4)
		}
		if topo.NumCPUs > 128 { // the kubelet takes milliseconds for each CPU of a large machine
			n = min(n, 48)
		}
		if o.FullCores {
			// More than is free is refused before any CPU is looked at: see
			// numa.State.Plan.
			n = max(1, min(n, free.Len())/topo.CPUsPerCore()) * topo.CPUsPerCore()
			if n > free.Len() {
				continue
			}
		}
		h := numa.Hint{Any: rng.IntN(3) == 0}
		for id := range l.Nodes().All() {
			if rng.IntN(2) == 0 {
				h.Nodes.Add(id)
			}
		}
		compatible := o
		compatible.Compatible = true
		want, wantErr := l.TakeAlignedCPUs(free, n, h, compatible)
		if errors.Is(wantErr, numa.ErrEndless) {
			count.endless++ // asking the kubelet would not end
			continue
		}
		kube, kubeErr := kubeletTakes(topo, free, n, h, o)
		if (kubeErr == nil) != (wantErr == nil) || !kube.Equals(kubeCPUs(want)) {
			t.Fatalf("%s: %d of %v, hint %+v, %+v:\nthe kubelet has %v %v\ncompatible  has %v %v", name, n, free, h, o, kube, kubeErr, want, wantErr)
		}
		seen[name] = true
		got, gotErr := l.TakeAlignedCPUs(free, n, h, o)
		if (gotErr == nil) == (wantErr == nil) && got.Equal(want) {
			count.equal++
			continue
		}
		count.faults++
		if regular(m) && !o.AcrossNodes {
			t.Fatalf("%s: %d of %v, hint %+v, %+v: got %v %v, the kubelet has %v and no known fault", name, n, free, h, o, got, gotErr, want)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d machines", len(seen))
	}
	t.Logf("%d machines; packed %+v, distributed %+v", len(seen), packed, distributed)
}
