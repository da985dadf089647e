package affinity

import (
	"fmt"
	"math/bits"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// setGPUs takes over a node's GPUs; what its pods hold stays held (see checkGPUs).
func (g *Graph) setGPUs(n topology.NodeID, spec berth.GPUs) {
	s := &g.nodes[n]
	if spec.Count == 0 && (s.extra == nil || s.extra.gpu.Free == nil) {
		return
	}
	gpu := &s.more().gpu
	*gpu = ledger.NewGPUs(spec)
	for _, p := range s.pods {
		gpu.Hold(g.gpuHeld[p], g.classes[g.pods[p].class].spec.GPU.Milli)
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
