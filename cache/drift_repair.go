package cache

import (
	"fmt"

	"github.com/berth-go/berth"
)

// RepairAction is what Repair did about a drift.
type RepairAction uint8

// The actions.
const (
	// NotRepaired: the state is as it was, for the reason that Repaired.Err gives.
	NotRepaired RepairAction = iota
	// Added: the object is there now.
	Added
	// Updated: the object has the observed spec now.
	Updated
	// Confirmed: the pod was assumed and is observed now, with the observed spec.
	Confirmed
	// Removed: the object is gone. Repaired.Err is set if it should have been updated and could not be put back.
	Removed
	// Forgotten: the assumption was given up.
	Forgotten
)

// String returns the name of the action.
func (a RepairAction) String() string {
	names := [...]string{
		NotRepaired: "not repaired", Added: "added", Updated: "updated", Confirmed: "confirmed", Removed: "removed",
		Forgotten: "forgotten",
	}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("RepairAction(%d)", uint8(a))
}

// Repaired says what became of a drift.
type Repaired struct {
	Drift  Drift
	Action RepairAction
	// Err is why it could not be done; nil if it was.
	Err error
}

// Repair brings a cache to what was observed and says what it did about each drift, in the order of the list. Afterwards Diff
// with the same observation finds only what has an Err, if nobody else changed the cache.
//
// Pods that are not observed go first, so that they are in nobody's way; then come the other pods, first those without
// GPUs, then those that name theirs, last those that take what is left; and then nodes, so that the pods of a new node get
// their GPUs together. What is refused, because two pods exchange GPUs, say, is tried once more after the pods that were
// refused have been taken out; what is refused again is put back as it was. The changes are ordinary ones with events of
// their own, and not one transaction.
//
// O(drifts), and what the changes cost.
func Repair(c *Cache, drifts []Drift) []Repaired {
	r := repair{c: c, done: make([]Repaired, len(drifts)), out: make(map[*Drift]PodState)}
	for i, d := range drifts {
		r.done[i].Drift = d
	}
	extra := func(d *Drift) bool { return d.Kind == Extra }
	r.each(func(d *Drift) bool { return d.Pod != nil && extra(d) }, r.pod)
	r.each(func(d *Drift) bool { return d.Namespace != nil }, r.namespace)
	r.each(func(d *Drift) bool { return d.Node != nil && extra(d) }, r.node)
	for claim := noGPUs; claim <= anyGPUs; claim++ {
		r.each(func(d *Drift) bool { return d.Pod != nil && !extra(d) && claimOf(d.Pod) == claim }, r.pod)
		if claim == namedGPUs {
			r.again()
		}
	}
	r.each(func(d *Drift) bool { return d.Node != nil && !extra(d) }, r.node)
	r.again()
	for i := range r.done {
		if d := &r.done[i]; d.Action == NotRepaired && d.Err == nil {
			d.Err = ErrClock
		}
	}
	return r.done
}

type repair struct {
	c    *Cache
	done []Repaired
	out  map[*Drift]PodState // the pods that were taken out, as they were
}

// claim is what a pod wants of its node's GPUs, in the order in which pods should come.
type claim int

const (
	noGPUs claim = iota
	namedGPUs
	anyGPUs
)

func claimOf(p *berth.Pod) claim {
	switch {
	case p.GPU.Count == 0:
		return noGPUs
	case len(p.GPU.Devices) > 0:
		return namedGPUs
	}
	return anyGPUs
}

// each calls what for the drifts that are meant.
func (r *repair) each(meant func(*Drift) bool, what func(*Drift) (RepairAction, error)) {
	for i := range r.done {
		if d := &r.done[i]; meant(&d.Drift) {
			d.Action, d.Err = what(&d.Drift)
		}
	}
}

// result is an action that may have failed.
func result(action RepairAction, err error) (RepairAction, error) {
	if err != nil {
		return NotRepaired, err
	}
	return action, nil
}

func (r *repair) namespace(d *Drift) (RepairAction, error) {
	switch d.Kind {
	case Extra:
		r.c.RemoveNamespace(d.Namespace.Name)
		return Removed, nil
	case Missing:
		return result(Added, r.c.SetNamespace(d.Namespace))
	}
	return result(Updated, r.c.SetNamespace(d.Namespace))
}

func (r *repair) node(d *Drift) (RepairAction, error) {
	switch d.Kind {
	case Extra:
		return result(Removed, r.c.RemoveNode(d.Node.Name))
	case Missing:
		return result(Added, r.c.AddNode(d.Node))
	}
	return result(Updated, r.c.UpdateNode(d.Node))
}

func (r *repair) pod(d *Drift) (RepairAction, error) {
	switch {
	case d.Kind == Extra && d.Assumed:
		return result(Forgotten, r.c.Forget(d.Pod.Key()))
	case d.Kind == Extra:
		return result(Removed, r.c.RemovePod(d.Pod.Key()))
	case d.Kind == Missing:
		return result(Added, r.c.AddPod(d.Pod))
	case d.Assumed:
		return result(Confirmed, r.c.AddPod(d.Pod))
	}
	return result(Updated, r.c.UpdatePod(d.Pod))
}

// again tries once more what was refused, after the pods of it have been taken out.
func (r *repair) again() {
	refused := make(map[*Drift]bool)
	for i := range r.done {
		d := &r.done[i].Drift
		if r.done[i].Err == nil || d.Kind == Extra {
			continue
		}
		refused[d] = true
		if d.Pod == nil || d.Kind == Missing {
			continue
		}
		if p, ok := r.c.Pod(d.Pod.Key()); ok && r.c.RemovePod(d.Pod.Key()) == nil {
			r.out[d] = p
		}
	}
	r.each(func(d *Drift) bool { return refused[d] && d.Node != nil }, r.node)
	r.each(func(d *Drift) bool { return refused[d] && d.Pod != nil }, r.podAgain)
}

func (r *repair) podAgain(d *Drift) (RepairAction, error) {
	old, out := r.out[d]
	if !out {
		return r.pod(d)
	}
	if err := r.c.AddPod(d.Pod); err != nil {
		return r.back(old, err)
	}
	if d.Assumed {
		return Confirmed, nil
	}
	return Updated, nil
}

// back puts a pod back that was taken out, as it could not be updated because of err. A pod that was assumed on a node which
// is not known any more can't be assumed on it again.
func (r *repair) back(old PodState, err error) (RepairAction, error) {
	var lost error
	if old.Assumed {
		lost = r.c.AssumeUntil(old.Spec, old.Spec.NodeName, old.Deadline)
	} else {
		lost = r.c.AddPod(old.Spec)
	}
	if lost != nil {
		return Removed, fmt.Errorf("%w (and it is gone: %w)", err, lost)
	}
	return NotRepaired, err
}
