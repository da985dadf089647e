package score_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Licensed refuses nodes without the label "licensed".
type Licensed struct{}

func (Licensed) Name() string { return "Licensed" }

func (Licensed) Filter(in *score.Input, feasible *topology.NodeSet) error {
	x := in.Graph.Topology()
	var licensed topology.NodeSet
	x.UnionCarriers(&licensed, x.Key("licensed"))
	feasible.Intersect(&licensed)
	return nil
}

// A rule of one's own, as set algebra. Nodes that it refuses are counted under its name.
func ExampleFilter() {
	graph, _ := affinity.New(affinity.Config{})
	room := berth.Resources{MilliCPU: 2000, Pods: 110}
	graph.AddNode(&berth.Node{Name: "a", Allocatable: room})
	graph.AddNode(&berth.Node{Name: "b", Allocatable: room, Labels: map[string]string{"licensed": "2027"}})
	pipeline, _ := score.New(graph, score.Config{Filters: []score.Filter{Licensed{}}})
	for i := range 2 {
		pod := berth.Pod{Namespace: "shop", Name: fmt.Sprint("cad-", i), Requests: berth.Resources{MilliCPU: 1500}}
		d, err := pipeline.Place(&pod)
		fmt.Println(d.Node, err)
	}
	// Output:
	// b <nil>
	//  score: pod shop/cad-1: 0/2 nodes are available: 1 NodeResourcesFit, 1 Licensed
}
