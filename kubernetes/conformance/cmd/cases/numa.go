package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/numa"
)

// numaCase checks a case of kind numa: each check starts from the machine as it is given.
func numaCase(c *casefile.Case) (failures []string) {
	if c.NUMA == nil {
		return []string{"no machine"}
	}
	pods := map[string]numa.Pod{}
	for i := range c.Incoming {
		expanded, err := c.Incoming[i].Expand()
		if err != nil {
			return []string{err.Error()}
		}
		for _, p := range expanded {
			pods[p.Name] = numa.Pod{Name: p.Name, InitContainers: containers(p.Spec.InitContainers), Apps: containers(p.Spec.Containers)}
		}
	}
	for i, e := range c.Expect {
		what := fmt.Sprintf("expect[%d] %s: %s, %s scope", i, e.Pod, e.Policy, e.Scope)
		pod, found := pods[e.Pod]
		if !found {
			failures = append(failures, what+": no such pod is incoming")
			continue
		}
		outcome, err := numa.Answer(machine(c.NUMA), pod, e.Policy, e.Scope)
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", what, err))
			continue
		}
		for _, f := range alignmentFailures(&e, &outcome) {
			failures = append(failures, what+": "+f)
		}
	}
	return failures
}

func alignmentFailures(want *casefile.Expect, got *numa.Outcome) (failures []string) {
	if want.Admit != nil && got.Admit != *want.Admit {
		failures = append(failures, fmt.Sprintf("admit: expected %v, got %v", *want.Admit, got.Admit))
	}
	for _, name := range slices.Sorted(maps.Keys(want.Containers)) {
		expected := want.Containers[name]
		result, found := got.Containers[name]
		if whole, refused := got.Containers["(pod)"]; !found && refused {
			result, found = whole, true
		}
		if !found {
			failures = append(failures, fmt.Sprintf("container %s: expected %v, got nothing", name, expected))
			continue
		}
		if expected.NUMANodes != nil && !slices.Equal(result.Nodes, expected.NUMANodes) {
			failures = append(failures, fmt.Sprintf("container %s: numaNodes: expected %v, got %v", name, expected.NUMANodes, result.Nodes))
		}
		if expected.Preferred != nil && result.Preferred != *expected.Preferred {
			failures = append(failures, fmt.Sprintf("container %s: preferred: expected %v, got %v", name, *expected.Preferred, result.Preferred))
		}
		if expected.CPUsOn != nil {
			on := map[string]int{}
			for node, n := range result.CPUsOn {
				on[strconv.Itoa(node)] = n
			}
			if !maps.Equal(on, expected.CPUsOn) {
				failures = append(failures, fmt.Sprintf("container %s: cpusOn: expected %v, got %v", name, expected.CPUsOn, on))
			}
		}
	}
	return failures
}

func machine(m *casefile.Machine) numa.Machine {
	out := numa.Machine{PreferClosest: m.PreferClosest}
	for _, row := range m.Distances {
		distances := make([]int, len(row))
		for i, d := range row {
			distances[i] = int(d)
		}
		out.Distances = append(out.Distances, distances)
	}
	for _, c := range m.Nodes {
		n := numa.Node{ID: c.ID, CPUs: c.CPUs, Reserved: c.Reserved, Free: c.Free, Devices: map[string]numa.Count{}}
		for resource, amount := range c.Devices {
			n.Devices[resource] = numa.Count(amount)
		}
		if c.Memory != nil {
			memory := numa.Count(*c.Memory)
			n.Memory = &memory
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

func containers(list []v1.Container) (out []numa.Container) {
	for i := range list {
		c := numa.Container{Name: list[i].Name}
		for _, name := range slices.Sorted(maps.Keys(list[i].Resources.Requests)) {
			q := list[i].Resources.Requests[name]
			switch name {
			case v1.ResourceCPU:
				c.MilliCPU = q.MilliValue()
			case v1.ResourceMemory:
				c.Memory = q.Value() >> 20
			default:
				c.Devices = append(c.Devices, numa.DeviceCount{Resource: string(name), Count: int(q.Value())})
			}
		}
		out = append(out, c)
	}
	return out
}
