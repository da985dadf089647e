package affinity

import (
	"iter"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// Class returns a number for the class of a pod: two pods with the same number answer alike to every rule and score. A number
// is never used again. The error is a *berth.Fault. O(spec) if the class is known.
func (g *Graph) Class(p *berth.Pod) (uint64, error) {
	c, err := g.validClass(p)
	if err != nil {
		return 0, err
	}
	return c.serial, nil
}

// Changes returns the nodes whose own state may have changed since a position, with repetitions, and the position now.
// The position 0 is the beginning. It reports false if that is too long ago: then all nodes may have changed. The slice
// is valid until the next update of the graph.
func (g *Graph) Changes(since int64) (nodes []topology.NodeID, now int64, ok bool) {
	l := &g.log
	l.read = l.end()
	if since < l.first || since > l.read {
		return nil, l.read, false
	}
	return l.nodes[since-l.first:], l.read, true
}

// Before reports whether node a wins against node b at equal score.
func (g *Graph) Before(a, b topology.NodeID) bool { return g.before(a, b) }

// Amount returns what node n offers of a resource (0 if it has none) and what its pods request of it.
func (g *Graph) Amount(n topology.NodeID, resource string) (allocatable, requested int64) {
	s := &g.nodes[n]
	switch resource {
	case berth.ResourceCPU:
		return s.alloc.cpu, s.used.cpu
	case berth.ResourceMemory:
		return s.alloc.memory, s.used.memory
	case berth.ResourceEphemeralStorage:
		return s.alloc.ephemeral, s.used.ephemeral
	case berth.ResourcePods:
		return s.podsAllowed, s.podCount
	}
	id, ok := g.resourceByName[resource]
	if !ok {
		return 0, 0
	}
	if sc := s.scalar(id); sc != nil {
		return sc.alloc, sc.used
	}
	return 0, 0
}

// FreeMilliCPU returns what node n has left of its CPU, negative if it is over-committed.
func (g *Graph) FreeMilliCPU(n topology.NodeID) int64 {
	return g.nodes[n].alloc.cpu - g.nodes[n].used.cpu
}

// FreeMemory returns what node n has left of its memory in bytes, negative if it is over-committed.
func (g *Graph) FreeMemory(n topology.NodeID) int64 {
	return g.nodes[n].alloc.memory - g.nodes[n].used.memory
}

// GPUModel returns the model of the shareable GPUs of node n, "" if it has none.
func (g *Graph) GPUModel(n topology.NodeID) string {
	if e := g.nodes[n].extra; e != nil {
		return e.gpu.Model
	}
	return ""
}

// GPUFree returns the free milli of each GPU of node n, by device. The caller must not change it; it is valid until the
// next update of the node.
func (g *Graph) GPUFree(n topology.NodeID) []int64 {
	if e := g.nodes[n].extra; e != nil {
		return e.gpu.Free
	}
	return nil
}

// PodsOn iterates over the pods of node n and the specs of their classes, which lack what is not part of a class: name,
// UID, node, start, devices. The caller must not change the specs.
func (g *Graph) PodsOn(n topology.NodeID) iter.Seq2[berth.PodKey, *berth.Pod] {
	return func(yield func(berth.PodKey, *berth.Pod) bool) {
		for _, p := range g.nodes[n].pods {
			if !yield(g.keyOf(p), &g.classes[g.pods[p].class].spec) {
				return
			}
		}
	}
}

// Devices returns the GPUs that a placed pod holds, ascending.
func (g *Graph) Devices(key berth.PodKey) []int {
	id, ok := g.lookup(key)
	if !ok {
		return nil
	}
	return ledger.Devices(g.gpuHeld[id])
}

// Pod returns the spec of a placed pod: that of its class with its key, node, devices and start; its UID and nomination
// are not kept. O(1); the maps and slices are the graph's and must not be changed.
func (g *Graph) Pod(key berth.PodKey) (*berth.Pod, bool) {
	id, ok := g.lookup(key)
	if !ok {
		return nil, false
	}
	p := &g.pods[id]
	spec := g.classes[p.class].spec
	spec.Namespace, spec.Name, spec.NodeName = key.Namespace, key.Name, g.x.Name(p.node)
	spec.GPU.Devices = ledger.Devices(g.gpuHeld[id])
	if spec.StartTime = (time.Time{}); p.start != noStart {
		spec.StartTime = time.Unix(0, p.start)
	}
	return &spec, true
}
