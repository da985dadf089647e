package numa_test

import (
	"fmt"

	"github.com/berth-go/berth/numa"
)

// twoNodes is a machine of two nodes with four two-thread cores each, a GPU
// and a NIC on either.
func twoNodes() *numa.Machine {
	m := &numa.Machine{Distances: [][]int{{10, 21}, {21, 10}}}
	for node := range 2 {
		m.Nodes = append(m.Nodes, numa.Node{ID: node, Memory: []numa.Memory{{Bytes: 64 << 30}}})
		for thread := range 8 {
			core := node*4 + thread%4
			m.CPUs = append(m.CPUs, numa.CPU{ID: node*8 + thread, Core: core, Package: node, Node: node})
		}
		m.Devices = append(m.Devices,
			numa.Device{Name: fmt.Sprint("gpu", node), Resource: "example.com/gpu", Kind: numa.DeviceGPU, Nodes: numa.MaskOf(node)},
			numa.Device{Name: fmt.Sprint("nic", node), Resource: "example.com/nic", Kind: numa.DeviceNIC, Nodes: numa.MaskOf(node)})
	}
	return m
}

func ExampleState_Plan() {
	layout, err := numa.Compile(twoNodes())
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := numa.NewState(layout, numa.Config{
		Policy:       numa.PolicySingleNode,
		ReservedCPUs: numa.CPUs(0, 4),
		CPU:          numa.CPUOptions{FullCores: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := func(name string) *numa.Request {
		return &numa.Request{Name: name, Containers: []numa.Container{{
			Name: "main", CPUs: 6,
			Memory:  []numa.Memory{{Bytes: 40 << 30}},
			Devices: []numa.DeviceCount{{Resource: "example.com/gpu", Count: 1}, {Resource: "example.com/nic", Count: 1}},
		}}}
	}
	for _, name := range []string{"first", "second", "third"} {
		placement, err := state.Plan(pod(name))
		if err != nil {
			fmt.Println(err)
			continue
		}
		c := placement.Containers[0]
		fmt.Printf("%s: CPUs %v, memory of node %v, %v\n", name, c.CPUs, c.MemoryNodes, c.Devices)
		if err := state.Apply(placement); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// first: CPUs 1-3,5-7, memory of node 0, [gpu0 nic0]
	// second: CPUs 8-10,12-14, memory of node 1, [gpu1 nic1]
	// numa: pod "third", container "main" does not fit: example.com/gpu: needs 1, nodes {0-1} have 0 free, 1 more would do
}

func ExampleLayout_Merge() {
	layout, err := numa.Compile(twoNodes())
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := layout.Merge(numa.MergeConfig{Policy: numa.PolicyRestricted}, []numa.Resource{
		{Name: "cpu", Demands: []numa.Demand{{Amount: 6, Supply: []numa.Supply{
			{Nodes: numa.MaskOf(0), Total: 8, Free: 4}, {Nodes: numa.MaskOf(1), Total: 8, Free: 7},
		}}}},
		{Name: "gpu", Demands: []numa.Demand{{Amount: 1, Supply: []numa.Supply{
			{Nodes: numa.MaskOf(0), Total: 1, Free: 1}, {Nodes: numa.MaskOf(1), Total: 1, Free: 1},
		}}}},
	})
	fmt.Println(result.Hint.Nodes, result.Hint.Preferred, result.Admit, err)
	// Output: 1 true true <nil>
}

func ExampleLayout_TakeCPUs() {
	layout, err := numa.Compile(twoNodes())
	if err != nil {
		fmt.Println(err)
		return
	}
	all := layout.CPUs(layout.Nodes())
	for _, o := range []numa.CPUOptions{{}, {AcrossCores: true}, {AcrossNodes: true}} {
		cpus, err := layout.TakeCPUs(all, 10, o)
		fmt.Println(cpus, err)
	}
	// Output:
	// 0-8,12 <nil>
	// 0-9 <nil>
	// 0-2,4-5,8-10,12-13 <nil>
}
