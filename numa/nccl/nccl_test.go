package nccl

import (
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
	tree, err := tartree.Open(os.DirFS("testdata"), "topologies.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestEveryFileReadsAndCompiles(t *testing.T) {
	fsys := trees(t)
	files, err := fs.Glob(fsys, "*/*.xml")
	if err != nil || len(files) < 45 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		m, err := Read(fsys, f)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if _, err := numa.Compile(m); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		data, err := fs.ReadFile(fsys, f)
		if err != nil {
			t.Fatal(err)
		}
		gpus := 0
		for _, d := range m.Devices {
			if d.Kind == numa.DeviceGPU {
				gpus++
			}
		}
		if want := strings.Count(string(data), "<gpu "); want > 0 && gpus != want {
			t.Errorf("%s: %d GPUs, want %d", f, gpus, want)
		}
	}
}

func TestLinksOfKnownMachines(t *testing.T) {
	for _, c := range []struct {
		file, a, b string
		affinity   int64
	}{
		{"rccl/topo_4p1h.xml", "0000:1d:00.0", "0000:20:00.0", 100}, // one xGMI
		{"rccl/topo_4p1h.xml", "0000:1d:00.0", "0000:26:00.0", 40},  // under one switch, two hops
		{"azhpc/ndv4-topo.xml", "0003:00:00.0", "0103:00:00.0", 50}, // GPU and NIC under one
		{"azhpc/ndv4-topo.xml", "0003:00:00.0", "000b:00:00.0", 10}, // other socket
	} {
		m, err := Read(trees(t), c.file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := numa.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Affinity(c.a, c.b); got != c.affinity {
			t.Errorf("%s: %s to %s is %d, want %d", c.file, c.a, c.b, got, c.affinity)
		}
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	for content, where := range map[string]string{
		"":                                "t.xml:1:",
		"<system>\n<cpu numaid=\"-7\"/>":  "t.xml:2:",
		"<system>\n<cpu affinity=\"g\"/>": "t.xml:2:",
		"<system>\n\n<pci/></system>":     "t.xml:3:",
		"<system>\n<pci busid=\"a\" class=\"x\"/></system>":                                              "t.xml:2:",
		"<system>\n<pci busid=\"a\"/>\n<pci busid=\"a\"/></system>":                                      "t.xml:3:",
		"<system><pci busid=\"a\" class=\"0x030000\">\n<gpu><nvlink count=\"-1\"/></gpu></pci></system>": "t.xml:2:",
		"<system>\n<nvlink count=\"1\"/></system>":                                                       "t.xml:2:",
	} {
		_, err := Read(fstest.MapFS{"t.xml": {Data: []byte(content)}}, "t.xml")
		if !errors.Is(err, numa.ErrSyntax) || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: got %v, want %s", content, err, where)
		}
	}
}

func FuzzRead(f *testing.F) {
	fsys := trees(f)
	for _, name := range []string{"rccl/topo_4p1h.xml", "azhpc/ndv2-topo.xml", "aws-ofi-nccl/g5.48xl-topo.xml"} {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(fstest.MapFS{"t.xml": {Data: data}}, "t.xml")
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
