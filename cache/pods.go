package cache

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-go/berth"
)

// Assume enters a pod on a node before its binding is confirmed: it counts from now on, until Forget or AddPod. The errors
// are a *berth.Fault, ErrUnknownNode, ErrPodExists, affinity.ErrDevices or affinity.ErrAmount. O(1).
func (c *Cache) Assume(pod *berth.Pod, node string) error {
	return c.AssumeUntil(pod, node, time.Time{})
}

// AssumeUntil is Assume for a pod that Advance gives up at the deadline, unless it is confirmed before. The zero deadline
// is never.
func (c *Cache) AssumeUntil(pod *berth.Pod, node string, deadline time.Time) error {
	if err := berth.ValidatePod(pod).Err(); err != nil {
		return err
	}
	placed := *pod
	placed.NodeName = node
	return c.withPod(pod.Key(), node, func(w *podWork) (Event, error) { return w.assume(&placed, deadline) })
}

// Confirm makes an assumed pod an observed one, as it is. The errors are ErrUnknownPod and ErrNotAssumed. O(1).
func (c *Cache) Confirm(key berth.PodKey) error {
	return c.withPod(key, "", func(w *podWork) (Event, error) {
		if err := w.mustBeAssumed(); err != nil {
			return Event{}, err
		}
		w.settle()
		return Event{Kind: PodConfirmed, Pod: w.old.spec}, nil
	})
}

// Forget gives up an assumed pod. The errors are ErrUnknownPod and ErrNotAssumed. O(1).
func (c *Cache) Forget(key berth.PodKey) error {
	return c.withPod(key, "", func(w *podWork) (Event, error) {
		if err := w.mustBeAssumed(); err != nil {
			return Event{}, err
		}
		w.leave()
		return Event{Kind: PodForgotten, Key: key}, nil
	})
}

// AddPod enters an observed pod, on the node that it names, or confirms an assumed one; if that was assumed on another
// node, the observed node wins. The node need not be known yet. The errors are a *berth.Fault, ErrNoNode, ErrPodExists,
// affinity.ErrDevices or affinity.ErrAmount. O(1).
func (c *Cache) AddPod(pod *berth.Pod) error {
	if err := placeable(pod); err != nil {
		return err
	}
	return c.withPod(pod.Key(), pod.NodeName, func(w *podWork) (Event, error) { return w.add(pod) })
}

// UpdatePod replaces the spec of a pod that is not assumed. The errors are a *berth.Fault, ErrUnknownPod, ErrNoNode, or
// affinity.ErrDevices or affinity.ErrAmount. O(1).
func (c *Cache) UpdatePod(pod *berth.Pod) error {
	if err := placeable(pod); err != nil {
		return err
	}
	return c.withPod(pod.Key(), pod.NodeName, func(w *podWork) (Event, error) {
		if w.old != nil && w.old.assumed {
			return Event{}, fmt.Errorf("%w: %v is only assumed", ErrUnknownPod, pod.Key())
		}
		return w.update(pod)
	})
}

// RemovePod takes out a pod, assumed or not, or returns ErrUnknownPod. O(1).
func (c *Cache) RemovePod(key berth.PodKey) error {
	return c.withPod(key, "", func(w *podWork) (Event, error) { return w.remove() })
}

// Nominate promises a pod that is not placed room on a node (affinity.Graph.Nominate), in place of an earlier promise. It
// ends with Denominate, when the pod is placed and when the node is removed. The errors are a *berth.Fault, ErrUnknownNode
// or ErrPodExists. O(1).
func (c *Cache) Nominate(pod *berth.Pod, node string) error {
	if err := berth.ValidatePod(pod).Err(); err != nil {
		return err
	}
	return c.withPod(pod.Key(), node, func(w *podWork) (Event, error) { return w.nominate(pod) })
}

// Denominate ends the nomination of a pod, if it has one.
func (c *Cache) Denominate(key berth.PodKey) {
	_ = c.withPod(key, "", func(w *podWork) (Event, error) {
		kept := w.promise != nil && w.promise.kept
		w.withdraw()
		if !kept {
			return Event{}, errNothing
		}
		return Event{Kind: PodDenominated, Key: key}, nil
	})
}

func placeable(pod *berth.Pod) error {
	if pod.NodeName == "" {
		return fmt.Errorf("%w: %v", ErrNoNode, pod.Key())
	}
	return berth.ValidatePod(pod).Err()
}

// podWork is what a change of one pod works on, with all that it needs locked.
type podWork struct {
	c      *Cache
	key    berth.PodKey
	hash   uint32
	stripe *stripe
	old    *podEntry  // nil if the pod is not placed
	node   *nodeEntry // that it shall be on; nil if that is not said
	// promise is the pod's, nil if there is none.
	promise *promise
}

// withPod calls f with a pod, placed or not, and the node of the given name, if any, and tells what f did.
func (c *Cache) withPod(key berth.PodKey, node string, f func(*podWork) (Event, error)) error {
	hash := c.hash(&key)
	st := c.stripeOf(hash)
	st.Lock()
	defer st.Unlock()
	for {
		w := podWork{c: c, key: key, hash: hash, stripe: st, old: st.find(hash, &key), promise: st.promises[key]}
		var nodes [3]*nodeEntry
		if w.old != nil {
			nodes[0] = w.old.node
		}
		if node != "" {
			w.node = c.findOrMake(node)
			nodes[1] = w.node
		}
		if w.promise != nil {
			nodes[2] = w.promise.node
		}
		var locks lockset
		var shards [3]*shard
		for i, n := range nodes {
			if n != nil {
				shards[i] = n.shard.Load()
				locks.add(&shards[i].lock)
			}
		}
		locks.lock()
		moved := w.node != nil && w.node.dead
		for i, n := range nodes {
			moved = moved || n != nil && n.shard.Load() != shards[i]
		}
		if moved {
			locks.unlock()
			continue
		}
		e, err := f(&w)
		if err == nil {
			c.journal.append(e)
		}
		for _, n := range nodes {
			if n != nil {
				c.drop(n)
			}
		}
		locks.unlock()
		return err
	}
}

func (w *podWork) mustBeAssumed() error {
	switch {
	case w.old == nil:
		return fmt.Errorf("%w: %v", ErrUnknownPod, w.key)
	case !w.old.assumed:
		return fmt.Errorf("%w: %v", ErrNotAssumed, w.key)
	}
	return nil
}

// assume enters a pod that names its node.
func (w *podWork) assume(pod *berth.Pod, deadline time.Time) (Event, error) {
	switch {
	case w.node == nil || w.node.spec == nil:
		return Event{}, fmt.Errorf("%w: %q", ErrUnknownNode, pod.NodeName)
	case w.old != nil:
		return Event{}, fmt.Errorf("%w: %v", ErrPodExists, w.key)
	}
	if err := w.put(pod); err != nil {
		return Event{}, err
	}
	w.old.assumed = true
	if !deadline.IsZero() {
		w.old.timer = w.c.wheel.add(w.key, deadline)
	}
	return Event{Kind: PodAssumed, Pod: w.old.spec, Deadline: deadline}, nil
}

func (w *podWork) add(pod *berth.Pod) (Event, error) {
	kind := PodAdded
	if w.old != nil {
		if kind = PodConfirmed; !w.old.assumed {
			return Event{}, fmt.Errorf("%w: %v", ErrPodExists, w.key)
		}
	}
	if err := w.put(pod); err != nil {
		return Event{}, err
	}
	w.settle()
	return Event{Kind: kind, Pod: w.old.spec}, nil
}

func (w *podWork) update(pod *berth.Pod) (Event, error) {
	if w.old == nil {
		return Event{}, fmt.Errorf("%w: %v", ErrUnknownPod, w.key)
	}
	if err := w.put(pod); err != nil {
		return Event{}, err
	}
	return Event{Kind: PodUpdated, Pod: w.old.spec}, nil
}

func (w *podWork) remove() (Event, error) {
	if w.old == nil {
		return Event{}, fmt.Errorf("%w: %v", ErrUnknownPod, w.key)
	}
	w.leave()
	return Event{Kind: PodRemoved, Key: w.key}, nil
}

// put places pod on w.node in the place of w.old, if there is one, with the GPUs of old if it asks for the same on the same node and
// names none. It fails before anything is changed. The pod's promise ends.
func (w *podWork) put(pod *berth.Pod) error {
	old, n := w.old, w.node
	if old != nil && old.node == n && len(pod.GPU.Devices) == 0 && len(old.spec.GPU.Devices) > 0 &&
		old.spec.GPU.Count == pod.GPU.Count && old.spec.GPU.Milli == pod.GPU.Milli {
		same := *pod
		same.GPU.Devices = old.spec.GPU.Devices
		pod = &same
	}
	if old != nil && old.node.spec != nil {
		old.node.charge(old.spec, old.devices, -1)
	}
	var devices uint64
	if n.spec != nil {
		var err error
		if devices, err = n.admit(pod); err != nil {
			if old != nil && old.node.spec != nil {
				old.node.charge(old.spec, old.devices, +1)
			}
			return err
		}
		pod = holding(pod, devices)
		n.charge(pod, devices, +1)
	}
	if old == nil {
		w.old = &podEntry{key: w.key}
		w.stripe.pods.Add(w.hash, w.old)
		n.attach(w.old)
	} else if old.node != n {
		old.node.detach(old)
		n.attach(old)
	}
	w.old.spec, w.old.devices = pod, devices
	w.withdraw()
	return nil
}

// settle makes the pod an observed one.
func (w *podWork) settle() {
	w.old.assumed = false
	w.c.wheel.remove(w.old.timer)
	w.old.timer = nil
}

// leave takes the pod off its node.
func (w *podWork) leave() {
	e := w.old
	if e.node.spec != nil {
		e.node.charge(e.spec, e.devices, -1)
	}
	e.node.detach(e)
	w.c.wheel.remove(e.timer)
	w.stripe.pods.Remove(w.stripe.at(w.hash, &w.key))
	w.old = nil
}

func (w *podWork) nominate(pod *berth.Pod) (Event, error) {
	switch {
	case w.node == nil || w.node.spec == nil:
		return Event{}, fmt.Errorf("%w: %q", ErrUnknownNode, w.nodeName())
	case w.old != nil:
		return Event{}, fmt.Errorf("%w: %v", ErrPodExists, w.key)
	}
	w.withdraw()
	p := &promise{pod: pod, node: w.node, kept: true, serial: w.c.Version()}
	w.stripe.promises[w.key] = p
	w.node.promises = append(w.node.promises, p)
	return Event{Kind: PodNominated, Pod: pod, Name: w.node.name}, nil
}

func (w *podWork) nodeName() string {
	if w.node == nil {
		return ""
	}
	return w.node.name
}

// withdraw ends the pod's promise, if it has one.
func (w *podWork) withdraw() {
	if w.promise == nil {
		return
	}
	delete(w.stripe.promises, w.key)
	if w.promise.kept {
		n := w.promise.node
		i := slices.Index(n.promises, w.promise)
		n.promises = slices.Delete(n.promises, i, i+1)
	}
	w.promise = nil
}
