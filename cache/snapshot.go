package cache

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Snapshot is the state of a cache at one moment. It never changes, and may be read from several goroutines.
type Snapshot struct {
	cfg        affinity.Config
	version    uint64
	nodes      []*berth.Node // by name
	pods       []*berth.Pod  // on nodes, by namespace and name
	namespaces []*berth.Namespace
	nominated  []nomination
}

// Snapshot returns the state as it is. O(1) if nothing changed since the last call, else O(nodes + pods, sorted).
func (c *Cache) Snapshot() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snapshot != nil && c.snapshotOf == c.version {
		return c.snapshot
	}
	s := &Snapshot{cfg: c.cfg.Graph, version: c.version}
	for _, e := range c.nodes {
		if e.spec == nil {
			continue
		}
		s.nodes = append(s.nodes, e.spec)
		for _, p := range e.pods {
			s.pods = append(s.pods, p.spec)
		}
	}
	slices.SortFunc(s.nodes, func(a, b *berth.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.pods, func(a, b *berth.Pod) int { return compareKeys(a.Key(), b.Key()) })
	s.namespaces = slices.SortedFunc(maps.Values(c.namespaces), func(a, b *berth.Namespace) int { return cmp.Compare(a.Name, b.Name) })
	s.nominated = slices.Clone(c.nominated)
	c.snapshot, c.snapshotOf = s, c.version
	return s
}

// Version grows with every change of the cache.
func (s *Snapshot) Version() uint64 { return s.version }

// Nodes iterates over the nodes by name. Hidden nodes, of which only pods are known, are not among them. The specs must
// not be changed.
func (s *Snapshot) Nodes() iter.Seq[*berth.Node] { return slices.Values(s.nodes) }

// Pods iterates over the pods of these nodes by namespace and name, assumed ones included; NodeName names the node. The
// specs must not be changed.
func (s *Snapshot) Pods() iter.Seq[*berth.Pod] { return slices.Values(s.pods) }

// Graph returns a graph of the snapshot, which is the caller's own: what is tried on it concerns nobody else.
// O(nodes + pods).
func (s *Snapshot) Graph() (*affinity.Graph, error) {
	g, err := affinity.New(s.cfg)
	if err != nil {
		return nil, err
	}
	for _, ns := range s.namespaces {
		if err := g.SetNamespace(ns); err != nil {
			return nil, err
		}
	}
	for _, n := range s.nodes {
		if err := g.AddNode(n); err != nil {
			return nil, err
		}
	}
	for _, p := range s.pods {
		if err := g.Bind(p, p.NodeName); err != nil {
			return nil, err
		}
	}
	for _, o := range s.nominated {
		if err := g.Nominate(o.pod, o.node); err != nil {
			return nil, err
		}
	}
	return g, nil
}
