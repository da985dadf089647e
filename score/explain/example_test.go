package explain_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

// shop is a cluster of three nodes in two zones with some pods.
func shop() *score.Pipeline {
	graph, _ := affinity.New(affinity.Config{})
	for _, n := range []struct{ name, zone string }{{"n1", "a"}, {"n2", "a"}, {"n3", "b"}} {
		graph.AddNode(&berth.Node{
			Name:        n.name,
			Labels:      map[string]string{berth.LabelHostname: n.name, berth.LabelZone: n.zone},
			Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110},
		})
	}
	for _, p := range []struct {
		name, app, node string
		milliCPU        int64
	}{{"db-0", "db", "n1", 1000}, {"job-0", "job", "n2", 3500}, {"web-0", "web", "n3", 1000}} {
		graph.Bind(&berth.Pod{Namespace: "shop", Name: p.name, Labels: map[string]string{"app": p.app},
			Requests: berth.Resources{MilliCPU: p.milliCPU, Memory: 1 << 30}}, p.node)
	}
	pipeline, _ := score.New(graph, score.KubeDefault())
	return pipeline
}

// web is a pod that must not share a zone with others of its kind.
func web() *berth.Pod {
	p := &berth.Pod{Namespace: "shop", Name: "web-1", Labels: map[string]string{"app": "web"}, Requests: berth.Resources{MilliCPU: 1000, Memory: 1 << 30}}
	p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
			LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			TopologyKey:   berth.LabelZone,
		}},
	}}
	return p
}

// Why this node, and why not those.
func Example() {
	e, _ := explain.Explain(context.Background(), shop(), web(), explain.Options{})
	fmt.Print(e)
	// Output:
	// pod shop/web-1 goes to n1
	// ├─ 3 nodes evaluated, 1 feasible
	// │  ├─ 1 refused by NodeResourcesFit
	// │  └─ 1 refused by InterPodAffinity
	// ├─ best scores
	// │  └─ 1. n1 434 = TaintToleration 3*100 + NodeResourcesFit 62 + NodeResourcesBalancedAllocation 72
	// └─ refused nodes
	//    ├─ n2: NodeResourcesFit: Insufficient cpu
	//    │  ├─ 0.5 cpu missing: requested 1, used 3.5 of 4
	//    │  └─ feasible if: add 0.5 cpu to n2
	//    └─ n3: InterPodAffinity: node(s) didn't match pod anti-affinity rules
	//       ├─ anti-affinity to app=web in topology.kubernetes.io/zone=b: shop/web-0 (on n3)
	//       └─ feasible if: remove pod shop/web-0 from n3
}

// One line for an event, as kube-scheduler writes it.
func ExampleExplanation_Line() {
	pod := web()
	pod.Requests.MilliCPU = 5000
	e, _ := explain.Explain(context.Background(), shop(), pod, explain.Options{Refusals: -1})
	fmt.Println(e.Line())
	// Output: 0/3 nodes are available: 3 Insufficient cpu.
}

// A suggestion is a value: what to do can be decided by its kind.
func ExampleSuggestion() {
	e, _ := explain.Explain(context.Background(), shop(), web(), explain.Options{})
	for _, r := range e.Refusals {
		for _, c := range r.Suggestion.Changes {
			switch c.Kind {
			case explain.AddResource:
				fmt.Println("grow", c.Node, "by", c.Amount, c.Resource)
			case explain.RemovePod:
				fmt.Println("evict", c.Pod)
			}
		}
	}
	// Output:
	// grow n2 by 500 cpu
	// evict shop/web-0
}

// What if the pod had been placed somewhere else?
func ExampleWhatIf() {
	pipeline := shop()
	pod := &berth.Pod{Namespace: "shop", Name: "cart-0", Requests: berth.Resources{MilliCPU: 500, Memory: 1 << 30}}
	d, _ := pipeline.Decide(pod)
	fmt.Println("decided for", d.Node)
	p, _ := explain.WhatIf(context.Background(), pipeline, pod, "n2", explain.Options{})
	fmt.Print(p)
	// Output:
	// decided for n1
	// pod shop/cart-0 on n2 would be number 3 of 3 feasible nodes
	// ├─ 3. n2 412 = TaintToleration 3*100 + NodeResourcesFit 37 + NodeResourcesBalancedAllocation 75
	// └─ n1 before n2 by 31: NodeResourcesFit +31
}

// The same in JSON, for other programs.
func ExampleExplanation_json() {
	e, _ := explain.Explain(context.Background(), shop(), web(), explain.Options{Refusals: -1, Top: -1})
	text, _ := json.Marshal(e)
	fmt.Println(string(text))
	// Output: {"pod":{"namespace":"shop","name":"web-1"},"evaluated":3,"feasible":1,"refused":[{"rule":"NodeResourcesFit","nodes":1,"resolvable":1},{"rule":"InterPodAffinity","nodes":1,"resolvable":1}],"reasons":[{"reason":"Insufficient cpu","nodes":1},{"reason":"node(s) didn't match pod anti-affinity rules","nodes":1}],"omitted":2}
}
