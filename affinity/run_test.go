package affinity_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
)

// TestARunEqualsOneByOne places runs of like pods in one call and pod by pod, on two graphs of the same random cluster.
func TestARunEqualsOneByOne(t *testing.T) {
	for seed := range uint64(20 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 11))
		opts := presets()[seed%uint64(len(presets()))]
		opts.Nodes, opts.Pods, opts.GPU = 30, 60, 0
		gn := gen.New(rng, opts)
		c := gn.Cluster()
		run, err := newTwin(c, tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		single, err := newTwin(c, tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			var names []string
			for i := range 20 {
				names = append(names, fmt.Sprintf("%s-%d", pod.Name, i))
			}
			got, err := run.profile.PlaceRun(&pod, names)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range names {
				pod.Name = name
				choice, ok, err := single.profile.Best(&pod)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				node := single.graph.Topology().Name(choice.Node)
				if err := single.graph.Bind(&pod, node); err != nil {
					t.Fatal(err)
				}
				want = append(want, node)
			}
			var nodes []string
			for _, c := range got {
				nodes = append(nodes, run.graph.Topology().Name(c.Node))
			}
			if !slices.Equal(nodes, want) {
				t.Fatalf("seed %d: run %v, one by one %v", seed, nodes, want)
			}
		}
	}
}
