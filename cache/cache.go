package cache

import (
	"fmt"
	"slices"
	"sync"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Config configures a Cache. The zero value is ready to use.
type Config struct {
	// Graph configures the affinity graph.
	Graph affinity.Config
}

// Cache is the observed state of a cluster. Make one with New.
type Cache struct {
	mu    sync.RWMutex
	cfg   Config
	graph *affinity.Graph
	nodes map[string]*nodeEntry
	pods  map[berth.PodKey]*podEntry
	// nominated are the promises, in the order in which they were made.
	nominated []nomination
	// namespaces are the known ones, by name.
	namespaces map[string]*berth.Namespace
	// version counts the changes; snapshot is of version snapshotOf.
	version    uint64
	snapshot   *Snapshot
	snapshotOf uint64
}

// nodeEntry is a node, or the memory of one: spec is nil while pods are known for a node that is not.
type nodeEntry struct {
	spec *berth.Node
	pods map[berth.PodKey]*podEntry
}

// nomination is the promise of room on a node to a pod that is not placed.
type nomination struct {
	pod  *berth.Pod
	node string
}

// podEntry is a placed pod; spec.NodeName names its node.
type podEntry struct {
	spec    *berth.Pod
	assumed bool
}

// New returns an empty cache. The error wraps affinity.ErrConfig.
func New(cfg Config) (*Cache, error) {
	g, err := affinity.New(cfg.Graph)
	if err != nil {
		return nil, err
	}
	return &Cache{
		cfg:        cfg,
		graph:      g,
		nodes:      make(map[string]*nodeEntry),
		pods:       make(map[berth.PodKey]*podEntry),
		namespaces: make(map[string]*berth.Namespace),
	}, nil
}

// Do calls f with the graph, which no one else uses meanwhile: f may decide on it with a Profile or Pipeline of its own,
// but must not update it. What was decided can be assumed afterwards; Decide does both at once.
func (c *Cache) Do(f func(g *affinity.Graph) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f(c.graph)
}

// Decide calls decide with the graph and assumes pod on the node that it returns, both under one lock, so that no other
// decision comes between. GPUs that decide chose it writes to pod.GPU.Devices before it returns. An error of decide is
// returned as it is and changes nothing.
func (c *Cache) Decide(pod *berth.Pod, decide func(g *affinity.Graph) (node string, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	node, err := decide(c.graph)
	if err != nil {
		return err
	}
	return c.assume(pod, node)
}

// AddNode enters a node; the pods that were known for it appear with it.
// The errors are a *berth.Fault, ErrNodeExists, or affinity.ErrDevices if known pods hold GPUs that it lacks or the same ones,
// and affinity.ErrAmount if their requests can't be added up. O(labels + its pods).
func (c *Cache) AddNode(node *berth.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.nodes[node.Name]
	if e != nil && e.spec != nil {
		return fmt.Errorf("%w: %q", ErrNodeExists, node.Name)
	}
	if err := c.graph.AddNode(node); err != nil {
		return err
	}
	if e == nil {
		e = &nodeEntry{pods: make(map[berth.PodKey]*podEntry)}
	}
	if err := c.bindAll(e.pods, node.Name); err != nil {
		if gone := c.graph.RemoveNode(node.Name); gone != nil {
			return fmt.Errorf("%w (and the node stays: %w)", err, gone)
		}
		return err
	}
	e.spec = node
	c.nodes[node.Name] = e
	c.version++
	return nil
}

// UpdateNode replaces the spec of a node. The errors are a *berth.Fault, ErrUnknownNode or affinity.ErrDevices.
func (c *Cache) UpdateNode(node *berth.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.nodes[node.Name]
	if e == nil || e.spec == nil {
		return fmt.Errorf("%w: %q", ErrUnknownNode, node.Name)
	}
	if err := c.graph.UpdateNode(node); err != nil {
		return err
	}
	e.spec = node
	c.version++
	return nil
}

// RemoveNode takes a node out, or returns ErrUnknownNode. Its pods are remembered and come back with the node.
func (c *Cache) RemoveNode(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.nodes[name]
	if e == nil || e.spec == nil {
		return fmt.Errorf("%w: %q", ErrUnknownNode, name)
	}
	for _, key := range sortedKeys(e.pods) {
		if err := c.graph.Release(key); err != nil {
			return err
		}
	}
	if err := c.graph.RemoveNode(name); err != nil {
		return err
	}
	c.nominated = slices.DeleteFunc(c.nominated, func(o nomination) bool { return o.node == name })
	if e.spec = nil; len(e.pods) == 0 {
		delete(c.nodes, name)
	}
	c.version++
	return nil
}

// SetNamespace enters a namespace or replaces its labels. The error is a *berth.Fault.
func (c *Cache) SetNamespace(ns *berth.Namespace) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.graph.SetNamespace(ns); err != nil {
		return err
	}
	c.namespaces[ns.Name] = ns
	c.version++
	return nil
}

// RemoveNamespace forgets a namespace; its pods stay.
func (c *Cache) RemoveNamespace(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graph.RemoveNamespace(name)
	delete(c.namespaces, name)
	c.version++
}
