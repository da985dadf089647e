package affinity_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// threeHosts returns a graph of three nodes in two zones, and a profile with kube-scheduler's defaults.
func threeHosts() (*affinity.Graph, *affinity.Profile) {
	graph, _ := affinity.New(affinity.Config{})
	for i, zone := range []string{"east", "east", "west"} {
		name := fmt.Sprint("node-", i+1)
		_ = graph.AddNode(&berth.Node{
			Name:        name,
			Labels:      map[string]string{berth.LabelHostname: name, berth.LabelZone: zone},
			Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 110},
		})
	}
	profile, _ := graph.NewProfile(affinity.ProfileConfig{})
	return graph, profile
}

func web(name string) *berth.Pod {
	return &berth.Pod{
		Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"},
		Requests: berth.Resources{MilliCPU: 1000, Memory: 1 << 30},
	}
}

// Decide on a node for each pod and tell the graph. Required anti-affinity keeps the pods in zones of their own; for the
// third there is none.
func Example() {
	graph, profile := threeHosts()
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		pod := web(name)
		pod.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
				LabelSelector: &berth.LabelSelector{MatchLabels: pod.Labels},
				TopologyKey:   berth.LabelZone,
			}},
		}}
		choice, ok, err := profile.Best(pod)
		if err != nil || !ok {
			fmt.Println(name, "fits nowhere", err)
			continue
		}
		node := graph.Topology().Name(choice.Node)
		fmt.Println(name, "on", node, "of", choice.Feasible)
		_ = graph.Bind(pod, node)
	}
	// Output:
	// web-1 on node-3 of 3
	// web-2 on node-2 of 2
	// web-3 fits nowhere <nil>
}

// Ask why a node refuses a pod: the west has one pod of the app more than the east.
func ExampleProfile_Verdict() {
	graph, profile := threeHosts()
	_ = graph.Bind(web("web-1"), "node-3")

	pod := web("web-2")
	pod.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.DoNotSchedule,
		LabelSelector: &berth.LabelSelector{MatchLabels: pod.Labels},
	}}
	var why affinity.Reason
	verdict, err := profile.Verdict(pod, "node-3", &why)
	fmt.Println(verdict.Rule, err)
	fmt.Printf("%s=%s has %d, with this pod %d, the smallest has %d: more than %d apart\n",
		why.Key, why.Value, why.Count, why.Count+why.Self, why.Min, why.MaxSkew)
	// Output:
	// PodTopologySpread <nil>
	// topology.kubernetes.io/zone=west has 1, with this pod 2, the smallest has 0: more than 1 apart
}

// Find out whose eviction would make room for an important pod. The graph stays as it is: who evicts says so by Release.
func ExampleProfile_Preempt() {
	graph, profile := threeHosts()
	for i, node := range []string{"node-1", "node-2", "node-3"} {
		large := web(fmt.Sprint("large-", i+1))
		large.Requests.MilliCPU, large.Priority = 3500, int32(10-i)
		_ = graph.Bind(large, node)
	}
	vip := web("vip")
	vip.Priority = 1000
	found, err := profile.Preempt(vip, nil)
	if err != nil || found.Chosen < 0 {
		fmt.Println("no help", err)
		return
	}
	chosen := found.Candidates[found.Chosen]
	fmt.Println(len(found.Candidates), "candidates, the best:", chosen.Node, chosen.Victims)
	_ = graph.Nominate(vip, chosen.Node)
	// Output:
	// 3 candidates, the best: node-3 [shop/large-3]
}
