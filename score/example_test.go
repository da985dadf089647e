package score_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
)

// A pod that keeps its distance from others of its kind.
func Example() {
	graph, _ := affinity.New(affinity.Config{})
	for _, name := range []string{"a", "b", "c"} {
		graph.AddNode(&berth.Node{
			Name:        name,
			Labels:      map[string]string{berth.LabelHostname: name},
			Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110},
		})
	}
	apart := berth.PodAffinityTerm{
		LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		TopologyKey:   berth.LabelHostname,
	}
	pipeline, _ := score.New(graph, score.KubeDefault())
	for i := range 4 {
		pod := berth.Pod{Namespace: "shop", Name: fmt.Sprint("web-", i), Labels: map[string]string{"app": "web"}}
		pod.Requests = berth.Resources{MilliCPU: 500, Memory: 1 << 30}
		pod.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{}}
		pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []berth.PodAffinityTerm{apart}
		d, err := pipeline.Place(&pod)
		fmt.Println(d.Node, d.Feasible, err)
	}
	// Output:
	// a 3 <nil>
	// c 2 <nil>
	// b 1 <nil>
	//  0 score: pod shop/web-3: 0/3 nodes are available: 3 InterPodAffinity
}
