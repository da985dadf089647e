package benchmarks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/openb"
	"github.com/berth-go/berth/internal/reference/gpu"
	"github.com/berth-go/berth/score"
)

// Trace is a list of nodes and a list of pods.
type Trace struct {
	Nodes []*berth.Node
	Pods  []*berth.Pod
}

// ReadTrace reads two CSV files in the format of the openb trace, gzipped if the name ends in .gz. The error names file,
// line and column.
func ReadTrace(nodes, pods string) (*Trace, error) {
	var t Trace
	var err error
	if t.Nodes, err = openb.ReadNodesFile(nodes); err != nil {
		return nil, err
	}
	if t.Pods, err = openb.ReadPodsFile(pods); err != nil {
		return nil, err
	}
	for _, p := range t.Pods {
		p.Namespace = "openb"
	}
	slices.SortFunc(t.Nodes, func(a, b *berth.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Pods, func(a, b *berth.Pod) int { return strings.Compare(a.Name, b.Name) })
	return &t, nil
}

// Options say how a trace is replayed.
type Options struct {
	Seed int64
	// Inflate tunes the workload to 1.3 times the GPUs of the nodes, as the authors of FGD do; else the list is taken as
	// it is. The arrival order is shuffled by the seed in both cases.
	Inflate bool
	// Paper orders nodes of equal score by the ranks of the authors' simulator, else by the graph's own seeded order.
	Paper bool
	// Arrived, if not nil, is called after each arrival with its number and that of all.
	Arrived func(i, n int)
}

// Result is the outcome of a replay.
type Result struct {
	Strategy string
	Seed     int64
	// At100 and At130 are the allocated GPUs in per cent when 100 % and 130 % of the GPUs have been asked for; negative if
	// the workload does not get there.
	At100, At130 float64
	// Final is the allocation at the end.
	Final    float64
	Arrivals int
	Unplaced int
	// Fragmentation is the share of the GPUs, in per cent, that is free at the end and that typical pods can't use (FGD paper,
	// section 3.2).
	Fragmentation float64
	Elapsed       time.Duration
}

// Replay places the pods of a workload one by one; a pod that fits nowhere is dropped.
func Replay(t *Trace, s Strategy, o Options) (Result, error) {
	tune := 0.0
	if o.Inflate {
		tune = openb.PaperTune
	}
	w := openb.Draw(t.Pods, t.Nodes, o.Seed, tune)
	graph, pipeline, err := s.start(t, w.Ranks, o)
	if err != nil {
		return Result{}, err
	}
	r := Result{Strategy: s.Name, Seed: o.Seed, Arrivals: len(w.Arrivals), At100: -1, At130: -1}
	curve := openb.NewCurve(openb.GPUCapacity(t.Nodes))
	start := time.Now()
	for i, pod := range w.Arrivals {
		_, err := pipeline.Place(pod)
		if err != nil && !errors.Is(err, score.ErrUnschedulable) {
			return r, fmt.Errorf("%s: pod %v: %w", s.Name, pod.Key(), err)
		}
		if err != nil {
			r.Unplaced++
		}
		curve.Arrive(pod.GPU.Total(), err == nil)
		if o.Arrived != nil {
			o.Arrived(i+1, len(w.Arrivals))
		}
	}
	r.Elapsed = time.Since(start)
	if at, ok := curve.At(100); ok {
		r.At100 = at
	}
	if at, ok := curve.At(130); ok {
		r.At130 = at
	}
	r.Final = curve.Allocation()
	r.Fragmentation = fragmentation(t, graph)
	return r, nil
}

// start makes an empty cluster under the strategy.
func (s *Strategy) start(t *Trace, ranks []int, o Options) (*affinity.Graph, *score.Pipeline, error) {
	cfg := affinity.Config{Seed: uint64(o.Seed)}
	if o.Paper {
		rank := make(map[string]uint32, len(ranks))
		for i, n := range t.Nodes {
			rank[n.Name] = uint32(ranks[i])
		}
		cfg.Order = func(node string) uint32 { return rank[node] }
	}
	graph, err := affinity.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range t.Nodes {
		if err := graph.AddNode(n); err != nil {
			return nil, nil, err
		}
	}
	c, err := s.Config(t, o)
	if err != nil {
		return nil, nil, err
	}
	pipeline, err := score.New(graph, c)
	return graph, pipeline, err
}

// fragmentation is the paper's, of all nodes together, in per cent of the GPUs.
func fragmentation(t *Trace, g *affinity.Graph) float64 {
	typical, _ := gpu.TypicalPods(t.Pods)
	var sum float64
	for _, spec := range t.Nodes {
		n, _ := g.Topology().Lookup(spec.Name)
		node := gpu.NewNode(spec)
		node.CPU = g.FreeMilliCPU(n)
		node.GPU = slices.Clone(g.GPUFree(n))
		sum += gpu.Fragmentation(node, typical)
	}
	return 100 * sum / float64(openb.GPUCapacity(t.Nodes))
}
