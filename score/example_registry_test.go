package score_test

import (
	"fmt"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
)

// A new version of a strategy serves one pod in ten, until it has proved itself.
func ExampleRegistry() {
	var plugins score.Registry
	defer plugins.Close()
	plugins.Register(score.Plugin{Name: "Packing", Version: "1", Scorer: score.BestFit{}})
	plugins.Register(score.Plugin{Name: "Packing", Version: "2", Scorer: score.DotProduct{}, Share: 0.1})

	graph, _ := affinity.New(affinity.Config{})
	graph.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 64_000, Pods: 1000}})
	pipeline, _ := score.New(graph, score.Config{Registry: &plugins})
	served := make(map[string]int)
	for i := range 500 {
		d, _ := pipeline.Place(&berth.Pod{Namespace: "shop", Name: fmt.Sprint("job-", i)})
		served[d.Plugins[0].Version]++
	}
	fmt.Println(served["1"], served["2"])
	// Output: 460 40
}

// The limit on queries to a store follows how long they take.
func ExampleLimiter() {
	limiter, _ := score.NewLimiter(score.LimiterConfig{Initial: 8, Window: 1})
	for _, ms := range []time.Duration{10, 10, 10, 20, 20} {
		limiter.Observe(score.Measurement{Latency: ms * time.Millisecond, InFlight: limiter.Limit()})
		fmt.Print(limiter.Limit(), " ")
	}
	// Output: 8 16 32 31 30
}
