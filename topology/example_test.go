package topology_test

import (
	"fmt"

	"github.com/berth-go/berth/topology"
)

// The nodes of a zone, as a set.
func ExampleIndex() {
	var x topology.Index
	x.Add("n1", map[string]string{"zone": "a", "disk": "ssd"})
	x.Add("n2", map[string]string{"zone": "a"})
	x.Add("n3", map[string]string{"zone": "b", "disk": "ssd"})

	zone := x.Key("zone")
	n1, _ := x.Lookup("n1")
	var set topology.NodeSet
	x.Union(&set, topology.Domain{Key: zone, Value: x.Value(n1, zone)})
	for n := range set.All() {
		fmt.Println(x.Name(n))
	}
	fmt.Println(x.Domains(zone), "zones")
	// Output:
	// n1
	// n2
	// 2 zones
}

// Distances between nodes in racks and zones.
func ExampleTree() {
	var x topology.Index
	a, _ := x.Add("a", map[string]string{"zone": "z1", "rack": "r1"})
	b, _ := x.Add("b", map[string]string{"zone": "z1", "rack": "r1"})
	c, _ := x.Add("c", map[string]string{"zone": "z1", "rack": "r2"})
	d, _ := x.Add("d", map[string]string{"zone": "z2", "rack": "r1"})
	tree, _ := topology.NewTree(&x, "zone", "rack")
	fmt.Println(tree.Distance(a, b), tree.Distance(a, c), tree.Distance(a, d))
	common, level := tree.Common(a, c)
	fmt.Println(x.KeyName(common.Key), x.ValueName(common), level)
	// Output:
	// 0 1 2
	// zone z1 0
}

// Sets of nodes have the usual algebra.
func ExampleNodeSet() {
	ssd, zone := topology.NewNodeSet(1, 2, 5), topology.NewNodeSet(2, 3, 5)
	both := ssd.Clone()
	both.Intersect(zone)
	fmt.Println(both.AppendTo(nil), both.Len(), both.Next(3))
	// Output: [2 5] 2 5
}
