package benchmarks_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/benchmarks"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// BenchmarkParallel scores 10,000 pairs of a pod and a node in several ways (run it with -cpu 1,2), each in turn with the
// serial loop. Module benchmarks/ants adds a peer.
func BenchmarkParallel(b *testing.B) {
	p := benchmarks.NewPairs(10_000)
	for _, way := range []struct {
		name string
		run  func()
	}{
		{"serial", p.Serial},
		{"goroutine-a-pair", func() {
			var all sync.WaitGroup
			for i := range p.Scores {
				all.Go(func() { p.Score(i) })
			}
			all.Wait()
		}},
		{"errgroup-with-limit", func() {
			var all errgroup.Group
			all.SetLimit(runtime.GOMAXPROCS(0))
			for i := range p.Scores {
				all.Go(func() error {
					p.Score(i)
					return nil
				})
			}
			_ = all.Wait() // no function fails
		}},
		{"berth", func() {
			err := score.Chunks(b.Context(), runtime.GOMAXPROCS(0), p.IDs, func(_ int, chunk []topology.NodeID) error {
				for _, i := range chunk {
					p.Score(int(i))
				}
				return nil
			})
			if err != nil {
				panic(err)
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) { p.Compare(b, way.run) })
	}
}

// share is a plugin that scores by what is left of CPU and memory, in a mix of its own.
type share struct {
	name string
	mix  int64
}

func (s share) Name() string { return s.name }

func (share) Concurrent() {}

func (s share) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	cpu, memory := in.Pod.Requests.MilliCPU, in.Pod.Requests.Memory
	for _, n := range nodes {
		left := (in.Graph.FreeMilliCPU(n) - cpu) * s.mix
		column[n] = left/640 + (in.Graph.FreeMemory(n)-memory)*(10-s.mix)/(256<<20)
	}
	return nil
}

// BenchmarkParallelPlugins is a decision with ten plugins on 100,000 nodes: by the pipeline with one worker and with two,
// and by hand, with the same rules, plugins, sum and choice, in a loop and split in halves between two goroutines. By hand
// there are two ways: plugin by plugin over all nodes (loop, split), and all plugins on a part of the nodes at a time, as
// the pipeline does it (parts-loop, parts-split). All six in turn. of-bare and of-parts are the speed of the pipeline with two
// workers as a part of that of the split by hand.
func BenchmarkParallelPlugins(b *testing.B) {
	const nodes, plugins = 100_000, 10
	g, _ := cluster(b, nodes)
	fill(b, g, nodes, nodes, 200)
	var scorers []score.Weighted
	for i := range plugins {
		scorers = append(scorers, score.Weighted{Scorer: share{fmt.Sprint("share-", i), int64(i)}, Weight: int64(1 + i%3)})
	}
	pod := scaleClass(0)
	pod.Name = "timed"
	pipeline := func(workers int) func() string {
		p, err := score.New(g, score.Config{Profile: affinity.ProfileConfig{NoScores: true}, Scorers: scorers, Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		return func() string {
			d, err := p.Decide(&pod)
			if err != nil {
				b.Fatal(err)
			}
			return d.Node
		}
	}
	hand := newByHand(b, g, scorers)
	ways := []func() string{
		func() string { return hand.decide(&pod, 1, nodes) },
		func() string { return hand.decide(&pod, 2, nodes) },
		func() string { return hand.decide(&pod, 1, score.ChunkNodes) },
		func() string { return hand.decide(&pod, 2, score.ChunkNodes) },
		pipeline(1), pipeline(2),
	}
	taken := make([]latencies, len(ways))
	want := ways[0]()
	b.ResetTimer()
	for range b.N { // not b.Loop: see Pairs.Compare
		for i, way := range ways {
			start := time.Now()
			got := way()
			taken[i] = append(taken[i], time.Since(start))
			if got != want {
				b.Fatalf("way %d chooses %s, the loop %s", i, got, want)
			}
		}
	}
	half := func(i int) float64 { return float64(taken[i].at(0.5)) }
	for i, name := range []string{"loop-ns", "split-ns", "parts-loop-ns", "parts-split-ns", "berth-1-ns", "berth-2-ns"} {
		slices.Sort(taken[i])
		b.ReportMetric(half(i), name)
	}
	b.ReportMetric(half(0)/half(1), "bare-speed-up")
	b.ReportMetric(half(0)/half(5), "speed-up")
	b.ReportMetric(half(1)/half(5), "of-bare")
	b.ReportMetric(half(3)/half(5), "of-parts")
}

// byHand is what one would write without a pipeline.
type byHand struct {
	in       score.Input
	profile  *affinity.Profile
	scorers  []score.Weighted
	feasible topology.NodeSet
	nodes    []topology.NodeID
	columns  [][]int64
	total    []int64
}

func newByHand(b *testing.B, g *affinity.Graph, scorers []score.Weighted) *byHand {
	profile, err := g.NewProfile(affinity.ProfileConfig{NoScores: true})
	if err != nil {
		b.Fatal(err)
	}
	h := &byHand{in: score.Input{Graph: g}, profile: profile, scorers: scorers, total: make([]int64, g.Topology().Cap())}
	for range scorers {
		h.columns = append(h.columns, make([]int64, g.Topology().Cap()))
	}
	return h
}

func (h *byHand) decide(pod *berth.Pod, goroutines, size int) string {
	h.in.Pod = pod
	if err := h.profile.Feasible(pod, &h.feasible); err != nil {
		panic(err)
	}
	h.nodes = h.feasible.AppendTo(h.nodes[:0])
	best := make([]topology.NodeID, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		part := h.nodes[i*len(h.nodes)/goroutines : (i+1)*len(h.nodes)/goroutines]
		if goroutines == 1 {
			best[i] = h.part(part, size)
		} else {
			all.Go(func() { best[i] = h.part(part, size) })
		}
	}
	all.Wait()
	return h.in.Graph.Topology().Name(h.best(best))
}

func (h *byHand) part(nodes []topology.NodeID, size int) topology.NodeID {
	var best []topology.NodeID
	for some := range slices.Chunk(nodes, size) {
		for _, n := range some {
			h.total[n] = 0
		}
		for i, w := range h.scorers {
			if err := w.Scorer.Score(&h.in, some, h.columns[i]); err != nil {
				panic(err)
			}
			for _, n := range some {
				h.total[n] += w.Weight * h.columns[i][n]
			}
		}
		best = append(best, h.best(some))
	}
	return h.best(best)
}

func (h *byHand) best(nodes []topology.NodeID) topology.NodeID {
	best := nodes[0]
	for _, n := range nodes[1:] {
		if t := h.total[n] - h.total[best]; t > 0 || t == 0 && h.in.Graph.Before(n, best) {
			best = n
		}
	}
	return best
}

// cancelling ends a decision's context when it is asked for the part with a given node, and notes when.
type cancelling struct {
	score.Scorer
	at     topology.NodeID
	cancel func()
	when   time.Time
}

func (*cancelling) Concurrent() {}

func (c *cancelling) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	if nodes[0] <= c.at && c.at <= nodes[len(nodes)-1] {
		c.when = time.Now()
		c.cancel()
	}
	return c.Scorer.Score(in, nodes, column)
}

// BenchmarkParallelCancel is the time from the end of a decision's context, amid the scoring of 100,000 nodes, to the return
// of the decision. The scorer that is asked at that moment has its whole part still to do. rules-ns is the time of the
// built-in rules, and rules-and-scores-ns with the built-in scores, which a decision does not interrupt.
func BenchmarkParallelCancel(b *testing.B) {
	trace, err := benchmarks.ReadTrace("testdata/openb_node_list_gpu_node.csv.gz", "testdata/openb_pod_list_default.csv.gz")
	if err != nil {
		b.Fatal(err)
	}
	fgd, err := score.NewFGD(score.TypicalPods(trace.Pods, 0.95))
	if err != nil {
		b.Fatal(err)
	}
	const nodes = 100_000
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		n := scaleNode(i)
		n.GPUs = berth.GPUs{Model: "T4", Count: 8}
		if err := g.AddNode(n); err != nil {
			b.Fatal(err)
		}
	}
	pod := scaleClass(0)
	pod.Name = "timed"
	pod.GPU = berth.GPURequest{Count: 1, Milli: 500}
	for name, scorer := range map[string]score.Scorer{"share": share{"share", 3}, "FGD": fgd} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				c := &cancelling{Scorer: scorer}
				p, err := score.New(g, score.Config{Profile: affinity.ProfileConfig{NoScores: true}, Scorers: []score.Weighted{{Scorer: c}}, Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				var l latencies
				for i := 0; b.Loop(); i++ {
					ctx, cancel := context.WithCancel(b.Context())
					c.cancel, c.at = cancel, topology.NodeID(i*7919%nodes/2)
					_, err := p.DecideContext(ctx, &pod)
					if !errors.Is(err, context.Canceled) {
						b.Fatal(err)
					}
					l = append(l, time.Since(c.when))
				}
				l.report(b, "")
			})
		}
	}
	b.Run("rules", func(b *testing.B) {
		profile, err := g.NewProfile(affinity.ProfileConfig{})
		if err != nil {
			b.Fatal(err)
		}
		var set topology.NodeSet
		var eval affinity.Evaluation
		var rules, scores latencies
		for b.Loop() {
			start := time.Now()
			if err := profile.Feasible(&pod, &set); err != nil {
				b.Fatal(err)
			}
			middle := time.Now()
			if err := profile.Evaluate(&pod, &eval); err != nil {
				b.Fatal(err)
			}
			rules, scores = append(rules, middle.Sub(start)), append(scores, time.Since(middle))
		}
		rules.report(b, "rules-")
		scores.report(b, "rules-and-scores-")
	})
}
