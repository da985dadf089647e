package cache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth"
)

// Assume enters a pod on a node before its binding is confirmed: it counts from now on. The errors are a *berth.Fault,
// ErrUnknownNode, ErrPodExists, affinity.ErrDevices or affinity.ErrAmount.
func (c *Cache) Assume(pod *berth.Pod, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.assume(pod, node)
}

func (c *Cache) assume(pod *berth.Pod, node string) error {
	if e := c.nodes[node]; e == nil || e.spec == nil {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	placed := *pod
	placed.NodeName = node
	return c.enter(&placed, true)
}

// Forget gives up an assumed pod. The errors are ErrUnknownPod and ErrNotAssumed.
func (c *Cache) Forget(key berth.PodKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pods[key]
	switch {
	case e == nil:
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	case !e.assumed:
		return fmt.Errorf("%w: %v", ErrNotAssumed, key)
	}
	return c.leave(e)
}

// AddPod enters an observed pod, on the node that it names, or confirms an assumed one; if that was assumed on another
// node, the observed node wins. The node need not be known yet. The errors are a *berth.Fault, ErrNoNode, ErrPodExists
// affinity.ErrDevices or affinity.ErrAmount.
func (c *Cache) AddPod(pod *berth.Pod) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pod.NodeName == "" {
		return fmt.Errorf("%w: %v", ErrNoNode, pod.Key())
	}
	old := c.pods[pod.Key()]
	switch {
	case old == nil:
		return c.enter(pod, false)
	case !old.assumed:
		return fmt.Errorf("%w: %v", ErrPodExists, pod.Key())
	}
	return c.replace(old, pod)
}

// UpdatePod replaces the spec of a pod that is not assumed. The errors are a *berth.Fault, ErrUnknownPod, ErrNoNode, or
// affinity.ErrDevices or affinity.ErrAmount.
func (c *Cache) UpdatePod(pod *berth.Pod) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pod.NodeName == "" {
		return fmt.Errorf("%w: %v", ErrNoNode, pod.Key())
	}
	old := c.pods[pod.Key()]
	if old == nil || old.assumed {
		return fmt.Errorf("%w: %v", ErrUnknownPod, pod.Key())
	}
	return c.replace(old, pod)
}

// RemovePod takes out a pod, assumed or not, or returns ErrUnknownPod.
func (c *Cache) RemovePod(key berth.PodKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pods[key]
	if e == nil {
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	}
	return c.leave(e)
}

// replace puts pod in the place of old, with the GPUs of old if it asks for the same on the same node and names none. If
// that fails, old is back as it was.
func (c *Cache) replace(old *podEntry, pod *berth.Pod) error {
	version := c.version
	if err := c.leave(old); err != nil {
		return err
	}
	next := *pod
	if was := &old.spec.GPU; pod.NodeName == old.spec.NodeName && len(next.GPU.Devices) == 0 &&
		was.Count == next.GPU.Count && was.Milli == next.GPU.Milli {
		next.GPU.Devices = was.Devices
	}
	err := c.enter(&next, false)
	if err != nil {
		if back := c.enter(old.spec, old.assumed); back != nil {
			return fmt.Errorf("%w (and %v is lost: %w)", err, pod.Key(), back)
		}
		c.version = version
	}
	return err
}

// enter puts a pod on the node that it names.
func (c *Cache) enter(pod *berth.Pod, assumed bool) error {
	key := pod.Key()
	if c.pods[key] != nil {
		return fmt.Errorf("%w: %v", ErrPodExists, key)
	}
	n := c.nodes[pod.NodeName]
	if n != nil && n.spec != nil {
		if err := c.graph.Bind(pod, pod.NodeName); err != nil {
			return err
		}
		pod = c.holding(pod)
	} else if err := berth.ValidatePod(pod).Err(); err != nil {
		return err
	}
	c.graph.Denominate(key)
	c.withdraw(key)
	if n == nil {
		n = &nodeEntry{pods: make(map[berth.PodKey]*podEntry)}
		c.nodes[pod.NodeName] = n
	}
	e := &podEntry{pod, assumed}
	n.pods[key], c.pods[key] = e, e
	c.version++
	return nil
}

// bindAll binds the remembered pods of a node that appears, or none. Those that name their GPUs come first, for others
// take what is left.
func (c *Cache) bindAll(pods map[berth.PodKey]*podEntry, node string) error {
	keys := sortedKeys(pods)
	slices.SortStableFunc(keys, func(a, b berth.PodKey) int {
		return cmp.Compare(len(pods[b].spec.GPU.Devices), len(pods[a].spec.GPU.Devices))
	})
	for i, key := range keys {
		err := c.graph.Bind(pods[key].spec, node)
		if err == nil {
			continue
		}
		for _, key := range keys[:i] {
			err = errors.Join(err, c.graph.Release(key))
		}
		return err
	}
	for _, e := range pods {
		e.spec = c.holding(e.spec)
	}
	return nil
}

// holding returns the spec of a bound pod with the GPUs that it was given, so that a copy of the state gives it the same.
func (c *Cache) holding(pod *berth.Pod) *berth.Pod {
	if pod.GPU.Count == 0 {
		return pod
	}
	held := *pod
	held.GPU.Devices = c.graph.Devices(pod.Key())
	return &held
}

// leave takes a pod off its node, and forgets a node that was only remembered for it.
func (c *Cache) leave(e *podEntry) error {
	key, name := e.spec.Key(), e.spec.NodeName
	n := c.nodes[name]
	if n.spec != nil {
		if err := c.graph.Release(key); err != nil {
			return err
		}
	}
	delete(n.pods, key)
	delete(c.pods, key)
	if n.spec == nil && len(n.pods) == 0 {
		delete(c.nodes, name)
	}
	c.version++
	return nil
}

// Nominate promises a pod that is not placed room on a node (affinity.Graph.Nominate), in place of an earlier promise. It
// ends with Denominate, when the pod is placed and when the node is removed. The errors are a *berth.Fault, ErrUnknownNode
// or ErrPodExists.
func (c *Cache) Nominate(pod *berth.Pod, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.nodes[node]; e == nil || e.spec == nil {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	if c.pods[pod.Key()] != nil {
		return fmt.Errorf("%w: %v", ErrPodExists, pod.Key())
	}
	if err := c.graph.Nominate(pod, node); err != nil {
		return err
	}
	c.withdraw(pod.Key())
	c.nominated = append(c.nominated, nomination{pod, node})
	c.version++
	return nil
}

// Denominate ends the nomination of a pod, if it has one.
func (c *Cache) Denominate(key berth.PodKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graph.Denominate(key)
	c.withdraw(key)
	c.version++
}

// withdraw forgets a promise that the graph has ended.
func (c *Cache) withdraw(key berth.PodKey) {
	c.nominated = slices.DeleteFunc(c.nominated, func(o nomination) bool { return o.pod.Key() == key })
}

func sortedKeys(pods map[berth.PodKey]*podEntry) []berth.PodKey {
	return slices.SortedFunc(maps.Keys(pods), compareKeys)
}

func compareKeys(a, b berth.PodKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
