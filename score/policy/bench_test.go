package policy

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

const benchNodes = 100_000

// benchGraph is a cluster of 100,000 nodes with ten labels each, a pod on each of them, and taints on every tenth.
func benchGraph(b *testing.B) *affinity.Graph {
	g, err := affinity.New(affinity.Config{})
	require.NoError(b, err)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range benchNodes {
		name := "node-" + strconv.Itoa(i)
		n := &berth.Node{
			Name: name,
			Labels: map[string]string{
				"zone": string(rune('a' + rng.IntN(3))), "region": "r" + strconv.Itoa(rng.IntN(2)), "disk": []string{"ssd", "hdd"}[rng.IntN(2)],
				"arch": []string{"amd64", "amd64", "arm64"}[rng.IntN(3)], "os": "linux", "type": fmt.Sprintf("m%d.large", rng.IntN(20)),
				"price": strconv.Itoa(5 + rng.IntN(200)), "rack": "rack-" + strconv.Itoa(i/40), "pool": "pool-" + strconv.Itoa(rng.IntN(10)),
				berth.LabelHostname: name,
			},
			Allocatable: berth.Resources{MilliCPU: 64_000, Memory: 256 << 30, Pods: 110},
		}
		if rng.IntN(10) == 0 {
			n.Taints = []berth.Taint{{Key: "gpu", Effect: berth.NoSchedule}}
		}
		require.NoError(b, g.AddNode(n))
		p := benchPod("placed-"+strconv.Itoa(i), int64(rng.IntN(640))*100)
		require.NoError(b, g.Bind(p, name))
	}
	return g
}

func benchPod(name string, milliCPU int64) *berth.Pod {
	return &berth.Pod{
		Namespace: "shop", Name: name, Labels: map[string]string{"app": "web", "zone": "a"}, Priority: 100,
		Requests: berth.Resources{MilliCPU: milliCPU, Memory: milliCPU << 22},
	}
}

const (
	// tenOfNode are ten terms that depend on the node alone.
	tenOfNode = `and(hasLabel("zone", "a", "b"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 4, memory >= 8Gi,
		label("arch") == "amd64" || hasLabel("disk", "ssd"), hasLabel("os"), labelNumber("price") < 150,
		!unschedulable(), free("pods") > 10)`
	// tenWithPod are ten terms, four of which look at the pod too.
	tenWithPod = `and(hasLabel("zone", "a", "b"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 2 * podRequest("cpu"),
		memory - podRequest("memory") >= 8Gi, label("arch") == "amd64" || label("zone") == podLabel("zone"), hasLabel("os"),
		labelNumber("price") < 150 || podPriority() > 1000, !unschedulable(), free("pods") > 10)`
)

// BenchmarkPolicy evaluates filters of ten terms on 100,000 nodes. Each evaluation starts with the set of all nodes.
func BenchmarkPolicy(b *testing.B) {
	g := benchGraph(b)
	b.Run("node", func(b *testing.B) { benchFilter(b, g, tenOfNode, sizes(1), nil) })
	b.Run("node/with-4-changes", func(b *testing.B) { benchFilter(b, g, tenOfNode, sizes(1), bindAndRelease(b, g)) })
	b.Run("pod/1-size", func(b *testing.B) { benchFilter(b, g, tenWithPod, sizes(1), nil) })
	b.Run("pod/12-sizes", func(b *testing.B) { benchFilter(b, g, tenWithPod, sizes(12), nil) })
	b.Run("pod/12-sizes-with-4-changes", func(b *testing.B) { benchFilter(b, g, tenWithPod, sizes(12), bindAndRelease(b, g)) })
	b.Run("pod/always-another-size", func(b *testing.B) { benchFilter(b, g, tenWithPod, sizes(1000), nil) })
	b.Run("changes-alone", func(b *testing.B) {
		change := bindAndRelease(b, g)
		for b.Loop() {
			change()
		}
	})
	b.Run("baseline/parse-compile-and-first-evaluation", func(b *testing.B) {
		in, set := benchInput(b, g, 1000), &topology.NodeSet{}
		for b.Loop() {
			e, err := Parse(tenOfNode, Config{})
			require.NoError(b, err)
			f, err := NewFilter("f", e)
			require.NoError(b, err)
			set.CopyFrom(g.Topology().Live())
			_ = f.Filter(in, set)
		}
	})
	for _, way := range []struct {
		name    string
		compile func(c *compiler, n *node) term
	}{
		{"baseline/node-by-node", func(c *compiler, n *node) term { return each{c.truth(n)} }},
		{"baseline/postings-without-keeping", (*compiler).set},
	} {
		b.Run(way.name, func(b *testing.B) {
			e, err := Parse(tenOfNode, Config{})
			require.NoError(b, err)
			c := newCompiler(false)
			f := &Filter{root: way.compile(c, e.root)}
			f.run = c.newRun()
			in, set := benchInput(b, g, 1000), &topology.NodeSet{}
			b.ReportAllocs()
			for b.Loop() {
				set.CopyFrom(g.Topology().Live())
				_ = f.Filter(in, set)
			}
		})
	}
}

// BenchmarkScore scores all of 100,000 nodes by an expression.
func BenchmarkScore(b *testing.B) {
	g := benchGraph(b)
	e, err := Parse(`if(hasLabel("disk", "ssd"), 50, 0) + 50 * (cpu - podRequest("cpu")) / allocatable("cpu") - default(labelNumber("price"), 100)`, Config{})
	require.NoError(b, err)
	s, err := NewScorer("s", e)
	require.NoError(b, err)
	in := benchInput(b, g, 1000)
	nodes := g.Topology().Live().AppendTo(nil)
	column := make([]int64, g.Topology().Cap())
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Score(in, nodes, column)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchNodes, "ns/node")
}

// BenchmarkParse reads and checks the filter of ten terms.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(tenWithPod, Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchInput(b *testing.B, g *affinity.Graph, milliCPU int64) *score.Input {
	p := benchPod("asking", milliCPU)
	class, err := g.Class(p)
	require.NoError(b, err)
	return &score.Input{Pod: p, Graph: g, Class: class}
}

// sizes are pods' requests of CPU, in milli.
func sizes(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = 1000 + 7*int64(i)
	}
	return s
}

// bindAndRelease returns a change of two nodes, twice each.
func bindAndRelease(b *testing.B, g *affinity.Graph) func() {
	pods := []*berth.Pod{benchPod("extra-1", 60_000), benchPod("extra-2", 60_000)}
	at := 0
	return func() {
		for i, p := range pods {
			at = (at + 1) % benchNodes
			if err := g.Bind(p, "node-"+strconv.Itoa(at)); err != nil {
				b.Fatal(err)
			}
			if err := g.Release(pods[i].Key()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchFilter(b *testing.B, g *affinity.Graph, source string, sizes []int64, between func()) {
	e, err := Parse(source, Config{})
	require.NoError(b, err)
	f, err := NewFilter("f", e)
	require.NoError(b, err)
	set := &topology.NodeSet{}
	ins := make([]*score.Input, len(sizes))
	for i, size := range sizes {
		ins[i] = benchInput(b, g, size)
		if i < familySize {
			set.CopyFrom(g.Topology().Live())
			require.NoError(b, f.Filter(ins[i], set)) // the first evaluation is measured apart
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if between != nil {
			between()
		}
		set.CopyFrom(g.Topology().Live())
		_ = f.Filter(ins[i%len(ins)], set)
		i++
	}
	b.ReportMetric(float64(set.Len()), "nodes-left")
}
