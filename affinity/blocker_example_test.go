package affinity_test

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// What keeps a pod off a node, and what if the pods in the way were gone.
func ExampleProfile_WhatIf() {
	g, _ := affinity.New(affinity.Config{})
	g.AddNode(&berth.Node{Name: "n1", Allocatable: berth.Resources{MilliCPU: 2000, Pods: 10}})
	proxy := berth.Pod{Namespace: "net", Name: "proxy", HostPorts: []berth.HostPort{{Port: 443}}, Requests: berth.Resources{MilliCPU: 500}}
	g.Bind(&proxy, "n1")
	p, _ := g.NewProfile(affinity.ProfileConfig{})

	pod := &berth.Pod{Namespace: "net", Name: "gateway", HostPorts: []berth.HostPort{{Port: 443}}, Requests: berth.Resources{MilliCPU: 3000}}
	w, _ := p.WhatIf(pod)
	defer w.End() // the graph is as it was
	blockers, _ := w.Blockers("n1")
	for _, b := range blockers {
		fmt.Printf("%v: pods %v, short of %q\n", b.Rule, b.Pods(), b.Shortfall.Resource)
	}

	w.Release(proxy.Key())
	larger := g.Node(0)
	larger.Allocatable.MilliCPU = 3000
	w.UpdateNode(&larger)
	v, _ := w.Verdict("n1", nil)
	fmt.Println(v.Rule == affinity.Feasible)
	// Output:
	// NodePorts: pods [{net/proxy n1 false}], short of ""
	// NodeResourcesFit: pods [], short of "cpu"
	// true
}
