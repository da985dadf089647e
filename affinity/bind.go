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

// BindPrepared is Bind for a prepared pod. O(matching terms).
func (g *Graph) BindPrepared(w *Prepared, node string) error {
	if _, err := w.classFor(g); err != nil {
		return err
	}
	n, ok := g.Lookup(node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	return g.bind(w, n)
}

func (g *Graph) bind(w *Prepared, n topology.NodeID) error {
	c := w.class
	if _, ok := g.podByKey.get(g.pods, w.hash, c.ns, w.name); ok {
		return errPodExists(w.pod)
	}
	if !c.need.countable(&g.nodes[n]) {
		return g.errAmount(w.pod, n)
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
	if c.idle {
		g.unlist(c)
	}
	c.pods = append(c.pods, id)
	if devices != 0 {
		g.hold(id, devices)
	}
	g.occupy(c, n, +1)
	g.touch(n)
	if c := g.decided; c != nil && n == g.chosen {
		c.follow()
	}
	return nil
}

// countable reports whether one more such pod keeps the sums on the node in range.
func (n *need) countable(s *nodeState) bool {
	if s.used.cpu+n.request.cpu > ledger.MaxUsed || s.used.memory+n.request.memory > ledger.MaxUsed ||
		s.used.ephemeral+n.request.ephemeral > ledger.MaxUsed ||
		s.scored.MilliCPU+n.scored.MilliCPU > ledger.MaxUsed || s.scored.Memory+n.scored.Memory > ledger.MaxUsed {
		return false
	}
	for _, r := range n.scalars {
		if sc := s.scalar(r.id); sc != nil && sc.used+r.amount > ledger.MaxUsed {
			return false
		}
	}
	return true
}

// find returns the entry of the pod of that key, whose hash is h, or -1.
func (t *podTable) find(pods []pod, h uint32, ns int32, name string) int {
	if t.Len() == 0 {
		return -1
	}
	for i := t.At(h); t.Entries[i].Hash != 0; i = t.After(i) {
		if e := &t.Entries[i]; e.Hash == h && pods[e.Item].ns == ns && pods[e.Item].name == name {
			return i
		}
	}
	return -1
}

func (t *podTable) get(pods []pod, h uint32, ns int32, name string) (podID, bool) {
	i := t.find(pods, h, ns, name)
	if i < 0 {
		return noPod, false
	}
	return t.Entries[i].Item, true
}

func errPodExists(p *berth.Pod) error { return fmt.Errorf("%w: %v", ErrPodExists, p.Key()) }

// errAmount says that the sums on node n would be out of range with pod p.
func (g *Graph) errAmount(p *berth.Pod, n topology.NodeID) error {
	return fmt.Errorf("%w: pod %v on node %q", ErrAmount, p.Key(), g.x.Name(n))
}

// hold gives GPUs to a placed pod.
func (g *Graph) hold(id podID, devices uint64) {
	p := &g.pods[id]
	g.gpuHeld[id] = devices
	g.nodes[p.node].extra.gpu.Hold(devices, g.classes[p.class].spec.GPU.Milli)
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
	if !c.need.countable(&g.nodes[old.node]) {
		return g.errAmount(p, old.node)
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

// lookup returns the placed pod of that key.
func (g *Graph) lookup(k berth.PodKey) (podID, bool) {
	ns, ok := g.nsByName[k.Namespace]
	if !ok {
		return 0, false
	}
	return g.podByKey.get(g.pods, g.podByKey.hash(ns, k.Name), ns, k.Name)
}

func (g *Graph) keyOf(p podID) berth.PodKey {
	return berth.PodKey{Namespace: g.nsNames[g.pods[p].ns], Name: g.pods[p].name}
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
