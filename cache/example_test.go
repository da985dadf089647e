package cache_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

// Events arrive in any order; a decision is assumed until its binding is observed.
func Example() {
	c, _ := cache.New(cache.Config{})
	c.AddPod(&berth.Pod{Namespace: "shop", Name: "early", NodeName: "b", Requests: berth.Resources{MilliCPU: 3000}})
	for _, name := range []string{"a", "b"} {
		c.AddNode(&berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110}})
	}
	var profile *affinity.Profile
	c.Do(func(g *affinity.Graph) (err error) {
		profile, err = g.NewProfile(affinity.ProfileConfig{})
		return err
	})
	pod := &berth.Pod{Namespace: "shop", Name: "web", Requests: berth.Resources{MilliCPU: 2000}}
	err := c.Decide(pod, func(g *affinity.Graph) (string, error) {
		choice, _, err := profile.Best(pod)
		return g.Topology().Name(choice.Node), err
	})
	fmt.Println(err)
	for p := range c.Snapshot().Pods() {
		fmt.Println(p.Name, "on", p.NodeName)
	}
	// The bind call failed.
	fmt.Println(c.Forget(pod.Key()))
	// Output:
	// <nil>
	// early on b
	// web on a
	// <nil>
}

// What is tried on the graph of a snapshot concerns nobody else.
func ExampleSnapshot_Graph() {
	c, _ := cache.New(cache.Config{})
	c.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	whatIf, _ := c.Snapshot().Graph()
	whatIf.Bind(&berth.Pod{Namespace: "shop", Name: "web"}, "a")
	inCache := 0
	for range c.Snapshot().Pods() {
		inCache++
	}
	fmt.Println(whatIf.Pods(), inCache)
	// Output: 1 0
}
