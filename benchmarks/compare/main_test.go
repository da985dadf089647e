package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-go/berth/benchmarks"
)

// compare runs the command on a small trace and returns what it prints.
func compare(t *testing.T, pods string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nodes := write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,8000,65536,2,T4\nb,8000,65536,1,P100\n")
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	args = append([]string{"-nodes", nodes, "-pods", write("pods.csv", pods)}, args...)
	failed := run(args, out, out)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), failed
}

const pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,1024,1,500,\np2,1000,1024,1,500,T4\np3,1000,1024,1,1000,P100\n"

func TestTableHasARowForEachStrategy(t *testing.T) {
	out, err := compare(t, pods, "-inflate=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range benchmarks.Strategies() {
		if !strings.Contains(out, s.Name) {
			t.Errorf("no row for %s in\n%s", s.Name, out)
		}
	}
}

func TestJSONHasAnObjectForEachReplay(t *testing.T) {
	out, err := compare(t, pods, "-json", "-strategies", "fgd,BestFit", "-seeds", "3", "-inflate=false")
	if err != nil {
		t.Fatal(err)
	}
	dec, n := json.NewDecoder(bytes.NewBufferString(out)), 0
	for ; dec.More(); n++ {
		var r benchmarks.Result
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Arrivals != 3 || r.Final <= 0 {
			t.Errorf("%+v: want 3 arrivals, some placed", r)
		}
	}
	if n != 6 {
		t.Errorf("%d objects, want 6", n)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, pods string
		args       []string
		want       string
	}{
		{"a field that is no number has line and column", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,x,1,0,0,\n", nil, "pods.csv:2:4"},
		{"an unknown strategy lists the known", pods, []string{"-strategies", "Best"}, "KubeDefault"},
		{"seeds must be positive", pods, []string{"-seeds", "0"}, "-seeds is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := compare(t, c.pods, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
