package cache

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/ledger"
)

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
	if p.GPU.Count > 0 {
		return a.devicesFor(p)
	}
	return 0, nil
}

func (a *account) devicesFor(p *berth.Pod) (uint64, error) {
	devices, err := a.gpus.Assign(&p.GPU)
	if err != nil {
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

// holding returns the spec of a pod with the devices that it was given.
func holding(p *berth.Pod, devices uint64) *berth.Pod {
	if p.GPU.Count == 0 || len(p.GPU.Devices) == p.GPU.Count && ledger.Mask(p.GPU.Devices) == devices {
		return p
	}
	held := *p
	held.GPU.Devices = ledger.Devices(devices)
	return &held
}
