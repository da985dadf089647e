package cache_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
)

// A watch lost events; a fresh list shows what, and the state is put right.
func ExampleRepair() {
	c, _ := cache.New(cache.Config{})
	c.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	c.AddPod(&berth.Pod{Namespace: "shop", Name: "gone", NodeName: "a"})
	list := cache.Observed{
		Nodes: []*berth.Node{
			{Name: "a", Allocatable: berth.Resources{MilliCPU: 3500, Pods: 110}},
			{Name: "b", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}},
		},
		Pods: []*berth.Pod{{Namespace: "shop", Name: "web", NodeName: "b"}},
	}
	drifts := cache.Diff(c.Publish(), list, cache.DriftConfig{})
	for _, r := range cache.Repair(c, drifts) {
		fmt.Printf("%v: %v, %v\n", &r.Drift, r.Action, r.Err)
	}
	fmt.Println(len(cache.Diff(c.Publish(), list, cache.DriftConfig{})))
	// Output:
	// node a: resource mismatch, differs in allocatable; cpu is 3500, not 4000: updated, <nil>
	// node b: missing: added, <nil>
	// pod shop/gone on a: extra: removed, <nil>
	// pod shop/web on b: missing: added, <nil>
	// 0
}
