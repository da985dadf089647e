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

// admit finds the devices for a pod, or says why it can't be on the node. Nothing is changed. The rules are those of affinity.Graph.Bind.
func (a *account) admit(p *berth.Pod) (devices uint64, err error) {
	r, scored := &p.Requests, p.ScoreRequests()
	fits := a.milliCPU.Load()+r.MilliCPU <= ledger.MaxUsed && a.memory.Load()+r.Memory <= ledger.MaxUsed &&
		a.ephemeral.Load()+r.EphemeralStorage <= ledger.MaxUsed &&
		a.scored.MilliCPU+scored.MilliCPU <= ledger.MaxUsed && a.scored.Memory+scored.Memory <= ledger.MaxUsed
	if len(r.Scalar) > 0 {
		fits = fits && a.admitScalars(r.Scalar)
	}
	if !fits {
		return 0, fmt.Errorf("%w: pod %v on node %q", affinity.ErrAmount, p.Key(), p.NodeName)
	}
	if p.GPU.Count == 0 {
		return 0, nil
	}
	if devices, err = a.gpus.Assign(&p.GPU); err != nil {
		return 0, fmt.Errorf("pod %v on node %q: %w", p.Key(), p.NodeName, err)
	}
	return devices, nil
}

func (a *account) admitScalars(request map[string]int64) bool {
	for name, amount := range request {
		if a.scalars[name]+amount > ledger.MaxUsed {
			return false
		}
	}
	return true
}

// charge takes what a pod with these devices requests; with sign -1 it gives it back.
func (a *account) charge(p *berth.Pod, devices uint64, sign int64) {
	r, scored := &p.Requests, p.ScoreRequests()
	a.pods.Add(sign)
	a.milliCPU.Add(sign * r.MilliCPU)
	a.memory.Add(sign * r.Memory)
	if r.EphemeralStorage != 0 {
		a.ephemeral.Add(sign * r.EphemeralStorage)
	}
	a.scored.MilliCPU += sign * scored.MilliCPU
	a.scored.Memory += sign * scored.Memory
	if len(r.Scalar) > 0 {
		a.chargeScalars(r.Scalar, sign)
	}
	if devices != 0 {
		a.gpus.Hold(devices, sign*p.GPU.Milli)
	}
}

func (a *account) chargeScalars(request map[string]int64, sign int64) {
	if a.scalars == nil {
		a.scalars = make(map[string]int64, len(request))
	}
	for name, amount := range request {
		if a.scalars[name] += sign * amount; a.scalars[name] == 0 {
			delete(a.scalars, name)
		}
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

// holding returns the spec of a pod with the devices that it was given.
func holding(p *berth.Pod, devices uint64) *berth.Pod {
	if p.GPU.Count == 0 || len(p.GPU.Devices) == p.GPU.Count && ledger.Mask(p.GPU.Devices) == devices {
		return p
	}
	held := *p
	held.GPU.Devices = ledger.Devices(devices)
	return &held
}
