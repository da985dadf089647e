package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/scoretest"
)

// node is one of 10 cores, 100 bytes and any number of pods.
func node(name string, labels ...string) *berth.Node {
	n := &berth.Node{Name: name, Labels: map[string]string{}, Allocatable: berth.Resources{MilliCPU: 10_000, Memory: 100, Pods: 1000}}
	for i := 0; i+1 < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

func pod(name string, milliCPU int64, labels ...string) *berth.Pod {
	p := &berth.Pod{Namespace: "d", Name: name, Labels: map[string]string{}, Requests: berth.Resources{MilliCPU: milliCPU}}
	for i := 0; i+1 < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func graphOf(t testing.TB, nodes ...*berth.Node) *affinity.Graph {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for _, n := range nodes {
		require.NoError(t, g.AddNode(n))
	}
	return g
}

func input(t testing.TB, g *affinity.Graph, p *berth.Pod) *score.Input {
	class, err := g.Class(p)
	require.NoError(t, err)
	return &score.Input{Pod: p, Graph: g, Class: class}
}

// try asks a scorer about all nodes as a pipeline does, and returns the scores by name.
func try(t testing.TB, s score.Scorer, g *affinity.Graph, p *berth.Pod) (map[string]int64, error) {
	in, nodes := input(t, g, p), g.Topology().Live().AppendTo(nil)
	column := make([]int64, g.Topology().Cap())
	if prep, ok := s.(score.Preparer); ok {
		require.NoError(t, prep.Prepare(in, nodes))
	}
	if err := s.Score(in, nodes, column); err != nil {
		return nil, err
	}
	if norm, ok := s.(score.Normalizer); ok {
		require.NoError(t, norm.Normalize(in, nodes, column))
	}
	scores := make(map[string]int64)
	for _, n := range nodes {
		scores[g.Topology().Name(n)] = column[n]
	}
	return scores, nil
}

func scores(t testing.TB, s score.Scorer, g *affinity.Graph, p *berth.Pod) map[string]int64 {
	t.Helper()
	all, err := try(t, s, g, p)
	require.NoError(t, err)
	return all
}

// left returns the names of the nodes that a filter leaves of all, in ascending order of their numbers.
func left(t testing.TB, f score.Filter, g *affinity.Graph, p *berth.Pod) []string {
	t.Helper()
	set := g.Topology().Live().Clone()
	require.NoError(t, f.Filter(input(t, g, p), set))
	names := []string{}
	for n := range set.All() {
		names = append(names, g.Topology().Name(n))
	}
	return names
}

// must returns what a constructor returned, of which the test is not about errors.
func must[T any](s T, err error) T {
	if err != nil {
		panic(err)
	}
	return s
}

// badAmounts are what no amount may be.
var badAmounts = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-9, 1 << 51}

// refused checks that an error is of a kind and names what is wrong.
func refused(t testing.TB, err, kind error, names ...string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	for _, name := range names {
		require.ErrorContains(t, err, name)
	}
}

// suite is the contract on a cluster whose nodes have zones, racks and prices, and whose pods are of several kinds.
func suite() scoretest.Suite {
	return scoretest.Suite{World: func() (scoretest.World, error) {
		g, err := affinity.New(affinity.Config{})
		if err != nil {
			return scoretest.World{}, err
		}
		for i := range 40 {
			n := node(fmt.Sprint("node-", i), "zone", fmt.Sprint("z", i%3), "rack", fmt.Sprint("r", i%4))
			if i%5 == 0 {
				n.Labels["capacity"], n.Labels["runtime"] = "spot", "wasm"
			}
			n.GPUs = berth.GPUs{Model: "T4", Count: i % 3}
			if err := g.AddNode(n); err != nil {
				return scoretest.World{}, err
			}
			for k := range i % 4 {
				p := pod(fmt.Sprint("placed-", i, "-", k), 100, "app", []string{"web", "db", "batch"}[(i+k)%3])
				if err := g.Bind(p, n.Name); err != nil {
					return scoretest.World{}, err
				}
			}
		}
		pods := []*berth.Pod{
			pod("plain", 0), pod("web", 500, "app", "web"), pod("db", 2000, "app", "db"), pod("batch", 6000, "app", "batch"),
			pod("wasm", 300, "runtime", "wasm"), pod("unknown", 300, "runtime", "unknown"), pod("gpu", 1000),
		}
		pods[6].GPU = berth.GPURequest{Count: 2, Milli: berth.GPUMilli}
		return scoretest.World{Graph: g, Pods: pods}, nil
	}}
}

// nodes yields the names of the suite's nodes.
func nodes(yield func(i int, name string) bool) {
	for i := range 40 {
		if !yield(i, fmt.Sprint("node-", i)) {
			return
		}
	}
}
