package score_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Cheapest prefers nodes whose label "price" is low.
type Cheapest struct{}

func (Cheapest) Name() string { return "Cheapest" }

// Local promises that the score follows from the node alone, so that it is kept.
func (Cheapest) Local() {}

func (Cheapest) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	x := in.Graph.Topology()
	for _, n := range nodes {
		column[n] = 0
		for _, label := range x.Labels(n) {
			if x.KeyName(label.Key) != "price" {
				continue
			}
			var cents int64
			if _, err := fmt.Sscan(x.ValueName(label), &cents); err != nil {
				return fmt.Errorf("price of node %q: %w", x.Name(n), err)
			}
			column[n] = -cents
		}
	}
	return nil
}

// A strategy of one's own: the cheapest node that has room.
func ExampleScorer() {
	graph, _ := affinity.New(affinity.Config{})
	for name, price := range map[string]string{"small": "12", "spot": "5", "large": "40"} {
		graph.AddNode(&berth.Node{
			Name: name, Labels: map[string]string{"price": price}, Allocatable: berth.Resources{MilliCPU: 2000, Pods: 110},
		})
	}
	pipeline, _ := score.New(graph, score.Only(Cheapest{}))
	for i := range 3 {
		pod := berth.Pod{Namespace: "shop", Name: fmt.Sprint("job-", i), Requests: berth.Resources{MilliCPU: 1500}}
		d, _ := pipeline.Place(&pod)
		fmt.Println(d.Node, d.Score)
	}
	// Output:
	// spot -5
	// small -12
	// large -40
}
