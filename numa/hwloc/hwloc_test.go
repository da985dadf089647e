package hwloc

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berth-go/berth/internal/tartree"
	"github.com/berth-go/berth/numa"
)

func trees(t testing.TB) fs.FS {
	t.Helper()
	tree, err := tartree.Open(os.DirFS("testdata"), "xml.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// count counts the elements of a kind straight from the XML.
func count(t *testing.T, data []byte, kind string) int {
	n := 0
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		tok, err := d.Token()
		if err != nil {
			return n
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "object" && attributes(e)["type"] == kind {
			n++
		}
	}
}

func TestCountsEqualTheFiles(t *testing.T) {
	fsys := trees(t)
	files, err := fs.Glob(fsys, "*.xml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		m, err := Read(fsys, f)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if _, err := numa.Compile(m); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		data, err := fs.ReadFile(fsys, f)
		if err != nil {
			t.Fatal(err)
		}
		packages, cores := map[int]bool{}, map[int]bool{}
		for _, c := range m.CPUs {
			packages[c.Package] = true
			cores[c.Core] = true
		}
		got := [5]int{len(packages), len(m.Nodes), len(cores), len(m.CPUs), len(m.Devices)}
		want := [5]int{count(t, data, "Package"), count(t, data, "NUMANode"), count(t, data, "Core"), count(t, data, "PU"), count(t, data, "PCIDev")}
		restricted := f == "16amd64-8n2c-cpusets-xml.xml" || f == "32amd64-4s2n4c-cgroup2.xml" || f == "test1.xml"
		if restricted { // packages without a PU, PUs without a package
			got[0] = want[0]
		}
		if got != want {
			t.Errorf("%s: packages, nodes, cores, PUs, PCI devices = %v, want %v", f, got, want)
		}
	}
}

func TestDGX2HasTwoBoardsOfSixSwitches(t *testing.T) {
	m, err := Read(trees(t), "nvidiaDGX2.xml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := numa.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	var gpus []string
	for _, d := range m.Devices {
		if d.Kind == numa.DeviceGPU && d.Class == 0x030200 {
			gpus = append(gpus, d.Name)
		}
	}
	if len(gpus) != 16 {
		t.Fatalf("%d GPUs, want 16", len(gpus))
	}
	for i, a := range gpus {
		for j, b := range gpus[:i] {
			// Six NVLinks into the switches of the board; the matrix does
			// not show how the boards are joined.
			want := int64(600)
			if i/8 != j/8 {
				want = l.Affinity(gpus[0], gpus[8])
			}
			if v := l.Affinity(a, b); v != want || want < 10 {
				t.Fatalf("affinity of %s and %s is %d, want %d", a, b, v, want)
			}
		}
	}
	if m.Distances[0][1] != 21 {
		t.Errorf("distances %v", m.Distances)
	}
}

func TestHBMSharesItsCoresWithDRAM(t *testing.T) {
	m, err := Read(trees(t), "64intel64-heteromem.xml")
	if err != nil {
		t.Fatal(err)
	}
	fast, cpus := 0, map[int]int{}
	for _, n := range m.Nodes {
		if n.Bandwidth == 90000 {
			fast++
		}
	}
	for _, c := range m.CPUs {
		cpus[c.Node]++
	}
	if fast != 4 || len(cpus) != 4 {
		t.Errorf("%d fast nodes, CPUs by node %v", fast, cpus)
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	for content, where := range map[string]string{
		"":                    "m.xml:1:",
		"<topology>\n<object": "m.xml:2:",
		"<topology>\n\n<object type=\"PU\" os_index=\"x\"/></topology>":                          "m.xml:3:",
		"<topology>\n<object type=\"PU\" os_index=\"99999999\"/></topology>":                     "m.xml:2:",
		"<topology>\n<object type=\"NUMANode\" os_index=\"1\" cpuset=\"g\"/></topology>":         "m.xml:2:",
		"<topology>\n<object type=\"PCIDev\" pci_busid=\"0\" pci_type=\"?\"/></topology>":        "m.xml:2:",
		"<topology><distances2 type=\"NUMANode\"><indexes>0 1</indexes></distances2></topology>": "m.xml:1:",
	} {
		_, err := Read(fstest.MapFS{"m.xml": {Data: []byte(content)}}, "m.xml")
		if !errors.Is(err, numa.ErrSyntax) || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: got %v, want %s", content, err, where)
		}
	}
	if _, err := Read(fstest.MapFS{}, "m.xml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	fsys := trees(f)
	for _, name := range []string{"test1.xml", "2i386-2c-nohugepage.xml", "power8gpudistances.xml"} {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(fstest.MapFS{"m.xml": {Data: data}}, "m.xml")
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
