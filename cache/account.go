package cache

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/ledger"
)

// account is what a known node's pods take of it: enough to refuse what the affinity graph would refuse.
type account struct {
	Metrics
	scored  berth.NonZeroRequests
	scalars map[string]int64
	gpus    ledger.GPUs
}

// Metrics are the sums over the pods of a node. They may be read at any time, from any goroutine, without a lock; each is
// exact, but two that are read one after the other may belong to different moments. They are 0 while the node is not known.
type Metrics struct {
	milliCPU, memory, ephemeral, pods atomic.Int64
}

// MilliCPU is the CPU that the pods request, in thousandths.
func (m *Metrics) MilliCPU() int64 { return m.milliCPU.Load() }

// Memory is what the pods request, in bytes.
func (m *Metrics) Memory() int64 { return m.memory.Load() }

// EphemeralStorage is what the pods request, in bytes.
func (m *Metrics) EphemeralStorage() int64 { return m.ephemeral.Load() }

// Pods is the number of pods, assumed ones included.
func (m *Metrics) Pods() int64 { return m.pods.Load() }

// open makes the account that of an empty node.
func (a *account) open(n *berth.Node) {
	a.milliCPU.Store(0)
	a.memory.Store(0)
	a.ephemeral.Store(0)
	a.pods.Store(0)
	a.scored, a.scalars, a.gpus = berth.NonZeroRequests{}, nil, ledger.GPUs{}
	if n != nil && n.GPUs.Count > 0 {
		a.gpus = ledger.NewGPUs(n.GPUs)
	}
}

// regrade gives the node the GPUs of a new spec, or says which pod holds one that would be gone.
func (n *nodeEntry) regrade(spec *berth.Node) error {
	for _, e := range n.pods {
		if last := bits.Len64(e.devices); last > spec.GPUs.Count {
			return fmt.Errorf("%w: pod %v holds device %d of node %q, which would have %d", affinity.ErrDevices, e.spec.Key(),
				last-1, spec.Name, spec.GPUs.Count)
		}
	}
	n.gpus = ledger.GPUs{}
	if spec.GPUs.Count > 0 {
		n.gpus = ledger.NewGPUs(spec.GPUs)
	}
	for _, e := range n.pods {
		n.gpus.Hold(e.devices, e.spec.GPU.Milli)
	}
	return nil
}
