package cache

import (
	"cmp"
	"maps"

	"github.com/google/btree"

	"github.com/berth-go/berth"
)

// state is what the events up to a version add up to, in trees that are copied in O(1) and share what they have in common
// afterwards.
type state struct {
	version     uint64
	nodes       *btree.BTreeG[*berth.Node]
	pods        *btree.BTreeG[*podRecord] // by key
	byNode      *btree.BTreeG[*podRecord] // by node, then key
	namespaces  map[string]*berth.Namespace
	nominations *btree.BTreeG[Nomination]
	// digest is kept once someone has asked for it.
	digest  Digest
	digests bool
}

// podRecord is a pod of a state; it is never changed.
type podRecord struct {
	PodState
	key berth.PodKey
}

// degree of the trees: wide enough that a million pods are four levels, narrow enough that copying a path stays cheap.
const degree = 16

func newState() state {
	return state{
		nodes:      btree.NewG(degree, func(a, b *berth.Node) bool { return a.Name < b.Name }),
		pods:       btree.NewG(degree, func(a, b *podRecord) bool { return a.key.Compare(b.key) < 0 }),
		byNode:     btree.NewG(degree, beforeOnNode),
		namespaces: make(map[string]*berth.Namespace),
		nominations: btree.NewG(degree, func(a, b Nomination) bool {
			return a.Pod.Key().Compare(b.Pod.Key()) < 0
		}),
	}
}

func beforeOnNode(a, b *podRecord) bool {
	return cmp.Or(cmp.Compare(a.Spec.NodeName, b.Spec.NodeName), a.key.Compare(b.key)) < 0
}

// clone returns a copy, in O(1).
func (s *state) clone() state {
	c := *s
	c.nodes, c.pods, c.byNode, c.nominations = s.nodes.Clone(), s.pods.Clone(), s.byNode.Clone(), s.nominations.Clone()
	return c
}

// probe is a record to look up a key with.
func probe(key berth.PodKey) *podRecord { return &podRecord{key: key} }

func (s *state) podsOn(node string, yield func(*podRecord) bool) {
	first := &podRecord{PodState: PodState{Spec: &berth.Pod{NodeName: node}}}
	s.byNode.AscendGreaterOrEqual(first, func(p *podRecord) bool { return p.Spec.NodeName == node && yield(p) })
}

// apply makes the change that an event tells of. O(log pods), for nodes times their pods.
func (s *state) apply(e *Event) {
	s.version = e.Version
	switch e.Kind {
	case NodeAdded:
		s.setNode(e.Node)
		for _, p := range e.bound {
			old, _ := s.pods.Get(probe(p.Key()))
			s.setPod(PodState{Spec: p, Assumed: old.Assumed, Deadline: old.Deadline})
		}
	case NodeUpdated:
		s.setNode(e.Node)
	case NodeRemoved:
		s.removeNode(e.Name)
	case PodAdded, PodConfirmed:
		s.placePod(PodState{Spec: e.Pod})
	case PodAssumed:
		s.placePod(PodState{Spec: e.Pod, Assumed: true, Deadline: e.Deadline})
	case PodUpdated:
		p := PodState{Spec: e.Pod}
		if old, ok := s.pods.Get(probe(e.Pod.Key())); ok {
			p.Assumed, p.Deadline = old.Assumed, old.Deadline
		}
		s.placePod(p)
	case PodRemoved, PodForgotten, PodExpired:
		s.removePod(e.Key)
	case PodNominated:
		s.withdraw(e.Pod.Key())
		s.nominate(Nomination{Pod: e.Pod, Node: e.Name})
	case PodDenominated:
		s.withdraw(e.Key)
	case NamespaceSet:
		s.setNamespace(e.Namespace.Name, e.Namespace)
	case NamespaceRemoved:
		s.setNamespace(e.Name, nil)
	}
}

func (s *state) setNode(n *berth.Node) {
	if old, ok := s.nodes.ReplaceOrInsert(n); ok && s.digests {
		s.digest = s.digest.Sub(digestNode(old))
	}
	if s.digests {
		s.digest = s.digest.Add(digestNode(n))
	}
}

// removeNode takes a node out, hides its pods and ends its promises.
func (s *state) removeNode(name string) {
	if old, ok := s.nodes.Delete(&berth.Node{Name: name}); ok && s.digests {
		s.digest = s.digest.Sub(digestNode(old))
	}
	var pods []*podRecord
	s.podsOn(name, func(p *podRecord) bool { pods = append(pods, p); return true })
	for _, p := range pods {
		hidden := p.PodState
		hidden.Hidden = true
		s.setPod(hidden)
	}
	var ended []berth.PodKey
	s.nominations.Ascend(func(o Nomination) bool {
		if o.Node == name {
			ended = append(ended, o.Pod.Key())
		}
		return true
	})
	for _, key := range ended {
		s.withdraw(key)
	}
}

// placePod enters a pod, hidden if its node is not known, in place of one of the same key. Its promise ends.
func (s *state) placePod(p PodState) {
	p.Hidden = !s.nodes.Has(&berth.Node{Name: p.Spec.NodeName})
	s.setPod(p)
	s.withdraw(p.Spec.Key())
}

func (s *state) setPod(p PodState) {
	r := &podRecord{PodState: p, key: p.Spec.Key()}
	old, replaced := s.pods.ReplaceOrInsert(r)
	if replaced && old.Spec.NodeName != p.Spec.NodeName {
		s.byNode.Delete(old)
	}
	s.byNode.ReplaceOrInsert(r)
	if s.digests {
		if replaced {
			s.digest = s.digest.Sub(digestPod(old.PodState))
		}
		s.digest = s.digest.Add(digestPod(p))
	}
}

func (s *state) removePod(key berth.PodKey) {
	old, ok := s.pods.Delete(probe(key))
	if !ok {
		return
	}
	s.byNode.Delete(old)
	if s.digests {
		s.digest = s.digest.Sub(digestPod(old.PodState))
	}
}

func (s *state) nominate(n Nomination) {
	s.nominations.ReplaceOrInsert(n)
	if s.digests {
		s.digest = s.digest.Add(digestNomination(n))
	}
}

func (s *state) withdraw(key berth.PodKey) {
	if s.nominations.Len() == 0 {
		return
	}
	old, ok := s.nominations.Delete(Nomination{Pod: &berth.Pod{Namespace: key.Namespace, Name: key.Name}})
	if ok && s.digests {
		s.digest = s.digest.Sub(digestNomination(old))
	}
}

// setNamespace enters a namespace, or takes it out if ns is nil. There are few, and they seldom change: the map is copied.
func (s *state) setNamespace(name string, ns *berth.Namespace) {
	old := s.namespaces[name]
	s.namespaces = maps.Clone(s.namespaces)
	if ns == nil {
		delete(s.namespaces, name)
	} else {
		s.namespaces[name] = ns
	}
	if s.digests {
		if old != nil {
			s.digest = s.digest.Sub(digestNamespace(old))
		}
		if ns != nil {
			s.digest = s.digest.Add(digestNamespace(ns))
		}
	}
}

// sum computes the digest from scratch.
func (s *state) sum() Digest {
	var d Digest
	s.nodes.Ascend(func(n *berth.Node) bool { d = d.Add(digestNode(n)); return true })
	s.pods.Ascend(func(p *podRecord) bool { d = d.Add(digestPod(p.PodState)); return true })
	s.nominations.Ascend(func(n Nomination) bool { d = d.Add(digestNomination(n)); return true })
	for _, ns := range s.namespaces {
		d = d.Add(digestNamespace(ns))
	}
	return d
}
