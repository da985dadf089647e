package affinity_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

func BenchmarkBest(b *testing.B) {
	for _, n := range []int{1000, 5000, 100000} {
		b.Run(fmt.Sprint("nodes=", n), func(b *testing.B) {
			g, _ := affinity.New(affinity.Config{})
			for i := range n {
				name := fmt.Sprint("node-", i)
				g.AddNode(&berth.Node{Name: name, Labels: map[string]string{berth.LabelHostname: name, berth.LabelZone: fmt.Sprint("z", i%3)},
					Allocatable: berth.Resources{MilliCPU: 64000, Memory: 256 << 30, Pods: 110}})
			}
			p, _ := g.NewProfile(affinity.ProfileConfig{})
			pod := berth.Pod{Namespace: "d", Name: "p", Labels: map[string]string{"app": "a"}, Requests: berth.Resources{MilliCPU: 100, Memory: 100 << 20}}
			pod.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.DoNotSchedule, LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}
			p.Best(&pod)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				pod.Name = "p"
				c, ok, err := p.Best(&pod)
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
				if err := g.Bind(&pod, g.Topology().Name(c.Node)); err != nil {
					b.Fatal(err)
				}
				if i%1 == 0 {
					g.Release(pod.Key())
				}
			}
		})
	}
}
