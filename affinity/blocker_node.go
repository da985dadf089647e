package affinity

import (
	"iter"
	"maps"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Node returns the spec of node n, without its images. O(labels); the maps are new, the taints are the graph's and must
// not be changed.
func (g *Graph) Node(n topology.NodeID) berth.Node {
	s := &g.nodes[n]
	spec := berth.Node{Name: g.x.Name(n), Taints: g.taintSets[s.taints].taints, Unschedulable: s.unschedulable}
	if labels := g.x.Labels(n); len(labels) > 0 {
		spec.Labels = make(map[string]string, len(labels))
		for _, d := range labels {
			spec.Labels[g.x.KeyName(d.Key)] = g.x.ValueName(d)
		}
	}
	spec.Allocatable = berth.Resources{MilliCPU: s.alloc.cpu, Memory: s.alloc.memory, EphemeralStorage: s.alloc.ephemeral, Pods: s.podsAllowed}
	if s.extra == nil {
		return spec
	}
	for _, sc := range s.extra.scalars {
		if sc.alloc == 0 {
			continue
		}
		if spec.Allocatable.Scalar == nil {
			spec.Allocatable.Scalar = make(map[string]int64)
		}
		spec.Allocatable.Scalar[g.resourceNames[sc.id]] = sc.alloc
	}
	spec.GPUs = berth.GPUs{Model: s.extra.gpu.Model, Count: len(s.extra.gpu.Free)}
	return spec
}

// NominatedTo iterates over the pods that are nominated to node n, in the order of their nomination, and the specs of
// their classes, which must not be changed.
func (g *Graph) NominatedTo(n topology.NodeID) iter.Seq2[berth.PodKey, *berth.Pod] {
	return func(yield func(berth.PodKey, *berth.Pod) bool) {
		if g.nodes[n].extra == nil {
			return
		}
		for i := range g.nodes[n].extra.nominated {
			o := &g.nodes[n].extra.nominated[i]
			if !yield(o.key, &o.class.spec) {
				return
			}
		}
	}
}

// Namespaces iterates over the names of the namespaces whose labels are known, ascending.
func (g *Graph) Namespaces() iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(g.namespaces)))
}
