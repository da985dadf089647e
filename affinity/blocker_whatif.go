package affinity

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// WhatIf answers for one pod on a graph on which changes are supposed. The changes are made on the graph itself and undone
// by End, so that they cost what they concern and not what there is; until then the graph and its profiles must not be
// used in any other way. What is supposed and undone leaves no trace: answers, orders and kept columns are as before.
//
// A node's images and the scores of nodes are not part of it.
type WhatIf struct {
	p     *Profile
	pod   *berth.Pod
	r     *rules
	log   dirtyLog
	undo  []func()
	gone  map[podID]bool
	added []*addedPod
}

// addedPod is a pod that is supposed to be placed.
type addedPod struct {
	key   berth.PodKey
	class *class
	node  topology.NodeID
}

// WhatIf begins a what-if for a pod, which it keeps until the End. The error is a *berth.Fault. O(spec); O(nodes) if the
// pod's class is new.
func (p *Profile) WhatIf(pod *berth.Pod) (*WhatIf, error) {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return nil, err
	}
	// The rules are compiled before anything is supposed, since a new counter begins with the placed pods. They are kept
	// like those of any pod that the profile was asked about; until the End no plan is made that might take their place.
	p.g.use(cl)
	w := &WhatIf{p: p, pod: pod, r: p.planOf(cl).r, gone: make(map[podID]bool)}
	w.log = p.g.pause()
	return w, nil
}

// End undoes everything.
func (w *WhatIf) End() {
	w.Restore(0)
	w.p.g.resume(w.log)
	w.p.g.unuse(w.r.class)
	w.r = nil
}

// Save returns a point to which Restore can go back.
func (w *WhatIf) Save() int { return len(w.undo) }

// Restore undoes what was supposed since Save.
func (w *WhatIf) Restore(to int) {
	for len(w.undo) > to {
		last := len(w.undo) - 1
		w.undo[last]()
		w.undo = w.undo[:last]
	}
}

// Release supposes that a placed pod goes. The error is ErrUnknownPod.
func (w *WhatIf) Release(key berth.PodKey) error {
	g := w.p.g
	id, ok := g.lookup(key)
	if !ok || w.gone[id] {
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	}
	c, n, held := g.classes[g.pods[id].class], g.pods[id].node, g.gpuHeld[id]
	shift := func(d int64) {
		g.occupy(c, n, d)
		if held != 0 {
			g.nodes[n].extra.gpu.Hold(held, d*c.spec.GPU.Milli)
		}
	}
	shift(-1)
	w.gone[id] = true
	w.undo = append(w.undo, func() {
		shift(+1)
		delete(w.gone, id)
	})
	return nil
}

// Bind supposes that a pod is placed on a node. The errors are a *berth.Fault, ErrUnknownNode, ErrPodExists, ErrAmount or ErrDevices.
func (w *WhatIf) Bind(pod *berth.Pod, node string) error {
	g := w.p.g
	n, ok := g.x.Lookup(node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	if id, ok := g.lookup(pod.Key()); ok && !w.gone[id] ||
		slices.ContainsFunc(w.added, func(a *addedPod) bool { return a.key == pod.Key() }) {
		return fmt.Errorf("%w: %v", ErrPodExists, pod.Key())
	}
	c, err := g.validClass(pod)
	if err != nil {
		return err
	}
	if !c.need.countable(&g.nodes[n]) {
		return g.errAmount(pod, n)
	}
	held := uint64(0)
	if c.spec.GPU.Count > 0 {
		if held = g.lend(c, n); held == 0 {
			return fmt.Errorf("%w: pod %v on node %q", ErrDevices, pod.Key(), node)
		}
	}
	g.use(c)
	g.occupy(c, n, +1)
	a := &addedPod{pod.Key(), c, n}
	w.added = append(w.added, a)
	w.undo = append(w.undo, func() {
		w.added = slices.DeleteFunc(w.added, func(o *addedPod) bool { return o == a })
		g.occupy(c, n, -1)
		if held != 0 {
			g.nodes[n].extra.gpu.Hold(held, -c.spec.GPU.Milli)
		}
		g.unuse(c)
	})
	return nil
}

// Denominate supposes that the nomination of a pod ends. The error is ErrUnknownPod if it has none.
func (w *WhatIf) Denominate(key berth.PodKey) error {
	g := w.p.g
	n, ok := g.nominations[key]
	if !ok {
		return fmt.Errorf("%w: %v is not nominated", ErrUnknownPod, key)
	}
	e := g.nodes[n].extra
	i := slices.IndexFunc(e.nominated, func(o nominated) bool { return o.key == key })
	if i < 0 {
		return fmt.Errorf("%w: %v is not nominated any more", ErrUnknownPod, key)
	}
	o := e.nominated[i]
	e.nominated = slices.Delete(e.nominated, i, i+1)
	w.undo = append(w.undo, func() { e.nominated = slices.Insert(e.nominated, i, o) })
	return nil
}

// UpdateNode supposes that a node has another spec; its images stay as they are, and GPUs must not become fewer. The
// errors are a *berth.Fault, ErrUnknownNode or ErrDevices. Graph.Node returns the spec that it has.
func (w *WhatIf) UpdateNode(spec *berth.Node) error {
	if err := berth.ValidateNode(spec).Err(); err != nil {
		return err
	}
	g := w.p.g
	n, ok := g.x.Lookup(spec.Name)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, spec.Name)
	}
	was := g.Node(n)
	if spec.GPUs.Count < was.GPUs.Count {
		return fmt.Errorf("%w: node %q has %d devices, not %d", ErrDevices, spec.Name, was.GPUs.Count, spec.GPUs.Count)
	}
	var keep []topology.Domain // what the kept groups call these values must be the same after the undo
	for key, value := range was.Labels {
		keep = append(keep, g.x.Acquire(g.x.Key(key), value))
	}
	w.setNode(n, spec)
	w.undo = append(w.undo, func() {
		w.setNode(n, &was)
		for _, d := range keep {
			g.x.Release(d)
		}
	})
	return nil
}

// setNode is Graph.UpdateNode with the pods that are supposed to be there.
func (w *WhatIf) setNode(n topology.NodeID, spec *berth.Node) {
	g := w.p.g
	s := &g.nodes[n]
	if !slices.Equal(g.taintSets[s.taints].taints, spec.Taints) || !g.sameLabels(n, spec.Labels) {
		g.leaveSets(n)
		w.contribute(n, -1)
		g.x.Relabel(n, spec.Labels)
		old := s.taints
		s.taints = g.acquireTaints(spec.Taints)
		g.releaseTaints(old)
		g.enterSets(n)
		w.contribute(n, +1)
	}
	s.unschedulable = spec.Unschedulable
	a := &spec.Allocatable
	s.alloc, s.podsAllowed = amounts{a.MilliCPU, a.Memory, a.EphemeralStorage}, min(a.Pods, math.MaxInt32)
	if s.extra != nil {
		for i := range s.extra.scalars {
			sc := &s.extra.scalars[i]
			sc.alloc = a.Scalar[g.resourceNames[sc.id]]
		}
	}
	for _, name := range sortedKeys(&g.enc, a.Scalar) {
		s.addScalar(g.resource(name)).alloc = a.Scalar[name]
	}
	if s.extra == nil && spec.GPUs.Count == 0 {
		return
	}
	gpu := &s.more().gpu
	gpu.Model = spec.GPUs.Model
	for len(gpu.Free) < spec.GPUs.Count {
		gpu.Free = append(gpu.Free, berth.GPUMilli)
	}
	gpu.Free = gpu.Free[:spec.GPUs.Count]
}

// contribute counts the pods on node n, or takes them out of the counts.
func (w *WhatIf) contribute(n topology.NodeID, d int32) {
	g := w.p.g
	for _, id := range g.nodes[n].pods {
		if !w.gone[id] {
			g.contribute(g.classes[g.pods[id].class], n, d)
		}
	}
	for _, a := range w.added {
		if a.node == n {
			g.contribute(a.class, n, d)
		}
	}
}

// Verdict is Profile.Verdict under what is supposed. O(rules).
func (w *WhatIf) Verdict(node string, rec *Reason) (Verdict, error) {
	n, ok := w.p.g.x.Lookup(node)
	if !ok {
		return Verdict{}, fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	return w.p.verdictFor(w.r, w.pod, n, rec), nil
}

// Blockers is Profile.Blockers under what is supposed; pods that are supposed to be placed are not named.
func (w *WhatIf) Blockers(node string) ([]Blocker, error) {
	n, ok := w.p.g.x.Lookup(node)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	c := collector{p: w.p, r: w.r, pod: w.pod, n: n, gone: w.gone}
	return c.collect(), nil
}
