package benchmarks_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// cluster is a graph of like nodes in three zones, and a pipeline on it.
func cluster(tb testing.TB, nodes int) (*affinity.Graph, *score.Pipeline) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range nodes {
		if err := g.AddNode(scaleNode(i)); err != nil {
			tb.Fatal(err)
		}
	}
	p, err := score.New(g, score.KubeDefault())
	if err != nil {
		tb.Fatal(err)
	}
	return g, p
}

var (
	zones = []string{"zone-0", "zone-1", "zone-2"}
	pools = []string{"general", "compute", "memory"}
)

// scaleNode is node i: six labels, hostname among them, room for some hundred small pods.
func scaleNode(i int) *berth.Node {
	name := fmt.Sprint("node-", i)
	return &berth.Node{
		Name: name,
		Labels: map[string]string{
			berth.LabelHostname:  name,
			berth.LabelZone:      zones[i%3],
			berth.LabelRegion:    "region-1",
			"kubernetes.io/os":   "linux",
			"kubernetes.io/arch": "amd64",
			"example.com/pool":   pools[i%3],
		},
		Allocatable: berth.Resources{MilliCPU: 64_000, Memory: 256 << 30, Pods: 250},
	}
}

// scaleClass is the spec of class k: each with a label of its own, every fifth of another shape.
func scaleClass(k int) berth.Pod {
	app := map[string]string{"app": fmt.Sprint("app-", k)}
	p := berth.Pod{
		Namespace: "default",
		Labels:    app,
		Requests:  berth.Resources{MilliCPU: int64(100 + 50*(k%7)), Memory: int64(128+64*(k%5)) << 20},
	}
	own := &berth.LabelSelector{MatchLabels: app}
	host := berth.PodAffinityTerm{LabelSelector: own, TopologyKey: berth.LabelHostname}
	switch k % 5 {
	case 1:
		p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{
			{MaxSkew: 5, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.DoNotSchedule, LabelSelector: own},
		}
	case 2:
		p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{}}
		p.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []berth.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: host}}
	case 3:
		p.DefaultSpreadSelector = own
	case 4:
		p.NodeSelector = map[string]string{"example.com/pool": pools[k%3]}
	}
	return p
}

// names are pod names made beforehand, so that the loop that is timed does not make them.
func names(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint("pod-", i)
	}
	return s
}

// latencies collects the time of each operation.
type latencies []time.Duration

func (l latencies) report(b *testing.B, prefix string) {
	slices.Sort(l)
	b.ReportMetric(float64(l.at(0.5)), prefix+"p50-ns")
	b.ReportMetric(float64(l.at(0.99)), prefix+"p99-ns")
}

func (l latencies) at(q float64) time.Duration { return l[min(int(q*float64(len(l))), len(l)-1)] }

// BenchmarkScale is one decision for a known class with the binding of the pod, at growing numbers of nodes with ten pods
// each in 200 classes. One class is used by the timed pods at a time; each pod is released outside the measured time.
func BenchmarkScale(b *testing.B) {
	for _, nodes := range []int{1_000, 10_000, 100_000, 1_000_000} {
		if testing.Short() && nodes > 10_000 {
			break
		}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			g, p := cluster(b, nodes)
			fill(b, g, nodes, 10*nodes, 200)
			for _, k := range []int{0, 1, 2, 3} {
				b.Run("shape="+[]string{"plain", "hard-spread-zone", "preferred-anti-host", "default-spread"}[k], func(b *testing.B) {
					benchmarkKnown(b, g, p, scaleClass(k))
				})
			}
		})
	}
}

func benchmarkKnown(b *testing.B, g *affinity.Graph, p *score.Pipeline, pod berth.Pod) {
	pod.Name = "timed"
	for range 500 { // until the plan for the class has settled
		if _, err := p.Place(&pod); err != nil {
			b.Fatal(err)
		}
		if err := g.Release(pod.Key()); err != nil {
			b.Fatal(err)
		}
	}
	l := make(latencies, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		_, err := p.Place(&pod)
		l = append(l, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		if err := g.Release(pod.Key()); err != nil {
			b.Fatal(err)
		}
	}
	l.report(b, "")
}

// fill places pods round-robin over nodes and classes, without deciding.
func fill(tb testing.TB, g *affinity.Graph, nodes, pods, classes int) {
	specs := make([]berth.Pod, classes)
	for k := range specs {
		specs[k] = scaleClass(k)
	}
	for i := range pods {
		pod := specs[i%classes]
		pod.Name = fmt.Sprint("pod-", i)
		if err := g.Bind(&pod, g.Topology().Name(topology.NodeID(i*7919%nodes))); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkUnseen is the first decision for a class that was never seen before, beside one for a known class, at 5,000
// nodes and 5,000 pods.
func BenchmarkUnseen(b *testing.B) {
	g, p := cluster(b, 5000)
	fill(b, g, 5000, 5000, 50)
	var known, unseen latencies
	for i := 0; b.Loop(); i++ {
		pod := scaleClass(1_000_000 + i)
		pod.Name = "timed"
		for _, l := range []*latencies{&unseen, &known} {
			start := time.Now()
			_, err := p.Place(&pod)
			*l = append(*l, time.Since(start))
			if err != nil {
				b.Fatal(err)
			}
			if err := g.Release(pod.Key()); err != nil {
				b.Fatal(err)
			}
		}
	}
	known.report(b, "known-")
	unseen.report(b, "unseen-")
	b.ReportMetric(float64(unseen.at(0.5))/float64(known.at(0.5)), "unseen/known")
}

// BenchmarkMemory is the heap that a cluster takes: 100,000 nodes of six labels, then 1,000,000 pods in 200 classes, each
// class decided on once.
func BenchmarkMemory(b *testing.B) {
	const nodes, pods, classes = 100_000, 1_000_000, 200
	for b.Loop() {
		before := heapBytes()
		g, p := cluster(b, nodes)
		withNodes := heapBytes()
		fill(b, g, nodes, pods, classes)
		withPods := heapBytes()
		for k := range classes {
			pod := scaleClass(k)
			pod.Name = "asked"
			if _, err := p.Decide(&pod); err != nil {
				b.Fatal(err)
			}
		}
		decided := heapBytes()
		b.ReportMetric(float64(withNodes-before)/nodes, "B/node")
		b.ReportMetric(float64(withPods-withNodes)/pods, "B/pod")
		b.ReportMetric(float64(decided-withPods+withNodes-before)/nodes, "B/node-decided")
		runtime.KeepAlive(p)
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkZipf is a steady state: 5,000 classes, drawn by Zipf's law, arrive and leave interleaved on 5,000 nodes with
// 50,000 pods, of which 2 % change labels or taints in a minute of 100 decisions a second. Beside it, in the same run, the
// same with all classes equally frequent, and one class alone.
func BenchmarkZipf(b *testing.B) {
	const classes = 5000
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, classes-1)
	for b.Loop() {
		single := steadyState(b, rng, func() int { return 0 })
		uniform := steadyState(b, rng, func() int { return rng.IntN(classes) })
		skewed := steadyState(b, rng, func() int { return int(zipf.Uint64()) })
		skewed.report(b, "zipf-")
		uniform.report(b, "uniform-")
		single.report(b, "single-")
		b.ReportMetric(float64(skewed.at(0.99))/float64(uniform.at(0.5)), "zipf-p99/uniform-p50")
		b.ReportMetric(float64(skewed.at(0.99))/float64(single.at(0.5)), "zipf-p99/single-p50")
	}
}

// steadyState fills a cluster with pods of drawn classes, and then lets one leave and one arrive again and again. It returns
// the time of each decision with its binding.
func steadyState(b *testing.B, rng *rand.Rand, draw func() int) latencies {
	const nodes, classes, pods, decisions = 5000, 5000, 50_000, 20_000
	g, p := cluster(b, nodes)
	specs := make([]berth.Pod, classes)
	for k := range specs {
		specs[k] = scaleClass(k)
	}
	names := names(pods)
	placed := make([]berth.PodKey, pods)
	place := func(i int) time.Duration {
		pod := specs[draw()]
		pod.Name = names[i]
		start := time.Now()
		_, err := p.Place(&pod)
		d := time.Since(start)
		if err != nil {
			b.Fatal(err)
		}
		placed[i] = pod.Key()
		return d
	}
	for i := range pods {
		place(i)
	}
	var l latencies
	const decisionsPerChange = 60 // 100 changes in the 6,000 decisions of a minute
	for step := range decisions {
		i := rng.IntN(pods)
		if err := g.Release(placed[i]); err != nil {
			b.Fatal(err)
		}
		if step%decisionsPerChange == 0 {
			change(b, g, rng, nodes)
		}
		l = append(l, place(i))
	}
	return l
}

// change relabels or taints a random node, or takes that back.
func change(tb testing.TB, g *affinity.Graph, rng *rand.Rand, nodes int) {
	n := scaleNode(rng.IntN(nodes))
	switch rng.IntN(4) {
	case 0:
		n.Labels["example.com/pool"] = pools[rng.IntN(3)]
	case 1:
		n.Taints = []berth.Taint{{Key: "example.com/drain", Effect: berth.PreferNoSchedule}}
	case 2:
		n.Labels[berth.LabelZone] = zones[rng.IntN(3)]
	}
	if err := g.UpdateNode(n); err != nil {
		tb.Fatal(err)
	}
}
