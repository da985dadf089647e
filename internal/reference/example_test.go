package reference_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

func Example() {
	four := berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110}
	cluster := reference.Cluster{
		Nodes: []berth.Node{{Name: "n1", Allocatable: four}, {Name: "n2", Allocatable: four}, {Name: "n3", Allocatable: four, Unschedulable: true}},
		Pods:  []berth.Pod{{Namespace: "default", Name: "old", NodeName: "n1", Requests: berth.Resources{MilliCPU: 1000}}},
	}
	pod := berth.Pod{Namespace: "default", Name: "new", Requests: berth.Resources{MilliCPU: 500}, Priority: 1}
	for i, refusal := range cluster.Filter(&pod) {
		fmt.Printf("%s %q\n", cluster.Nodes[i].Name, refusal.Plugin)
	}
	scores, err := cluster.Score(&pod, cluster.Feasible(&pod))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("total", scores.Total, "best", cluster.Nodes[scores.Best[0]].Name)

	pod.Requests.MilliCPU = 4000
	pod.NodeName = "n1"
	for _, c := range cluster.Preempt(&pod).Candidates {
		fmt.Println("preempt on", cluster.Nodes[c.Node].Name, c.Victims[0].Name)
	}
	// Output:
	// n1 ""
	// n2 ""
	// n3 "NodeUnschedulable"
	// total [450 463] best n2
	// preempt on n1 old
}
