package gen_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-go/berth/internal/gen"
)

func Example() {
	options := gen.Everything()
	options.Nodes, options.Pods = 10, 20
	for range 2 {
		g := gen.New(rand.New(rand.NewPCG(1, 2)), options)
		cluster, pod := g.Cluster(), g.Pod()
		_, changed := g.Change(cluster)
		fmt.Println(len(cluster.Nodes) <= 10, len(cluster.Pods) <= 20, pod.Name != "", changed)
	}
	// Output:
	// true true true true
	// true true true true
}
