package reference

import (
	"slices"

	"github.com/berth-go/berth"
)

// devices are the free milli of a node's GPUs.
type devices []int64

func newDevices(node *berth.Node) devices {
	free := make(devices, node.GPUs.Count)
	for i := range free {
		free[i] = berth.GPUMilli
	}
	return free
}

// pick returns the devices that a pod takes by default: the lowest whole ones, or for a share the fitting one with the
// least free milli, the lowest index of equals. Nil means that the pod does not fit.
func (free devices) pick(r *berth.GPURequest) []int {
	var fitting []int
	for i, milli := range free {
		if milli >= r.Milli {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) < r.Count || r.Count == 0 {
		return nil
	}
	if r.Milli < berth.GPUMilli {
		slices.SortStableFunc(fitting, func(a, b int) int { return int(free[a] - free[b]) })
	}
	return fitting[:r.Count]
}

// take marks the pod's devices used and returns them. Devices that the node does not have are ignored, and a pod that
// names none and does not fit takes none.
func (free devices) take(p *berth.Pod) []int {
	held := p.GPU.Devices
	if len(held) == 0 {
		held = free.pick(&p.GPU)
	}
	for _, d := range held {
		if d >= 0 && d < len(free) {
			free[d] -= p.GPU.Milli
		}
	}
	return held
}

// filterGPU is no rule of kube-scheduler: the node needs enough devices of an allowed model with enough free milli.
func filterGPU(pod *berth.Pod, node *berth.Node, free devices) verdict {
	r := &pod.GPU
	if r.Count == 0 {
		return passes
	}
	if r.Count > node.GPUs.Count || len(r.Models) > 0 && !slices.Contains(r.Models, node.GPUs.Model) {
		return unresolvable
	}
	if free.pick(r) == nil {
		return resolvable
	}
	return passes
}
