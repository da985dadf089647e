package openb

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
)

const trace = "../../benchmarks/testdata/"

func readTrace(t *testing.T, list string) ([]*berth.Node, []*berth.Pod) {
	t.Helper()
	nodes, err := ReadNodesFile(trace + "openb_node_list_gpu_node.csv.gz")
	require.NoError(t, err)
	pods, err := ReadPodsFile(trace + "openb_pod_list_" + list + ".csv.gz")
	require.NoError(t, err)
	return nodes, pods
}

func TestTraceIsReadCompletely(t *testing.T) {
	nodes, pods := readTrace(t, "default")
	var cpu, memory int64
	for _, n := range nodes {
		cpu += n.Allocatable.MilliCPU
		memory += n.Allocatable.Memory
	}
	assert.Len(t, nodes, 1213)
	assert.EqualValues(t, 6212000, GPUCapacity(nodes))
	assert.EqualValues(t, 107018000, cpu)
	assert.EqualValues(t, int64(503828480)<<20, memory)
	assert.Len(t, pods, 8152)
	assert.Equal(t, berth.Pod{
		Name:     "openb-pod-0001",
		Requests: berth.Resources{MilliCPU: 6000, Memory: 12288 << 20},
		GPU:      berth.GPURequest{Count: 1, Milli: 460},
	}, *pods[1])
}

func TestColumnsAreFoundByName(t *testing.T) {
	pods, err := ReadPods("pods.csv", strings.NewReader(
		"\ufeffgpu_spec,gpu_milli,colour,num_gpu,cpu_milli,memory_mib,name\n"+
			"T4|V100M32,1500,red,1,4000.0,1,b\n"+
			",0,,0,8000,2,\"a, quoted\"\n"))
	require.NoError(t, err)
	require.Len(t, pods, 2)
	assert.Equal(t, "a, quoted", pods[0].Name, "sorted by name")
	assert.Equal(t, berth.GPURequest{}, pods[0].GPU)
	assert.Equal(t, berth.GPURequest{Count: 1, Milli: 1000, Models: []string{"T4", "V100M32"}}, pods[1].GPU,
		"a GPU has 1000 milli and no more")
	assert.EqualValues(t, 4000, pods[1].Requests.MilliCPU)
}

func TestSyntaxErrorsNameFileLineColumnAndField(t *testing.T) {
	const header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty file":           {"", "openb: f.csv:1:1: the file is empty, not even a header"},
		"missing column":       {"name,cpu_milli\n", `openb: f.csv:1:1: the header has no column "memory_mib"`},
		"column named twice":   {"name,name\n", `openb: f.csv:1:6: two columns are named "name"`},
		"not a number":         {header + "a,1,1,0,0\nb,1,x1,0,0\n", `openb: f.csv:3:5: memory_mib: "x1" is not a whole number`},
		"fraction":             {header + "a,1.5,1,0,0\n", `openb: f.csv:2:3: cpu_milli: "1.5" is not a whole number`},
		"infinite":             {header + "a,Inf,1,0,0\n", `openb: f.csv:2:3: cpu_milli: "Inf" is not a whole number`},
		"negative":             {header + "a,-1,1,0,0\n", "openb: f.csv:2:3: cpu_milli: -1 is not in 0..1099511627776"},
		"overflow":             {header + "a,99999999999999999999,1,0,0\n", `openb: f.csv:2:3: cpu_milli: "99999999999999999999" is not a whole number`},
		"too many GPUs":        {header + "a,1,1,65,1000\n", "openb: f.csv:2:7: num_gpu: 65 is not in 0..64"},
		"share of several":     {header + "a,1,1,2,500\n", "openb: f.csv:2:9: gpu_milli: 500 of each of 2 GPUs: only one GPU can be shared"},
		"milli without GPU":    {header + "a,1,1,0,500\n", "openb: f.csv:2:9: gpu_milli: 500 of no GPU: num_gpu is 0"},
		"nothing of a GPU":     {header + "a,1,1,1,0\n", "openb: f.csv:2:9: gpu_milli: 0 of each of 1 GPUs"},
		"empty name":           {header + ",1,1,0,0\n", "openb: f.csv:2:1: name: is empty"},
		"name twice":           {header + "a,1,1,0,0\na,1,1,0,0\n", `openb: f.csv:3:1: name: "a" came before`},
		"too few fields":       {header + "a,1,1\n", "openb: f.csv:2:1: 3 fields where the header has 5"},
		"quote inside a field": {header + "a\"b,1,1,0,0\n", `openb: f.csv:2:2: bare " in non-quoted-field`},
		"after a quoted line break": {header + "\"a\nb\",1,1,0,0\nc,1,,0,0\n",
			`openb: f.csv:4:5: memory_mib: "" is not a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			pods, err := ReadPods("f.csv", strings.NewReader(c.text))
			assert.EqualError(t, err, c.want)
			assert.ErrorIs(t, err, ErrSyntax)
			assert.Nil(t, pods)
		})
	}
	_, err := ReadNodes("n.csv", strings.NewReader("sn,cpu_milli,memory_mib,gpu,model\na,1,1,-1,T4\n"))
	var at *SyntaxError
	require.True(t, errors.As(err, &at))
	assert.Equal(t, SyntaxError{File: "n.csv", Line: 2, Column: 7, Field: "gpu", Detail: "-1 is not in 0..64"}, *at)
}

func TestCutGzipIsAnError(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for cut := 2; cut < b.Len(); cut++ {
		pods, err := ReadPods("f.csv.gz", bytes.NewReader(b.Bytes()[:cut]))
		assert.Error(t, err, "%d of %d bytes", cut, b.Len())
		assert.Nil(t, pods)
	}
	_, err = ReadPodsFile("no/such/file")
	assert.Error(t, err)
	_, err = ReadNodesFile("no/such/file")
	assert.Error(t, err)
}

func FuzzReadPods(f *testing.F) {
	f.Add("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,1,1,1,500,T4|P100\n")
	f.Add("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n\"a\n\",1,1,2,500\n")
	f.Fuzz(func(t *testing.T, text string) {
		pods, err := ReadPods("f", strings.NewReader(text))
		if err != nil {
			assert.Nil(t, pods)
			return
		}
		for i, p := range pods {
			g := p.GPU
			assert.True(t, p.Name != "" && p.Requests.MilliCPU >= 0 && p.Requests.Memory >= 0)
			assert.True(t, g.Count == 0 && g.Milli == 0 || g.Count == 1 && g.Milli > 0 || g.Milli == berth.GPUMilli, "%+v", g)
			assert.True(t, i == 0 || pods[i-1].Name < p.Name)
		}
	})
}

// The workloads of seed 42 as the authors' simulator draws them.
func TestDrawIsTheAuthors(t *testing.T) {
	for _, c := range []struct {
		list        string
		arrivals    int
		first, last string
		byRank      string
	}{
		{"default", 10866, "0255 1685 6784", "5877", "0260 0858 0619"},
		{"gpushare100", 16629, "0255 1685 6784", "5939", "0626 0948 0006"},
		{"multigpu50", 6361, "6825 2707 5353", "0598", "0897 0168 1149"},
	} {
		t.Run(c.list, func(t *testing.T) {
			nodes, pods := readTrace(t, c.list)
			w := Draw(pods, nodes, FirstSeed, PaperTune)
			require.Len(t, w.Arrivals, c.arrivals)
			var first, byRank []string
			for _, p := range w.Arrivals[:3] {
				first = append(first, strings.TrimPrefix(p.Name, "openb-pod-"))
			}
			for rank := range 3 {
				for i, r := range w.Ranks {
					if r == rank {
						byRank = append(byRank, strings.TrimPrefix(nodes[i].Name, "openb-node-"))
					}
				}
			}
			last, _, _ := strings.Cut(strings.TrimPrefix(w.Arrivals[c.arrivals-1].Name, "openb-pod-"), "-")
			assert.Equal(t, c.first, strings.Join(first, " "))
			assert.Equal(t, c.last, last)
			assert.Equal(t, c.byRank, strings.Join(byRank, " "))
			names := make(map[string]bool)
			for _, p := range w.Arrivals {
				names[p.Name] = true
			}
			assert.Len(t, names, c.arrivals, "copies have names of their own")
		})
	}
}

func TestDrawWithoutTuningKeepsTheList(t *testing.T) {
	nodes, pods := readTrace(t, "default")
	arrivals := Draw(pods, nodes, 7, 0).Arrivals
	slices.SortFunc(arrivals, func(a, b *berth.Pod) int { return strings.Compare(a.Name, b.Name) })
	assert.True(t, slices.Equal(pods, arrivals))
	assert.False(t, slices.Equal(pods, Draw(pods, nodes, 7, 0).Arrivals), "it is shuffled")
	none := []*berth.Pod{{Name: "a"}, {Name: "b"}}
	assert.ElementsMatch(t, none, Draw(none, nodes, 7, PaperTune).Arrivals, "nothing to copy asks for a GPU")
	assert.Empty(t, Draw(nil, nodes, 7, PaperTune).Arrivals)
}

// At target exactly the loop goes on until a pod with GPU is drawn: pods without one still come in.
func TestInflateGoesOnAtTarget(t *testing.T) {
	whole := &berth.Pod{Name: "whole", GPU: berth.GPURequest{Count: 1, Milli: 1000}}
	none := &berth.Pod{Name: "none"}
	pods := []*berth.Pod{none, none, none, none, whole}
	var behind int
	for seed := range int64(20) {
		arrivals := inflate(rand.New(rand.NewSource(seed)), pods, pods, 3000)
		assert.EqualValues(t, 3000, Demand(arrivals))
		if arrivals[len(arrivals)-1].GPU.Count == 0 {
			behind++
		}
	}
	assert.Positive(t, behind)
}

func TestCurve(t *testing.T) {
	c := NewCurve(100_000)
	_, ok := c.At(0)
	assert.False(t, ok, "nothing has arrived")
	c.Arrive(500, true)    // arrived 0.5: bin 0, half to even
	c.Arrive(0, false)     // counts as a point
	c.Arrive(1000, true)   // arrived 1.5: bin 2
	c.Arrive(1000, false)  // arrived 2.5: bin 2
	c.Arrive(1011, true)   // arrived 3.511: bin 4, placed 2.511
	c.Arrive(10000, false) // bin 14
	for _, want := range []struct {
		bin   int
		value float64
	}{{0, 0.5}, {1, (0.5 + 0.5 + 1.5 + 1.5) / 4}, {2, 1.5}, {3, 1.84}, {4, 2.51}, {13, 2.51}} {
		v, ok := c.At(want.bin)
		assert.True(t, ok)
		assert.InDelta(t, want.value, v, 1e-9, "bin %d", want.bin)
	}
	_, ok = c.At(12)
	assert.False(t, ok, "no points within 1")
	assert.InDelta(t, 13.511, c.Arrived(), 1e-9)
	assert.InDelta(t, 2.511, c.Allocation(), 1e-9)
}
