package explain_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

// BenchmarkExplain explains a pod on 5,000 nodes in 3 zones with 10 pods each: one that fits everywhere, one that lacks CPU
// everywhere, one that a pod of each zone excludes, and one that the skew of a zone with 3,300 pods keeps out.
func BenchmarkExplain(b *testing.B) {
	const nodes, each = 5000, 10
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		n := node(fmt.Sprint("n", i), fmt.Sprint("z", i%3))
		n.Allocatable.Pods = 110
		if err := g.AddNode(&n); err != nil {
			b.Fatal(err)
		}
		for k := range each {
			p := pod(fmt.Sprintf("p%d-%d", i, k), n.Name, app(fmt.Sprint("a", i%3)), cpu(300), memory(100<<20))
			if i < 3 && k == 0 {
				p.Labels["app"] = "lone"
			}
			if err := g.Bind(&p, n.Name); err != nil {
				b.Fatal(err)
			}
		}
	}
	p, err := score.New(g, score.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pod  berth.Pod
	}{
		{"fits", pod("p", "")},
		{"short of cpu", pod("p", "", cpu(2000))},
		{"excluded by one pod", pod("p", "", apart("lone", berth.LabelZone))},
		{"skewed", pod("p", "", app("a0"), spread("a0", berth.LabelZone))},
	} {
		for _, o := range []struct {
			name string
			opts explain.Options
		}{
			{"all", explain.Options{}},
			{"without suggestions", explain.Options{NoSuggestions: true}},
			{"details of 10 nodes", explain.Options{Refusals: 10}},
		} {
			b.Run(c.name+"/"+o.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := explain.Explain(b.Context(), p, &c.pod, o.opts); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
