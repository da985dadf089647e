package reference_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

func gpus(count int, milli int64, models ...string) func(*berth.Pod) {
	return func(p *berth.Pod) { p.GPU = berth.GPURequest{Count: count, Milli: milli, Models: models} }
}

func holds(devices ...int) func(*berth.Pod) { return func(p *berth.Pod) { p.GPU.Devices = devices } }

// TestGPU states our own rule for shareable devices, which comes after NodeResourcesFit.
func TestGPU(t *testing.T) {
	n := node("n")
	n.GPUs = berth.GPUs{Model: "T4", Count: 2}
	ask := pod("p", "", 0)
	share := func(name string, milli int64, changes ...func(*berth.Pod)) berth.Pod {
		return with(with(pod(name, "n", 0), gpus(1, milli)), changes...)
	}
	for _, c := range []struct {
		name string
		on   []berth.Pod
		pod  berth.Pod
		want string
	}{
		{"whole devices must be free", []berth.Pod{share("a", 100)}, with(ask, gpus(2, 1000)), "n GPU*"},
		{"one of them is", []berth.Pod{share("a", 100)}, with(ask, gpus(1, 1000)), "n ok"},
		{"a share fits beside another", []berth.Pod{share("a", 600), share("b", 1000)}, with(ask, gpus(1, 400)), "n ok"},
		{"as far as there is room on one device", []berth.Pod{share("a", 600, holds(0)), share("b", 600, holds(1))}, with(ask, gpus(1, 500)), "n GPU*"},
		{"more devices than there are is for good", nil, with(ask, gpus(4, 1000)), "n GPU"},
		{"so is another model", nil, with(ask, gpus(1, 500, "A100")), "n GPU"},
		{"any listed model will do", nil, with(ask, gpus(1, 500, "A100", "T4")), "n ok"},
		{"a pod holds the devices that it names", []berth.Pod{share("a", 500, holds(1)), share("b", 500, holds(0))}, with(ask, gpus(1, 1000)), "n GPU*"},
		{"one that names none shares the fullest that fits", []berth.Pod{share("a", 500, holds(1)), share("b", 500)}, with(ask, gpus(1, 1000)), "n ok"},
		{"or holds the lowest whole ones", []berth.Pod{share("a", 1000), share("b", 500, holds(0))}, with(ask, gpus(1, 1000)), "n ok"},
		{"one that does not fit holds none", []berth.Pod{share("a", 700, holds(0)), share("b", 700, holds(1)), share("c", 400)}, with(ask, gpus(1, 300)), "n ok"},
		{"other shortages come first", nil, with(ask, gpus(4, 1000), func(p *berth.Pod) { p.Requests.MilliCPU = 9000 }), "n NodeResourcesFit"},
		{"spread constraints come later", nil, with(ask, gpus(4, 1000), spread(berth.TopologySpreadConstraint{TopologyKey: zone})), "n GPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(&reference.Cluster{Nodes: []berth.Node{n}, Pods: c.on}, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestVictimsGiveUpTheirGPUs(t *testing.T) {
	n := node("n1")
	n.GPUs.Count = 2
	cluster := &reference.Cluster{Nodes: []berth.Node{n}, Pods: []berth.Pod{
		with(pod("half", "n1", 0), gpus(1, 500), holds(0), started(1)), with(pod("whole", "n1", 0), gpus(1, 1000), holds(1), started(2)),
	}}
	for want, request := range map[string]func(*berth.Pod){"whole": gpus(1, 1000), "half whole": gpus(2, 1000)} {
		p := with(pod("vip", "", 0), priority(1), request)
		got := cluster.Preempt(&p)
		names := ""
		for _, v := range got.Candidates[0].Victims {
			if names != "" {
				names += " "
			}
			names += v.Name
		}
		if names != want {
			t.Errorf("victims %s, want %s", names, want)
		}
	}
}
