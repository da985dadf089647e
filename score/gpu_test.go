package score

import (
	"errors"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// gpuNode is a graph of one node with 8 free cores and two GPUs, of which the second has 400 milli free.
func gpuNode(t *testing.T) *affinity.Graph {
	t.Helper()
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		t.Fatal(err)
	}
	err = g.AddNode(&berth.Node{Name: "n", Allocatable: berth.Resources{MilliCPU: 8000, Memory: 1 << 30, Pods: 10}, GPUs: berth.GPUs{Model: "T4", Count: 2}})
	if err != nil {
		t.Fatal(err)
	}
	held := berth.Pod{Namespace: "d", Name: "held", GPU: berth.GPURequest{Count: 1, Milli: 600, Devices: []int{1}}}
	if err := g.Bind(&held, "n"); err != nil {
		t.Fatal(err)
	}
	return g
}

func gpuPod(cpu int64, count int, milli int64, models ...string) *berth.Pod {
	return &berth.Pod{Namespace: "d", Name: "p", Requests: berth.Resources{MilliCPU: cpu}, GPU: berth.GPURequest{Count: count, Milli: milli, Models: models}}
}

var typical = []TypicalPod{
	{MilliCPU: 4000, GPU: berth.GPURequest{Count: 1, Milli: 1000}, Share: 0.5},
	{MilliCPU: 4000, GPU: berth.GPURequest{Count: 1, Milli: 500}, Share: 0.3},
	{MilliCPU: 4000, Share: 0.2},
}

// TestFGDByHand is the example that the formulas were worked out on by hand: before, 600 milli are fragmented.
func TestFGDByHand(t *testing.T) {
	f, err := NewFGD(typical)
	if err != nil {
		t.Fatal(err)
	}
	g := gpuNode(t)
	if got := f.fragmentation(8000, []int64{1000, 400}, f.allowedOn("T4")); got != 600 {
		t.Errorf("fragmentation %v, want 600", got)
	}
	for _, c := range []struct {
		name   string
		pod    *berth.Pod
		score  int64
		device int
	}{
		{"a share goes where it fits best: 820 on the idle GPU against 200 on the other", gpuPod(4000, 1, 400), 59, 1},
		{"a share that fits the idle GPU only", gpuPod(4000, 1, 500), 46, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &Input{Pod: c.pod, Graph: g}
			column := make([]int64, 1)
			if err := f.Score(in, []topology.NodeID{0}, column); err != nil {
				t.Fatal(err)
			}
			if d := f.PickDevices(in, 0); column[0] != c.score || len(d) != 1 || d[0] != c.device {
				t.Errorf("score %d on GPU %v, want %d on %d", column[0], d, c.score, c.device)
			}
		})
	}
	if d := f.PickDevices(&Input{Pod: gpuPod(0, 1, 1000), Graph: g}, 0); d != nil {
		t.Errorf("a whole GPU is picked: %v, want it left to Bind", d)
	}
}

// TestHeadroomByHand: two free GPUs, one of them idle, and CPU for two of the typical pods.
func TestHeadroomByHand(t *testing.T) {
	h, err := NewHeadroom(HeadroomConfig{Typical: typical})
	if err != nil {
		t.Fatal(err)
	}
	kinds := h.allowedOn("T4")
	for _, c := range []struct {
		name string
		kind int
		cpu  int64
		gpus []int64
		want float64
	}{
		{"a whole GPU uses the idle one", 0, 8000, []int64{1000, 400}, 1000},
		{"without its CPU it uses none", 0, 3999, []int64{1000, 400}, 0},
		{"two shares fit, and the CPU for the second is there", 1, 8000, []int64{1000, 400}, 1000},
		{"none fits", 1, 8000, []int64{499, 400}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := h.usable(&h.kinds[kinds[c.kind]], c.cpu, c.gpus); got != c.want {
				t.Errorf("usable %v, want %v", got, c.want)
			}
		})
	}
	column := make([]int64, 1)
	in := &Input{Pod: gpuPod(4000, 1, 400), Graph: gpuNode(t)}
	if err := h.Score(in, []topology.NodeID{0}, column); err != nil {
		t.Fatal(err)
	}
	if d := h.PickDevices(in, 0); column[0] >= 0 || len(d) != 1 || d[0] != 1 {
		t.Errorf("score %d on GPU %v, want a loss of headroom on the GPU that nothing else can use, 1", column[0], d)
	}
}

func TestTypicalPodsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		typical []TypicalPod
	}{
		{"none", nil},
		{"a share of nothing", []TypicalPod{{GPU: berth.GPURequest{Count: 1, Milli: 500}}}},
		{"negative CPU", []TypicalPod{{MilliCPU: -1, GPU: berth.GPURequest{Count: 1, Milli: 500}, Share: 1}}},
		{"more than a GPU", []TypicalPod{{GPU: berth.GPURequest{Count: 1, Milli: 1001}, Share: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewFGD(c.typical); !errors.Is(err, ErrConfig) {
				t.Errorf("FGD: %v, want ErrConfig", err)
			}
			if _, err := NewHeadroom(HeadroomConfig{Typical: c.typical}); !errors.Is(err, ErrConfig) {
				t.Errorf("Headroom: %v, want ErrConfig", err)
			}
		})
	}
	if _, err := NewHeadroom(HeadroomConfig{Typical: typical[2:]}); !errors.Is(err, ErrConfig) {
		t.Errorf("no kind with GPUs: %v, want ErrConfig", err)
	}
}
