package topology_test

import (
	"fmt"

	"github.com/berth-go/berth/topology"
)

// The nodes of a zone, less those that a taint keeps free.
func ExampleNodeSet() {
	zone := topology.NewNodeSet(1, 2, 3, 64)
	tainted := topology.NewNodeSet(2, 70)
	zone.Subtract(tainted)
	for n := range zone.All() {
		fmt.Print(n, " ")
	}
	fmt.Println(zone.Len(), zone.Has(2))
	// Output: 1 3 64 3 false
}

// Nodes by label.
func ExampleIndex() {
	var x topology.Index
	x.Add("a", map[string]string{"zone": "north", "disk": "ssd"})
	x.Add("b", map[string]string{"zone": "south"})
	x.Add("c", map[string]string{"zone": "north"})

	zone := x.Key("zone")
	a, _ := x.Lookup("a")
	north := topology.Domain{Key: zone, Value: x.Value(a, zone)}
	for n := range x.Nodes(north) {
		fmt.Println(x.Name(n), "is in", x.ValueName(north))
	}
	fmt.Println(x.Domains(zone), "zones")
	// Output:
	// a is in north
	// c is in north
	// 2 zones
}

// How far apart two nodes are.
func ExampleTree() {
	var x topology.Index
	a, _ := x.Add("a", map[string]string{"zone": "north", "rack": "1"})
	b, _ := x.Add("b", map[string]string{"zone": "north", "rack": "2"})
	c, _ := x.Add("c", map[string]string{"zone": "south", "rack": "1"})

	tree, _ := topology.NewTree(&x, "zone", "rack")
	common, level := tree.Common(a, b)
	fmt.Println(x.ValueName(common), level)
	fmt.Println(tree.Distance(a, a), tree.Distance(a, b), tree.Distance(a, c))
	// Output:
	// north 0
	// 0 1 2
}
