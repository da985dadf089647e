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
	replica, _ := c.NewReplica()
	profile, _ := replica.Graph().NewProfile(affinity.ProfileConfig{})
	pod := &berth.Pod{Namespace: "shop", Name: "web", Requests: berth.Resources{MilliCPU: 2000}}
	node, err := replica.Decide(pod, func(pod *berth.Pod) (string, error) {
		choice, _, err := profile.Best(pod)
		return replica.Graph().Topology().Name(choice.Node), err
	})
	fmt.Println(node, err)
	for p := range c.Publish().Pods() {
		fmt.Println(p.Name, "on", p.NodeName)
	}
	// The bind call failed.
	fmt.Println(c.Forget(pod.Key()))
	// Output:
	// a <nil>
	// early on b
	// web on a
	// <nil>
}

// What is tried on the graph of a snapshot concerns nobody else.
func ExampleSnapshot_Graph() {
	c, _ := cache.New(cache.Config{})
	c.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	whatIf, _ := c.Publish().Graph()
	whatIf.Bind(&berth.Pod{Namespace: "shop", Name: "web"}, "a")
	inCache := 0
	for range c.Publish().Pods() {
		inCache++
	}
	fmt.Println(whatIf.Pods(), inCache)
	// Output: 1 0
}
