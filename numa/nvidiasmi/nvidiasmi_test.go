package nvidiasmi

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berth-go/berth/numa"
)

func TestPostedTables(t *testing.T) {
	for _, c := range []struct {
		file                 string
		devices, cpus, nodes int
		a, b                 string
		affinity             int64
	}{
		{"dgx-h100-8gpu.txt", 18, 192, 2, "GPU0", "GPU7", 1800},
		{"dgx-h100-8gpu.txt", 18, 192, 2, "GPU4", "mlx5_4", 50},
		{"dgx1-v100-8gpu-2numa.txt", 12, 80, 2, "GPU0", "GPU3", 200},
		{"dgx1-v100-8gpu-2numa.txt", 12, 80, 2, "GPU0", "GPU5", 10},
		{"grace-gb200-4gpu.txt", 10, 144, 2, "GPU0", "mlx5_0", 10},
		{"rtx4090-8gpu-allsys-2numa.txt", 10, 224, 2, "GPU6", "NIC0", 30},
		{"rtx4090-8gpu-allsys-2numa.txt", 10, 224, 2, "NIC0", "NIC1", 50},
	} {
		m, err := Read(os.DirFS("testdata"), c.file)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		l, err := numa.Compile(m)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if len(m.Devices) != c.devices || len(m.CPUs) != c.cpus || len(m.Nodes) != c.nodes {
			t.Errorf("%s: %d devices, %d CPUs, %d nodes, want %d, %d, %d", c.file, len(m.Devices), len(m.CPUs), len(m.Nodes), c.devices, c.cpus, c.nodes)
		}
		if got := l.Affinity(c.a, c.b); got != c.affinity {
			t.Errorf("%s: %s to %s is %d, want %d", c.file, c.a, c.b, got, c.affinity)
		}
	}
}

func TestBrokenTablesAreNamed(t *testing.T) {
	_, err := Read(os.DirFS("testdata"), "malformed-8gpu-a100-wrapped-affinity.txt")
	if !errors.Is(err, numa.ErrSyntax) || !strings.Contains(err.Error(), `malformed-8gpu-a100-wrapped-affinity.txt:2: "PH0-115" is no link`) {
		t.Errorf("got %v", err)
	}
	for content, where := range map[string]string{
		"":                                       "t:1:",
		"\tCPU Affinity\n":                       "t:1:",
		"\tGPU0\tGPU0\n":                         "t:1:",
		"\tGPU0\tGPU1\nGPU7\t X \n":              "t:2:",
		"\tGPU0\tGPU1\nGPU0\t X \tNV\n":          "t:2:",
		"\tGPU0\tGPU1\nGPU0\t X \tSYS\tmore\n":   "t:2:",
		"\tGPU0\tCPU Affinity\nGPU0\t X \t9-0\n": "t:2:",
		"\tGPU0\tNUMA Affinity\nGPU0\t X \t-1\n": "t:2:",
	} {
		_, err := Read(fstest.MapFS{"t": {Data: []byte(content)}}, "t")
		if !errors.Is(err, numa.ErrSyntax) || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: got %v, want %s", content, err, where)
		}
	}
}

func TestLegendNamesNICsAndColoursAreIgnored(t *testing.T) {
	text := "\t\x1b[4mGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
		"GPU0\t X \tPXB\t0-3\t1\t9\nNIC0\tPXB\t X \n\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_3\n"
	m, err := Read(fstest.MapFS{"t": {Data: []byte(text)}}, "t")
	if err != nil {
		t.Fatal(err)
	}
	if m.Devices[1].Name != "mlx5_3" || m.Links[0].Kind != numa.LinkPXB || len(m.Nodes) != 2 || !m.Nodes[0].Generic {
		t.Errorf("%+v", m)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"dgx1-v100-8gpu-2numa.txt", "rtx4090-8gpu-allsys-2numa.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(fstest.MapFS{"t": {Data: data}}, "t")
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
