package policy_test

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/policy"
)

// fleet is a cluster of three nodes.
func fleet() *affinity.Graph {
	graph, _ := affinity.New(affinity.Config{})
	gpu := []berth.Taint{{Key: "gpu", Effect: berth.NoSchedule}}
	for _, n := range []berth.Node{
		{Name: "small", Labels: map[string]string{"zone": "a", "price": "0.04"}, Allocatable: berth.Resources{MilliCPU: 2000, Pods: 110}},
		{Name: "large", Labels: map[string]string{"zone": "a", "price": "0.20"}, Allocatable: berth.Resources{MilliCPU: 16_000, Pods: 110}},
		{Name: "gpu", Labels: map[string]string{"zone": "b"}, Taints: gpu, Allocatable: berth.Resources{MilliCPU: 8000, Pods: 110}},
	} {
		_ = graph.AddNode(&n)
	}
	return graph
}

// A rule as a filter: what it refuses is counted under its name.
func ExampleNewFilter() {
	rule, err := policy.Parse(`and(hasLabel("zone", "a"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 4)`, policy.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule)
	filter, _ := policy.NewFilter("house-rule", rule)
	pipeline, _ := score.New(fleet(), score.Config{Filters: []score.Filter{filter}})
	for _, cpu := range []int64{1000, 15_000, 1000} {
		pod := berth.Pod{Namespace: "shop", Name: fmt.Sprint("web-", cpu), Requests: berth.Resources{MilliCPU: cpu}}
		decision, err := pipeline.Place(&pod)
		if errors.Is(err, score.ErrUnschedulable) {
			fmt.Println("fits nowhere")
			return
		}
		fmt.Println(decision.Node, decision.Feasible)
	}
	// Output:
	// hasLabel("zone", "a") && !matchesTaint("gpu", "NoSchedule") && cpu >= 4
	// large 1
	// large 1
	// fits nowhere
}

// A score: the cheapest node, by the hour and for the part that the pod takes of it. Nodes without a price are dear.
func ExampleNewScorer() {
	price, err := policy.Parse(`-1000 * default(labelNumber("price"), 1) * podRequest("cpu") / allocatable("cpu")`, policy.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, _ := policy.NewScorer("price", price)
	pipeline, _ := score.New(fleet(), score.Only(scorer))
	pod := berth.Pod{Namespace: "shop", Name: "web", Requests: berth.Resources{MilliCPU: 2000}}
	decision, _ := pipeline.Decide(&pod)
	fmt.Println(decision.Node, decision.Score)
	// Output:
	// large -25
}

// A function of one's own, which looks at the pods of a node. That it reads the node is said, so that its answers are kept
// until the node changes.
func ExampleFunction() {
	busy := policy.Function{
		Name: "busy", Params: []policy.Type{policy.TextType}, Reads: policy.ReadsNode,
		Bool: func(c *policy.Call) bool {
			for key := range c.Graph.PodsOn(c.Node) {
				if key.Namespace == c.Text(0) {
					return true
				}
			}
			return false
		},
	}
	rule, _ := policy.Parse(`!busy("batch") || podPriority() > 100`, policy.Config{Functions: []policy.Function{busy}})
	filter, _ := policy.NewFilter("apart-from-batch", rule)
	graph := fleet()
	_ = graph.Bind(&berth.Pod{Namespace: "batch", Name: "job"}, "large")
	pipeline, _ := score.New(graph, score.Config{Filters: []score.Filter{filter}})
	decision, _ := pipeline.Decide(&berth.Pod{Namespace: "shop", Name: "web"})
	fmt.Println(decision.Node, decision.Feasible)
	// Output:
	// small 1
}

// What is wrong with an expression is said with line and column.
func ExampleParse() {
	_, err := policy.Parse("hasLabel(\"zone\", \"a\") &&\n    memory >= label(\"least\")", policy.Config{})
	fmt.Println(err)
	// Output:
	// policy: 2:15: >= wants a number, and this is a text
}
