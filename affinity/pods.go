package affinity

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// pod is a placed pod.
type pod struct {
	name    string
	ns      int32
	class   classID
	node    topology.NodeID
	onNode  int32 // index in the node's pods
	inClass int32 // index in the class's pods
	start   int64 // UnixNano; noStart if not started
}

const noStart = -1 << 63

// fewPods is the number of pods that a node gets room for with the first: most get several, and growing one by one costs more than
// the rest of a binding.
const fewPods = 8

func (g *Graph) keyOf(p podID) berth.PodKey {
	return berth.PodKey{Namespace: g.nsNames[g.pods[p].ns], Name: g.pods[p].name}
}

// lookup returns the placed pod of that key.
func (g *Graph) lookup(k berth.PodKey) (podID, bool) {
	ns, ok := g.nsByName[k.Namespace]
	if !ok {
		return 0, false
	}
	return g.podByKey.get(g.pods, g.podByKey.hash(ns, k.Name), ns, k.Name)
}

func (g *Graph) namespaceID(name string) int32 {
	ns, ok := g.nsByName[name]
	if !ok {
		ns = int32(len(g.nsNames))
		name = strings.Clone(name)
		g.nsNames = append(g.nsNames, name)
		g.nsByName[name] = ns
	}
	return ns
}

// Bind places a pod on a node, whether or not any rule allows it: what has happened in the cluster is not refused. Its
// GPUs are the exception (see berth.GPURequest.Devices): two pods can't hold the same. A nomination of the pod ends.
//
// The errors are a *berth.Fault, ErrUnknownNode, ErrPodExists, ErrAmount or ErrDevices. Cost: O(spec) to find the class, O(matching terms)
// to count; independent of the number of nodes and pods. Nothing is allocated for a pod of a known class, but for the
// growth of tables.
func (g *Graph) Bind(p *berth.Pod, node string) error {
	c, err := g.validClass(p)
	if err != nil {
		return err
	}
	n, ok := g.Lookup(node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	w := g.prepared(p, c)
	return g.bind(&w, n)
}

func (g *Graph) bind(w *Prepared, n topology.NodeID) error {
	c := w.class
	if _, ok := g.podByKey.get(g.pods, w.hash, c.ns, w.name); ok {
		return fmt.Errorf("%w: %v", ErrPodExists, w.pod.Key())
	}
	if err := g.countable(w.pod, c, n); err != nil {
		return err
	}
	var devices uint64
	if c.spec.GPU.Count > 0 {
		var err error
		if devices, err = g.devicesFor(w.pod, n); err != nil {
			return err
		}
	}
	if len(g.nominations) > 0 {
		g.endNomination(w.pod, c)
	}
	var id podID
	if f := len(g.freePods); f > 0 {
		id, g.freePods = g.freePods[f-1], g.freePods[:f-1]
	} else {
		id = podID(len(g.pods))
		g.pods = append(g.pods, pod{})
	}
	s := &g.nodes[n]
	g.pods[id] = pod{w.name, c.ns, c.id, n, int32(len(s.pods)), int32(len(c.pods)), w.start}
	g.podByKey.Add(w.hash, id)
	if s.pods == nil {
		s.pods = make([]podID, 0, fewPods)
	}
	s.pods = append(s.pods, id)
	g.revive(c)
	c.pods = append(c.pods, id)
	if devices != 0 {
		g.gpuHeld[id] = devices
		s.extra.gpu.Hold(devices, c.spec.GPU.Milli)
	}
	g.occupy(c, n, +1)
	g.touch(n)
	return nil
}

// endNomination is Denominate for a pod of class c that is about to be bound.
func (g *Graph) endNomination(p *berth.Pod, c *class) {
	g.use(c) // or the end of the nomination might drop it
	g.Denominate(p.Key())
	c.users--
}

// devicesFor returns the GPUs that pod p gets on node n.
func (g *Graph) devicesFor(p *berth.Pod, n topology.NodeID) (uint64, error) {
	var gpu ledger.GPUs
	if e := g.nodes[n].extra; e != nil {
		gpu = e.gpu
	}
	devices, err := gpu.Assign(&p.GPU)
	if err != nil {
		return 0, fmt.Errorf("pod %v on node %q: %w", p.Key(), g.x.Name(n), err)
	}
	return devices, nil
}

// countable returns ErrAmount if the sums on node n would be out of range with pod p of class c.
func (g *Graph) countable(p *berth.Pod, c *class, n topology.NodeID) error {
	if !c.need.countable(&g.nodes[n]) {
		return fmt.Errorf("%w: pod %v on node %q", ErrAmount, p.Key(), g.x.Name(n))
	}
	return nil
}

// Release takes a placed pod out, or returns ErrUnknownPod. Cost as for Bind.
func (g *Graph) Release(key berth.PodKey) error {
	id, ok := g.lookup(key)
	if !ok {
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	}
	p := &g.pods[id]
	c, n := g.classes[p.class], p.node
	s := &g.nodes[n]
	if held, ok := g.gpuHeld[id]; ok {
		s.extra.gpu.Hold(held, -c.spec.GPU.Milli)
		delete(g.gpuHeld, id)
	}
	last := len(s.pods) - 1
	s.pods[p.onNode] = s.pods[last]
	g.pods[s.pods[p.onNode]].onNode = p.onNode
	s.pods = s.pods[:last]
	last = len(c.pods) - 1
	c.pods[p.inClass] = c.pods[last]
	g.pods[c.pods[p.inClass]].inClass = p.inClass
	c.pods = c.pods[:last]
	g.podByKey.remove(g.pods, id)
	*p = pod{}
	g.freePods = append(g.freePods, id)
	g.occupy(c, n, -1)
	g.touch(n)
	g.retire(c)
	return nil
}

// UpdatePod replaces the spec of a placed pod, which stays on its node with its devices: labels, requests, termination,
// tolerations and so on. The errors are a *berth.Fault, ErrUnknownPod, ErrDevices if its request for GPUs differs, or
// ErrAmount if the node could not count the new requests beside the old.
func (g *Graph) UpdatePod(p *berth.Pod) error {
	c, err := g.validClass(p)
	if err != nil {
		return err
	}
	id, ok := g.lookup(p.Key())
	if !ok {
		return fmt.Errorf("%w: %v", ErrUnknownPod, p.Key())
	}
	old := g.pods[id]
	was := &g.classes[old.class].spec.GPU
	if was.Count != p.GPU.Count || was.Milli != p.GPU.Milli {
		return fmt.Errorf("%w: pod %v has %d of %d milli, not %d of %d", ErrDevices, p.Key(), was.Count, was.Milli, p.GPU.Count, p.GPU.Milli)
	}
	if err := g.countable(p, c, old.node); err != nil {
		return err
	}
	next := *p
	next.GPU.Devices = nil
	for mask := g.gpuHeld[id]; mask != 0; mask &= mask - 1 {
		next.GPU.Devices = append(next.GPU.Devices, bits.TrailingZeros64(mask))
	}
	if next.StartTime.IsZero() && old.start != noStart {
		next.StartTime = time.Unix(0, old.start)
	}
	if err := g.Release(p.Key()); err != nil {
		return err
	}
	w := g.prepared(&next, g.classOf(&next))
	return g.bind(&w, old.node)
}

// occupy adds the pods of class c, d of them, to what is used on node n and to the counters. It is all that a rule sees
// of a placed pod but for its identity and its GPUs.
func (g *Graph) occupy(c *class, n topology.NodeID, d int64) {
	s, need := &g.nodes[n], &c.need
	s.podCount += d
	s.used.cpu += d * need.request.cpu
	s.used.memory += d * need.request.memory
	s.used.ephemeral += d * need.request.ephemeral
	s.scored.MilliCPU += d * need.scored.MilliCPU
	s.scored.Memory += d * need.scored.Memory
	for _, r := range need.scalars {
		s.addScalar(r.id).used += d * r.amount
	}
	for _, port := range need.ports {
		s.usePort(port, int32(d))
	}
	g.contribute(c, n, int32(d))
}

// Pods returns the number of placed pods.
func (g *Graph) Pods() int { return g.podByKey.Len() }

// NodeOf returns the name of the node of a placed pod.
func (g *Graph) NodeOf(key berth.PodKey) (string, bool) {
	id, ok := g.lookup(key)
	if !ok {
		return "", false
	}
	return g.x.Name(g.pods[id].node), true
}
