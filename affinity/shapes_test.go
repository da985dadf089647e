package affinity_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// shape is a kind of pod that tests and benchmarks ask for.
type shape struct {
	name string
	set  func(p *berth.Pod)
}

// shapes are the kinds of rules that cost differently: by node, by counts in zones, by counts on hosts.
func shapes() []shape {
	app := &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	zone := berth.PodAffinityTerm{LabelSelector: app, TopologyKey: berth.LabelZone}
	host := berth.PodAffinityTerm{LabelSelector: app, TopologyKey: berth.LabelHostname}
	return []shape{
		{"plain", func(*berth.Pod) {}},
		{"affinity", func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []berth.PodAffinityTerm{zone},
				PreferredDuringSchedulingIgnoredDuringExecution: []berth.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: host}},
			}}
		}},
		{"anti-affinity", func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []berth.PodAffinityTerm{host},
				PreferredDuringSchedulingIgnoredDuringExecution: []berth.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: zone}},
			}}
		}},
		{"spread", func(p *berth.Pod) {
			p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{
				{MaxSkew: 1, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.DoNotSchedule, LabelSelector: app},
				{MaxSkew: 1, TopologyKey: berth.LabelHostname, WhenUnsatisfiable: berth.ScheduleAnyway, LabelSelector: app},
			}
		}},
	}
}

// pod returns a pod of the shape.
func (s *shape) pod(name string) *berth.Pod {
	p := &berth.Pod{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}
	p.Requests = berth.Resources{MilliCPU: 100, Memory: 100 << 20}
	s.set(p)
	return p
}

// uniform returns a graph of like nodes in ten zones, and a profile that has decided on the shape once.
func (s *shape) uniform(tb testing.TB, nodes int) (*affinity.Graph, *affinity.Profile) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%06d", i)
		err := g.AddNode(&berth.Node{
			Name:        name,
			Labels:      map[string]string{berth.LabelHostname: name, berth.LabelZone: fmt.Sprint("zone-", i%10)},
			Allocatable: berth.Resources{MilliCPU: 32_000, Memory: 64 << 30, Pods: 110},
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	p, err := g.NewProfile(affinity.ProfileConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	place(tb, g, p, s.pod("first"))
	return g, p
}

func place(tb testing.TB, g *affinity.Graph, p *affinity.Profile, pod *berth.Pod) {
	choice, ok, err := p.Best(pod)
	if !ok || err != nil {
		tb.Fatal(ok, err)
	}
	if err := g.Bind(pod, g.Topology().Name(choice.Node)); err != nil {
		tb.Fatal(err)
	}
}

// TestKnownClassAllocatesNothing pins the cycle of a decision for a class that was seen before, its binding and its release.
func TestKnownClassAllocatesNothing(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			g, p := s.uniform(t, 300)
			for i := range 50 {
				place(t, g, p, s.pod(fmt.Sprint("pod-", i)))
			}
			pod := s.pod("next")
			cycle := func() {
				place(t, g, p, pod)
				if err := g.Release(pod.Key()); err != nil {
					t.Fatal(err)
				}
			}
			for range 100 { // tables and logs grow to their size
				cycle()
			}
			if allocs := testing.AllocsPerRun(1000, cycle); allocs != 0 {
				t.Errorf("decide, bind and release allocate %v times", allocs)
			}
			w, err := g.Prepare(pod)
			if err != nil {
				t.Fatal(err)
			}
			prepared := func() {
				choice, ok, err := p.BestPrepared(w)
				if !ok || err != nil {
					t.Fatal(ok, err)
				}
				if err := g.BindPrepared(w, g.Topology().Name(choice.Node)); err != nil {
					t.Fatal(err)
				}
				if err := g.Release(pod.Key()); err != nil {
					t.Fatal(err)
				}
			}
			if allocs := testing.AllocsPerRun(1000, prepared); allocs != 0 {
				t.Errorf("decide, bind and release of a prepared pod allocate %v times", allocs)
			}
			verdict := func() {
				if _, err := p.Verdict(pod, "node-000000", nil); err != nil {
					t.Fatal(err)
				}
			}
			if allocs := testing.AllocsPerRun(100, verdict); allocs != 0 {
				t.Errorf("a verdict without reason allocates %v times", allocs)
			}
		})
	}
}

// BenchmarkBest decides for a class that was seen before, binds the pod and releases an older one.
func BenchmarkBest(b *testing.B) {
	for _, s := range shapes() {
		for _, nodes := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("shape=%s/nodes=%d", s.name, nodes), func(b *testing.B) {
				g, p := s.uniform(b, nodes)
				const kept = 512 // pods of the shape that run at any time
				pods := make([]*berth.Pod, kept)
				for i := range pods {
					pods[i] = s.pod(fmt.Sprint("pod-", i))
					place(b, g, p, pods[i])
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := g.Release(pods[i%kept].Key()); err != nil {
						b.Fatal(err)
					}
					place(b, g, p, pods[i%kept])
				}
			})
		}
	}
}
