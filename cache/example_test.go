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

// A pod is prepared when it enters the queue; deciding on it later is then quicker.
func ExampleReplica_DecidePrepared() {
	c, _ := cache.New(cache.Config{})
	c.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110}})
	replica, _ := c.NewReplica()
	profile, _ := replica.Graph().NewProfile(affinity.ProfileConfig{})
	var queue []*cache.Prepared
	for _, name := range []string{"web-0", "web-1"} {
		pod, err := replica.Prepare(&berth.Pod{Namespace: "shop", Name: name, Requests: berth.Resources{MilliCPU: 2000}})
		if err != nil {
			fmt.Println(err)
			continue
		}
		queue = append(queue, pod)
	}
	for _, pod := range queue {
		node, err := replica.DecidePrepared(pod, func(pod *affinity.Prepared) (string, error) {
			choice, _, err := profile.BestPrepared(pod)
			return replica.Graph().Topology().Name(choice.Node), err
		})
		fmt.Println(pod.Pod().Name, "on", node, err)
	}
	// Output:
	// web-0 on a <nil>
	// web-1 on a <nil>
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

// Would the pods of a node that is to be drained fit elsewhere, and what if a node like it were bought?
func ExampleTxn() {
	c, _ := cache.New(cache.Config{})
	for _, name := range []string{"a", "b"} {
		c.AddNode(&berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	}
	for name, node := range map[string]string{"web-0": "a", "web-1": "a", "db": "b"} {
		c.AddPod(&berth.Pod{Namespace: "shop", Name: name, NodeName: node, Requests: berth.Resources{MilliCPU: 1500}})
	}
	replica, _ := c.NewReplica()
	decide, _ := affinityBest(replica)
	whatIf, _ := replica.Begin()
	drain := func() (left int) {
		whatIf.Cordon("a", true)
		for _, name := range []string{"web-0", "web-1"} {
			pod, _ := c.Pod(berth.PodKey{Namespace: "shop", Name: name})
			whatIf.Evict(pod.Spec.Key())
			again := *pod.Spec
			again.NodeName = ""
			if whatIf.Decide(&again, decide) != nil {
				left++
			}
		}
		return left
	}
	start := whatIf.Savepoint()
	fmt.Println(drain(), "pods without a place")
	whatIf.RollbackTo(start)
	whatIf.AddNode(&berth.Node{Name: "new", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	fmt.Println(drain(), "pods without a place if a node is added")
	whatIf.Rollback()
	fmt.Println("version", c.Version(), "as before")
	// Output:
	// 1 pods without a place
	// 0 pods without a place if a node is added
	// version 5 as before
}

// affinityBest returns a function that decides on the graph of a replica.
func affinityBest(r *cache.Replica) (func(*berth.Pod) (string, error), error) {
	profile, err := r.Graph().NewProfile(affinity.ProfileConfig{})
	return func(pod *berth.Pod) (string, error) {
		choice, ok, err := profile.Best(pod)
		if err != nil || !ok {
			return "", fmt.Errorf("%v fits nowhere (%w)", pod.Key(), err)
		}
		return r.Graph().Topology().Name(choice.Node), nil
	}, err
}

// Two schedulers decide at once: the second finds its room taken, and decides again on the state as it has become.
func ExampleReplica_Schedule() {
	c, _ := cache.New(cache.Config{})
	for _, name := range []string{"a", "b"} {
		c.AddNode(&berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	}
	one, _ := c.NewReplica()
	two, _ := c.NewReplica()
	decide, _ := affinityBest(two)
	asked := 0
	placed, err := two.Schedule([]*berth.Pod{{Namespace: "shop", Name: "web", Requests: berth.Resources{MilliCPU: 3000}}}, 3,
		func(pod *berth.Pod) (string, error) {
			node, err := decide(pod)
			if asked++; asked == 1 { // the other is quicker
				one.Decide(&berth.Pod{Namespace: "shop", Name: "db", Requests: berth.Resources{MilliCPU: 3000}},
					func(*berth.Pod) (string, error) { return node, nil })
			}
			return node, err
		})
	fmt.Println(asked, "decisions,", placed[0].Err, err)
	for p := range c.Publish().AllPods() {
		fmt.Println(p.Spec.Name, p.Assumed)
	}
	// Output:
	// 2 decisions, <nil> <nil>
	// db true
	// web true
}
