package numa

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth/numa"
)

// Machine is a machine of a case: a package and one-thread cores for each
// node.
type Machine struct {
	Nodes         []Node
	Distances     [][]int
	PreferClosest bool
}

// Node is one NUMA node: the first Reserved of its CPUs are reserved, and of
// the others all but Free are taken.
type Node struct {
	ID, CPUs, Reserved, Free int
	Devices                  map[string]Count
	Memory                   *Count // in Mi
}

// Count is an amount of devices or memory.
type Count struct{ Total, Free int }

// Pod is a pod of a case; limits equal requests.
type Pod struct {
	Name                 string
	InitContainers, Apps []Container
}

// Container is one container's requests, negative or absent meaning none.
type Container struct {
	Name     string
	MilliCPU int64 // 0 is none
	Memory   int64 // in Mi, 0 is none
	Devices  []DeviceCount
}

// DeviceCount asks for devices of one resource.
type DeviceCount struct {
	Resource string
	Count    int
}

// Outcome is what the kubelet's admission would say.
type Outcome struct {
	Admit bool
	// Containers by name; "(pod)" if the pod as a whole was refused.
	Containers map[string]Result
}

// Result is the merged hint of a container, Nodes being empty for no
// preference, and the CPUs that it got by node.
type Result struct {
	Nodes     []int
	Preferred bool
	CPUsOn    map[int]int
}

// Answer asks numa.State.Plan under a policy and scope of the kubelet's names.
// As in the kubelet, devices that turn out to be lacking after the policy
// admitted the pod do not undo its admission by the topology manager.
func Answer(m Machine, pod Pod, policy, scope string) (Outcome, error) {
	out := Outcome{Containers: map[string]Result{}}
	p, err := numa.ParsePolicy(policy)
	if err != nil {
		return out, err
	}
	cfg := numa.Config{Policy: p, PreferClosest: m.PreferClosest}
	if scope == "pod" {
		cfg.Scope = numa.ScopePod
	}
	s, l, err := m.state(cfg)
	if err != nil {
		return out, err
	}
	placement, err := s.Plan(pod.request(m.knowsMemory()))
	var no *numa.Unplaceable
	switch {
	case err == nil:
		out.Admit = true
		out.add(l, placement.Containers)
	case errors.As(err, &no):
		out.add(l, no.Before)
		name := no.Container
		if name == "" {
			name = "(pod)"
		}
		out.Containers[name] = result(l, numa.ContainerPlacement{Hint: no.Hint})
		out.Admit = no.Admitted && onlyDevices(no.Reasons)
	default:
		return out, err
	}
	return out, nil
}

func onlyDevices(reasons []numa.Reason) bool {
	for _, r := range reasons {
		if r.Resource == "cpu" || r.Resource == "memory" {
			return false
		}
	}
	return true
}

func (o *Outcome) add(l *numa.Layout, list []numa.ContainerPlacement) {
	for _, c := range list {
		o.Containers[c.Name] = result(l, c)
	}
}

func result(l *numa.Layout, c numa.ContainerPlacement) Result {
	r := Result{Nodes: []int{}, Preferred: c.Hint.Preferred, CPUsOn: map[int]int{}}
	if !c.Hint.Any {
		for id := range c.Hint.Nodes.All() {
			r.Nodes = append(r.Nodes, id)
		}
	}
	for cpu := range c.CPUs.All() {
		r.CPUsOn[l.NodeOf(cpu)]++
	}
	return r
}

// knowsMemory reports whether the case says anything about memory; otherwise
// the memory manager is taken to be off.
func (m Machine) knowsMemory() bool {
	for _, n := range m.Nodes {
		if n.Memory != nil {
			return true
		}
	}
	return false
}

// request keeps what the kubelet aligns: CPUs and memory of guaranteed pods,
// CPUs only by whole numbers.
func (p Pod) request(memory bool) *numa.Request {
	guaranteed := true
	for _, list := range [][]Container{p.InitContainers, p.Apps} {
		for _, c := range list {
			guaranteed = guaranteed && c.MilliCPU > 0 && c.Memory > 0
		}
	}
	r := &numa.Request{Name: p.Name}
	add := func(list []Container, init bool) {
		for _, c := range list {
			n := numa.Container{Name: c.Name, Init: init}
			if guaranteed && c.MilliCPU%1000 == 0 {
				n.CPUs = int(c.MilliCPU / 1000)
			}
			if guaranteed && memory {
				n.Memory = []numa.Memory{{Bytes: c.Memory << 20}}
			}
			for _, d := range c.Devices {
				n.Devices = append(n.Devices, numa.DeviceCount{Resource: d.Resource, Count: d.Count})
			}
			r.Containers = append(r.Containers, n)
		}
	}
	add(p.InitContainers, true)
	add(p.Apps, false)
	return r
}

// state builds the machine and takes what the case says is taken.
func (m Machine) state(cfg numa.Config) (*numa.State, *numa.Layout, error) {
	machine := &numa.Machine{Distances: m.Distances}
	earlier := numa.ContainerPlacement{Name: "earlier"}
	placement := &numa.Placement{Name: "earlier"}
	cpu := 0
	for i, n := range m.Nodes {
		node := numa.Node{ID: n.ID}
		if n.Memory != nil {
			node.Memory = []numa.Memory{{Bytes: int64(n.Memory.Total) << 20}}
			if taken := int64(n.Memory.Total-n.Memory.Free) << 20; taken > 0 {
				placement.Memory = append(placement.Memory, numa.MemoryBlock{Node: n.ID, Bytes: taken})
			}
		}
		machine.Nodes = append(machine.Nodes, node)
		for j := range n.CPUs {
			machine.CPUs = append(machine.CPUs, numa.CPU{ID: cpu, Core: cpu, Package: i, Node: n.ID})
			if j < n.Reserved {
				cfg.ReservedCPUs.Add(cpu)
			} else if j < n.CPUs-n.Free {
				earlier.CPUs.Add(cpu)
			}
			cpu++
		}
		for resource, c := range n.Devices {
			for j := range c.Total {
				d := numa.Device{Name: fmt.Sprintf("%s/%d/%d", resource, n.ID, j), Resource: resource, Nodes: numa.MaskOf(n.ID)}
				machine.Devices = append(machine.Devices, d)
				if j >= c.Free {
					earlier.Devices = append(earlier.Devices, d.Name)
				}
			}
		}
	}
	l, err := numa.Compile(machine)
	if err != nil {
		return nil, nil, err
	}
	s, err := numa.NewState(l, cfg)
	if err != nil {
		return nil, nil, err
	}
	placement.Containers = []numa.ContainerPlacement{earlier}
	return s, l, s.Apply(placement)
}
