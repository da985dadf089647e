package cache

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Snapshot is the state of a cache at one moment. It never changes, and may be read from several goroutines without locks. Two
// snapshots share what they have in common.
type Snapshot struct {
	cfg affinity.Config
	state
	// asked is told when someone wants the digest; nil for a snapshot that no cache published.
	asked *atomic.Bool
	once  sync.Once
	own   Digest
}

// PodState is a placed pod as the cache knows it. The spec must not be changed.
type PodState struct {
	Spec *berth.Pod
	// Assumed is true until the binding is confirmed, before the Deadline if that is not zero.
	Assumed  bool
	Deadline time.Time
	// Hidden is true while the node is not known.
	Hidden bool
}

// Nomination is the promise of room on a node to a pod that is not placed.
type Nomination struct {
	Pod  *berth.Pod
	Node string
}

// Version is that of the cache at the time of the snapshot.
func (s *Snapshot) Version() uint64 { return s.version }

// Nodes iterates over the nodes by name. Hidden nodes, of which only pods are known, are not among them. The specs must
// not be changed.
func (s *Snapshot) Nodes() iter.Seq[*berth.Node] {
	return func(yield func(*berth.Node) bool) { s.nodes.Ascend(func(n *berth.Node) bool { return yield(n) }) }
}

// Node returns a node. O(log nodes).
func (s *Snapshot) Node(name string) (*berth.Node, bool) { return s.nodes.Get(&berth.Node{Name: name}) }

// Pods iterates over the pods of known nodes by namespace and name, assumed ones included; NodeName names the node. The
// specs must not be changed.
func (s *Snapshot) Pods() iter.Seq[*berth.Pod] {
	return func(yield func(*berth.Pod) bool) {
		s.pods.Ascend(func(p *podRecord) bool { return p.Hidden || yield(p.Spec) })
	}
}

// AllPods iterates over all placed pods by namespace and name, hidden ones included.
func (s *Snapshot) AllPods() iter.Seq[PodState] {
	return func(yield func(PodState) bool) { s.pods.Ascend(func(p *podRecord) bool { return yield(p.PodState) }) }
}

// PodsOn iterates over the pods of a node, known or hidden, by namespace and name. O(log pods) to begin.
func (s *Snapshot) PodsOn(node string) iter.Seq[PodState] {
	return func(yield func(PodState) bool) {
		s.podsOn(node, func(p *podRecord) bool { return yield(p.PodState) })
	}
}

// Pod returns a placed pod. O(log pods).
func (s *Snapshot) Pod(key berth.PodKey) (PodState, bool) {
	p, ok := s.pods.Get(probe(key))
	if !ok {
		return PodState{}, false
	}
	return p.PodState, true
}

// Len returns the numbers of nodes and of pods, hidden ones included.
func (s *Snapshot) Len() (nodes, pods int) { return s.nodes.Len(), s.pods.Len() }

// Namespaces iterates over the known namespaces by name.
func (s *Snapshot) Namespaces() iter.Seq[*berth.Namespace] {
	return func(yield func(*berth.Namespace) bool) {
		for _, name := range sortedNames(s.namespaces) {
			if !yield(s.namespaces[name]) {
				return
			}
		}
	}
}

// Nominations iterates over the promises, by namespace and name of the pods.
func (s *Snapshot) Nominations() iter.Seq[Nomination] {
	return func(yield func(Nomination) bool) { s.nominations.Ascend(func(n Nomination) bool { return yield(n) }) }
}

// Digest returns the digest of all that the snapshot holds. O(1) if the cache kept it: it begins to when a digest is first
// asked for, which costs O(nodes + pods).
func (s *Snapshot) Digest() Digest {
	if s.digests {
		return s.digest
	}
	if s.asked != nil {
		s.asked.Store(true)
	}
	s.once.Do(func() { s.own = s.sum() })
	return s.own
}

// Graph returns a graph of the snapshot, which is the caller's own: what is tried on it concerns nobody else.
// O(nodes + pods).
func (s *Snapshot) Graph() (*affinity.Graph, error) {
	g, err := affinity.New(s.cfg)
	if err != nil {
		return nil, err
	}
	return g, s.fill(g)
}

// fill enters the state into an empty graph.
func (s *Snapshot) fill(g *affinity.Graph) error {
	for ns := range s.Namespaces() {
		if err := g.SetNamespace(ns); err != nil {
			return err
		}
	}
	for n := range s.Nodes() {
		if err := g.AddNode(n); err != nil {
			return err
		}
	}
	for p := range s.Pods() {
		if err := g.Bind(p, p.NodeName); err != nil {
			return err
		}
	}
	for o := range s.Nominations() {
		if err := g.Nominate(o.Pod, o.Node); err != nil {
			return err
		}
	}
	return nil
}
