package affinity

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// gpuState are the shareable GPUs of a node.
type gpuState struct {
	model string
	free  []int64 // milli by device
}

// setGPUs takes over a node's GPUs; what its pods hold stays held (see checkGPUs).
func (g *Graph) setGPUs(n topology.NodeID, spec berth.GPUs) {
	s := &g.nodes[n]
	if spec.Count == 0 && (s.extra == nil || s.extra.gpu.free == nil) {
		return
	}
	gpu := &s.more().gpu
	gpu.model = spec.Model
	gpu.free = slices.Repeat([]int64{berth.GPUMilli}, spec.Count)
	for _, p := range s.pods {
		gpu.hold(g.gpuHeld[p], g.classes[g.pods[p].class].spec.GPU.Milli)
	}
}

// checkGPUs reports an error if pods of node n hold devices that spec does not have.
func (g *Graph) checkGPUs(n topology.NodeID, spec *berth.Node) error {
	for _, p := range g.nodes[n].pods {
		if held := g.gpuHeld[p]; bits.Len64(held) > spec.GPUs.Count {
			return fmt.Errorf("%w: pod %v holds device %d of node %q, which would have %d", ErrDevices, g.keyOf(p),
				bits.Len64(held)-1, spec.Name, spec.GPUs.Count)
		}
	}
	return nil
}

// hold takes milli of each device in the mask; a negative amount gives it back.
func (s *gpuState) hold(mask uint64, milli int64) {
	for ; mask != 0; mask &= mask - 1 {
		s.free[bits.TrailingZeros64(mask)] -= milli
	}
}

// fits reports whether the request fits, and if not, whether it could on an idle node.
func (s *gpuState) fits(r *berth.GPURequest) (fits, resolvable bool) {
	if len(s.free) < r.Count || len(r.Models) > 0 && !slices.Contains(r.Models, s.model) {
		return false, false
	}
	k := 0
	for _, f := range s.free {
		if f >= r.Milli {
			k++
		}
	}
	return k >= r.Count, true
}

// assign returns the devices for a request as a mask: the wanted ones if given, else the lowest whole devices or, for
// a share, the fitting device with the least free milli.
func (s *gpuState) assign(r *berth.GPURequest) (uint64, error) {
	var mask uint64
	if len(r.Devices) > 0 {
		for _, d := range r.Devices {
			if d < 0 || d >= len(s.free) || mask&(1<<d) != 0 || s.free[d] < r.Milli {
				return 0, fmt.Errorf("%w: device %d, %d milli", ErrDevices, d, r.Milli)
			}
			mask |= 1 << d
		}
		if len(r.Devices) != r.Count {
			return 0, fmt.Errorf("%w: %d devices given for a request of %d", ErrDevices, len(r.Devices), r.Count)
		}
		return mask, nil
	}
	if r.Milli < berth.GPUMilli {
		best := -1
		for d, f := range s.free {
			if f >= r.Milli && (best < 0 || f < s.free[best]) {
				best = d
			}
		}
		if best < 0 {
			return 0, fmt.Errorf("%w: no device has %d milli free", ErrDevices, r.Milli)
		}
		return 1 << best, nil
	}
	k := 0
	for d, f := range s.free {
		if k < r.Count && f >= r.Milli {
			mask |= 1 << d
			k++
		}
	}
	if k < r.Count {
		return 0, fmt.Errorf("%w: %d of %d whole devices", ErrDevices, k, r.Count)
	}
	return mask, nil
}
