package cache

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// AddNode enters a node; the pods that were known for it appear with it.
// The errors are a *berth.Fault, ErrNodeExists, or affinity.ErrDevices if known pods hold GPUs that it lacks or the same ones,
// and affinity.ErrAmount if their requests can't be added up. O(its pods).
func (c *Cache) AddNode(node *berth.Node) error {
	if err := berth.ValidateNode(node).Err(); err != nil {
		return err
	}
	return c.withNode(node.Name, node, func(n *nodeEntry) (Event, error) { return c.addNode(n, node) })
}

// UpdateNode replaces the spec of a node, which moves to another shard if its label says so. The errors are a *berth.Fault,
// ErrUnknownNode or affinity.ErrDevices. O(1), or O(its pods) if it has GPUs.
func (c *Cache) UpdateNode(node *berth.Node) error {
	if err := berth.ValidateNode(node).Err(); err != nil {
		return err
	}
	return c.withNode(node.Name, node, func(n *nodeEntry) (Event, error) { return c.updateNode(n, node) })
}

// RemoveNode takes a node out, or returns ErrUnknownNode. Its pods are remembered and come back with the node; promises of
// room on it end. O(promises).
func (c *Cache) RemoveNode(name string) error {
	return c.withNode(name, nil, func(n *nodeEntry) (Event, error) { return c.removeNode(n) })
}

// withNode calls f with the entry of a node, while its shard and that of its new spec, if any, are locked, and tells what f did.
func (c *Cache) withNode(name string, next *berth.Node, f func(*nodeEntry) (Event, error)) error {
	for {
		n := c.findOrMake(name)
		var locks lockset
		s := n.shard.Load()
		locks.add(&s.lock)
		if next != nil {
			locks.add(&c.shardOf(next).lock)
		}
		locks.lock()
		if n.dead || n.shard.Load() != s {
			locks.unlock()
			continue
		}
		e, err := f(n)
		if err == nil {
			c.journal.append(e)
		}
		c.drop(n)
		locks.unlock()
		return err
	}
}

func (c *Cache) shardOf(n *berth.Node) *shard {
	value, ok := n.Labels[c.cfg.ShardKey]
	return c.shards.of(value, ok)
}

// addNode, updateNode and removeNode make the change and return the event that tells of it. The shards are locked.
func (c *Cache) addNode(n *nodeEntry, spec *berth.Node) (Event, error) {
	if n.spec != nil {
		return Event{}, fmt.Errorf("%w: %q", ErrNodeExists, spec.Name)
	}
	n.open(spec)
	bound, err := n.admitAll()
	if err != nil {
		n.open(nil)
		return Event{}, err
	}
	n.spec = spec
	n.shard.Store(c.shardOf(spec))
	return Event{Kind: NodeAdded, Node: spec, bound: bound}, nil
}

// admitAll charges an empty node for the pods that were known for it, or for none. Those that name their GPUs come first, for
// others take what is left.
func (n *nodeEntry) admitAll() ([]*berth.Pod, error) {
	pods := slices.SortedFunc(slices.Values(n.pods), func(a, b *podEntry) int {
		return cmp.Or(cmp.Compare(len(b.spec.GPU.Devices), len(a.spec.GPU.Devices)), a.spec.Key().Compare(b.spec.Key()))
	})
	devices := make([]uint64, len(pods))
	for i, e := range pods {
		var err error
		if devices[i], err = n.admit(e.spec); err != nil {
			return nil, err
		}
		n.charge(e.spec, devices[i], +1)
	}
	bound := make([]*berth.Pod, len(pods))
	for i, e := range pods {
		e.devices, e.spec = devices[i], holding(e.spec, devices[i])
		bound[i] = e.spec
	}
	return bound, nil
}

func (c *Cache) updateNode(n *nodeEntry, spec *berth.Node) (Event, error) {
	if n.spec == nil {
		return Event{}, fmt.Errorf("%w: %q", ErrUnknownNode, spec.Name)
	}
	if n.spec.GPUs.Count > 0 || spec.GPUs.Count > 0 {
		if err := n.regrade(spec); err != nil {
			return Event{}, err
		}
	}
	n.spec = spec
	n.shard.Store(c.shardOf(spec))
	return Event{Kind: NodeUpdated, Node: spec}, nil
}

func (c *Cache) removeNode(n *nodeEntry) (Event, error) {
	if n.spec == nil {
		return Event{}, fmt.Errorf("%w: %q", ErrUnknownNode, n.name)
	}
	n.spec = nil
	n.open(nil)
	for _, p := range n.promises {
		p.kept = false
	}
	n.promises = nil
	return Event{Kind: NodeRemoved, Name: n.name}, nil
}
