package score_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
)

// world is a random cluster on a graph.
type world struct {
	*testing.T
	rng    *rand.Rand
	gen    *gen.Generator
	graph  *affinity.Graph
	nodes  []berth.Node
	placed []berth.PodKey
}

func newWorld(t *testing.T, seed uint64, opts gen.Options) *world {
	w := &world{T: t, rng: rand.New(rand.NewPCG(seed, 3))}
	w.gen = gen.New(w.rng, opts)
	g, err := affinity.New(affinity.Config{Seed: seed})
	require.NoError(t, err)
	w.graph = g
	c := w.gen.Cluster()
	for i := range c.Namespaces {
		require.NoError(t, g.SetNamespace(&c.Namespaces[i]))
	}
	w.nodes = c.Nodes
	for i := range c.Nodes {
		require.NoError(t, g.AddNode(&c.Nodes[i]))
	}
	for i := range c.Pods {
		p := berth.Fold(&c.Pods[i])
		switch _, known := g.Topology().Lookup(p.NodeName + p.NominatedNodeName); {
		case !known:
		case p.NodeName != "":
			if g.Bind(p, p.NodeName) == nil { // pods that claim one GPU twice stay out
				w.placed = append(w.placed, p.Key())
			}
		default:
			require.NoError(t, g.Nominate(p, p.NominatedNodeName))
		}
	}
	return w
}

func (w *world) pipeline(cfg score.Config) *score.Pipeline {
	p, err := score.New(w.graph, cfg)
	require.NoError(w, err)
	return p
}

func (w *world) pod() *berth.Pod {
	p := w.gen.Pod()
	return berth.Fold(&p)
}

// change makes a random change to the graph, other than placing a pod.
func (w *world) change() {
	i := w.rng.IntN(len(w.nodes))
	switch w.rng.IntN(4) {
	case 0:
		if len(w.placed) > 0 {
			k := w.rng.IntN(len(w.placed))
			require.NoError(w, w.graph.Release(w.placed[k]))
			w.placed = append(w.placed[:k], w.placed[k+1:]...)
		}
	case 1: // a new node, perhaps under the id of an old one
		n := w.gen.Node()
		require.NoError(w, w.graph.AddNode(&n))
		w.nodes = append(w.nodes, n)
	case 2:
		if w.graph.RemoveNode(w.nodes[i].Name) == nil && len(w.nodes) > 1 { // one with pods stays
			w.nodes = append(w.nodes[:i], w.nodes[i+1:]...)
		} else if _, ok := w.graph.Topology().Lookup(w.nodes[i].Name); !ok {
			require.NoError(w, w.graph.AddNode(&w.nodes[i]))
		}
	case 3:
		n := w.gen.Node()
		n.Name = w.nodes[i].Name
		if w.graph.UpdateNode(&n) == nil { // one whose GPUs are held keeps them
			w.nodes[i] = n
		}
	}
}

// small keeps random clusters quick.
func small(o gen.Options) gen.Options {
	o.Nodes, o.Pods = 25, 60
	return o
}
