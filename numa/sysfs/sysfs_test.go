package sysfs

import (
	"bufio"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berth-go/berth/internal/tartree"
	"github.com/berth-go/berth/numa"
)

func open(t testing.TB, name string) fs.FS {
	t.Helper()
	tree, err := tartree.Open(os.DirFS("testdata"), name+".tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func read(t testing.TB, name string) *numa.Machine {
	t.Helper()
	m, err := Read(open(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// counted is packages, nodes, cores and PUs.
type counted [4]int

// count counts what is allowed. A package counts, as in hwloc, if one of its
// CPUs is allowed or a node of them.
func count(m *numa.Machine, cpus numa.CPUSet, nodes numa.Mask) counted {
	packages, cores := map[int]bool{}, map[int]bool{}
	n := 0
	for _, c := range m.CPUs {
		if cpus.Has(c.ID) {
			n++
			cores[c.Core] = true
		}
		if cpus.Has(c.ID) || c.Node >= 0 && nodes.Has(c.Node) {
			packages[c.Package] = true
		}
	}
	return counted{len(packages), nodes.Len(), len(cores), n}
}

func TestEveryTreeReadsAndCompiles(t *testing.T) {
	files, err := fs.Glob(os.DirFS("testdata"), "*.tar.bz2")
	if err != nil || len(files) < 45 {
		t.Fatalf("%d trees, %v", len(files), err)
	}
	for _, f := range files {
		m := read(t, strings.TrimSuffix(f, ".tar.bz2"))
		l, err := numa.Compile(m)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if got := l.CPUs(l.Nodes()).Len(); got == 0 {
			t.Errorf("%s: no CPU", f)
		}
	}
}

func TestCountsEqualHwlocs(t *testing.T) {
	// Where hwloc's output deliberately differs from what the kernel says.
	exceptions := map[string]string{
		"40intel64-4n10c+pci-conflicts.console": "hwloc drops a package whose CPUs were made to overlap; we go by physical_package_id",
		"nvidiagpunumanodes.console":            "hwloc hides the GPUs' memory nodes here; nvidiagpunumanodes-kept.console counts them",
	}
	f, err := os.Open("testdata/counts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // titles
	compared := 0
	for lines.Scan() {
		w := strings.Split(lines.Text(), "\t")
		if _, ok := exceptions[w[1]]; ok {
			delete(exceptions, w[1])
			continue
		}
		var want counted
		for i := range want {
			if want[i], err = strconv.Atoi(w[2+i]); err != nil {
				t.Fatal(err)
			}
		}
		root := open(t, w[0])
		m, err := Read(root)
		if err != nil {
			t.Fatal(err)
		}
		cpus, nodes, err := Allowed(root, m)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(w[1], "disallowed") { // hwloc was told to show all
			for _, c := range m.CPUs {
				cpus.Add(c.ID)
			}
			for _, n := range m.Nodes {
				nodes.Add(n.ID)
			}
		}
		got := count(m, cpus, nodes)
		for i := range got {
			if want[i] < 0 {
				got[i] = want[i]
			}
		}
		if got != want {
			t.Errorf("%s: packages, nodes, cores, PUs = %v, want %v", w[1], got, want)
		}
		compared++
	}
	if compared < 36 || len(exceptions) != 0 {
		t.Errorf("%d outputs compared, exceptions not met %v", compared, exceptions)
	}
}

func TestDetailsOfUnusualMachines(t *testing.T) {
	t.Run("sparse ids and GPU memory (POWER9)", func(t *testing.T) {
		m := read(t, "nvidiagpunumanodes")
		var ids []int
		for _, n := range m.Nodes {
			ids = append(ids, n.ID)
			if gpu := n.ID >= 250; gpu != (n.Tier == numa.TierDevice) || gpu != n.Generic {
				t.Errorf("node %d: tier %v, generic %v", n.ID, n.Tier, n.Generic)
			}
		}
		if want := []int{0, 8, 250, 251, 252, 253, 254, 255}; !slices.Equal(ids, want) {
			t.Errorf("nodes %v, want %v", ids, want)
		}
		gpus := 0
		for _, d := range m.Devices {
			if d.Kind == numa.DeviceGPU {
				gpus++
			}
		}
		if gpus != 6 {
			t.Errorf("%d GPUs, want 6", gpus)
		}
	})
	t.Run("P and E cores", func(t *testing.T) {
		m := read(t, "sysfs-sample1")
		kinds := map[int]int{}
		for _, c := range m.CPUs {
			kinds[c.Kind]++
		}
		if kinds[1] != 8 || kinds[0] == 0 {
			t.Errorf("CPUs by kind: %v, want 8 fast ones", kinds)
		}
	})
	t.Run("row longer than the nodes", func(t *testing.T) {
		m := read(t, "offline-cpu0-node0")
		if len(m.Nodes) != 1 || m.Nodes[0].ID != 1 || m.Distances[0][0] != 10 {
			t.Errorf("nodes %+v, distances %v", m.Nodes, m.Distances)
		}
		without := 0
		for _, c := range m.CPUs {
			if c.Node == -1 {
				without++
			}
		}
		if without != 9 {
			t.Errorf("%d CPUs of the offline node, want 9", without)
		}
	})
	t.Run("64 nodes", func(t *testing.T) {
		m := read(t, "256ia64-64n2s2c")
		seen := map[int]int{}
		for _, row := range m.Distances {
			for _, d := range row {
				seen[d]++
			}
		}
		if want := []int{10, 22, 26, 30, 34}; !slices.Equal(slices.Sorted(maps.Keys(seen)), want) || seen[10] != 64 {
			t.Errorf("distances %v", seen)
		}
	})
	t.Run("huge pages and memory of a machine without NUMA", func(t *testing.T) {
		m := read(t, "2i386-2t-hugepagesizecount")
		want := []numa.Memory{{Bytes: 409617181966336}, {PageSize: 16 << 30, Bytes: 16 << 30}, {PageSize: 2 << 20, Bytes: 2 << 20}}
		if len(m.Nodes) != 1 || !slices.Equal(m.Nodes[0].Memory, want) {
			t.Errorf("node %+v", m.Nodes)
		}
	})
	t.Run("a node that repeats another's CPUs is that one", func(t *testing.T) {
		m := read(t, "8em64t-2s2ca2c-buggynuma")
		if len(m.Nodes) != 1 || m.Nodes[0].Memory[0].Bytes < 15<<30 {
			t.Errorf("nodes %+v", m.Nodes)
		}
	})
	t.Run("PCI parents", func(t *testing.T) {
		m := read(t, "40intel64-2g2n4c+pcilocality")
		parents := 0
		for _, d := range m.Devices {
			if d.Parent != "" {
				parents++
			}
		}
		if parents == 0 {
			t.Errorf("no device has a parent: %+v", m.Devices)
		}
	})
}

func TestBrokenFilesAreNamed(t *testing.T) {
	good := func() fstest.MapFS {
		f := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
		return fstest.MapFS{
			"sys/devices/system/cpu/online":                             f("0-1\n"),
			"sys/devices/system/cpu/cpu0/topology/physical_package_id":  f("0\n"),
			"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": f("0-1\n"),
			"sys/devices/system/cpu/cpu0/cache/index0/level":            f("1\n"),
			"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_map":   f("3\n"),
			"sys/devices/system/cpu/cpu0/cache/index0/size":             f("32K\n"),
			"sys/devices/system/cpu/cpu1/topology/core_siblings":        f("3\n"),
			"sys/devices/system/node/online":                            f("0\n"),
			"sys/devices/system/node/node0/cpulist":                     f("0-1\n"),
			"sys/devices/system/node/node0/meminfo":                     f("Node 0 MemFree: 1 kB\nNode 0 MemTotal: 1024 kB\n"),
			"sys/devices/system/node/node0/distance":                    f("10\n"),
			"sys/bus/pci/devices/0000:01:00.0/class":                    f("0x030200\n"),
			"sys/bus/pci/devices/0000:01:00.0/numa_node":                f("0\n"),
		}
	}
	m, err := Read(good())
	if err != nil || len(m.CPUs) != 2 || m.Nodes[0].Memory[0].Bytes != 1<<20 || len(m.Devices) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, content := range map[string]string{
		"sys/devices/system/cpu/online":                             "0-",
		"sys/devices/system/cpu/cpu0/topology/physical_package_id":  "x",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "1-0",
		"sys/devices/system/cpu/cpu0/cache/index0/level":            "one",
		"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_map":   "g",
		"sys/devices/system/cpu/cpu0/cache/index0/size":             "32X",
		"sys/devices/system/cpu/cpu1/topology/core_siblings":        "zz,0",
		"sys/devices/system/node/online":                            "5000",
		"sys/devices/system/node/node0/cpulist":                     "0,,1",
		"sys/devices/system/node/node0/distance":                    "ten",
		"sys/bus/pci/devices/0000:01:00.0/class":                    "gpu",
		"sys/bus/pci/devices/0000:01:00.0/numa_node":                "9999999999",
	} {
		tree := good()
		tree[name] = &fstest.MapFile{Data: []byte(content)}
		_, err := Read(tree)
		if !errors.Is(err, numa.ErrSyntax) || !strings.Contains(err.Error(), name+":1:") {
			t.Errorf("%s = %q: got %v", name, content, err)
		}
	}
	tree := good()
	tree["sys/devices/system/node/node0/meminfo"] = &fstest.MapFile{Data: []byte("Node 0 MemFree: 1 kB\nNode 0 MemTotal: lots\n")}
	if _, err := Read(tree); err == nil || !strings.Contains(err.Error(), "meminfo:2:") {
		t.Errorf("meminfo: got %v", err)
	}
	if _, err := Read(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty tree: got %v", err)
	}
}

// FuzzRead writes fuzzed content into the files of a small tree.
func FuzzRead(f *testing.F) {
	f.Add("0-3", "0-1", "00000003", "0", "10 20", "Node 0 MemTotal: 5 kB", "32K")
	f.Add("0", "", "f", "-1", "10", "", "1M")
	f.Fuzz(func(t *testing.T, list, siblings, mask, number, distances, meminfo, size string) {
		tree := fstest.MapFS{}
		put := func(name, content string) { tree["sys/devices/system/"+name] = &fstest.MapFile{Data: []byte(content)} }
		put("cpu/online", list)
		for _, cpu := range []string{"cpu/cpu0/", "cpu/cpu3/"} {
			put(cpu+"topology/thread_siblings_list", siblings)
			put(cpu+"topology/core_siblings", mask)
			put(cpu+"topology/physical_package_id", number)
			put(cpu+"cache/index0/level", number)
			put(cpu+"cache/index0/shared_cpu_map", mask)
			put(cpu+"cache/index0/size", size)
		}
		for _, node := range []string{"node/node0/", "node/node7/"} {
			put(node+"cpulist", siblings)
			put(node+"distance", distances)
			put(node+"meminfo", meminfo)
		}
		tree["sys/bus/pci/devices/0000:00:00.0/class"] = &fstest.MapFile{Data: []byte("0x030000")}
		tree["sys/bus/pci/devices/0000:00:00.0/numa_node"] = &fstest.MapFile{Data: []byte(number)}
		tree["sys/bus/pci/devices/0000:00:00.0/local_cpulist"] = &fstest.MapFile{Data: []byte(list)}
		m, err := Read(tree)
		if err != nil {
			if !errors.Is(err, numa.ErrSyntax) {
				t.Fatalf("unexpected kind of error: %v", err)
			}
			return
		}
		if _, err := numa.Compile(m); err != nil && !errors.Is(err, numa.ErrMachine) {
			t.Fatal(err)
		}
	})
}
