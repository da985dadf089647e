package score_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
)

// Prices asks a store that does not answer today.
type Prices struct{}

func (Prices) Name() string { return "Prices" }

func (Prices) Fetch(ctx context.Context, q *score.Query) error {
	<-ctx.Done() // the answer would fill q.Scores, a score for each of q.Nodes
	return ctx.Err()
}

// A signal from elsewhere: the decision does not wait for it longer than it may, and says that it was late.
func ExampleSignal() {
	graph, _ := affinity.New(affinity.Config{})
	for _, name := range []string{"a", "b"} {
		graph.AddNode(&berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 2000, Pods: 110}})
	}
	pipeline, _ := score.New(graph, score.Config{Signals: []score.Signal{{
		Source:   Prices{},
		Deadline: 5 * time.Millisecond,
		Fallback: score.Skip,
		Retry: score.Retry{
			Attempts: 3, Base: time.Millisecond, Max: 4 * time.Millisecond, Random: rand.New(rand.NewPCG(1, 2)),
		},
	}}})
	d, err := pipeline.Decide(&berth.Pod{Namespace: "shop", Name: "web", Requests: berth.Resources{MilliCPU: 500}})
	fmt.Println(d.Node, err, d.Late())
	// Output: a <nil> [Prices]
}
