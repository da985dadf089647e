package topology

import (
	"iter"
	"slices"
)

// posting is the set of the nodes of one domain. Most domains of a unique key hold one node, so one node is stored in
// place; a few are a sorted list; many, as measured against the whole index, are a bitset.
type posting struct {
	n    int32
	one  NodeID
	many *manyNodes
}

// manyNodes holds two nodes or more: list while it is short, else set.
type manyNodes struct {
	list []NodeID
	set  *NodeSet
}

// listMax is where a list turns into a bitset. An insertion into a list moves at most this many ids.
const listMax = 256

func (p *posting) add(n NodeID) {
	p.n++
	switch {
	case p.n == 1:
		p.one = n
		return
	case p.many == nil:
		p.many = &manyNodes{list: []NodeID{p.one}}
	}
	m := p.many
	if m.set == nil && len(m.list) == listMax {
		m.set, m.list = NewNodeSet(m.list...), nil
	}
	if m.set != nil {
		m.set.Add(n)
		return
	}
	i, _ := slices.BinarySearch(m.list, n)
	m.list = slices.Insert(m.list, i, n)
}

func (p *posting) remove(n NodeID) {
	p.n--
	m := p.many
	if m == nil {
		return
	}
	if m.set != nil {
		m.set.Remove(n)
		if p.n == listMax/2 {
			m.list, m.set = m.set.AppendTo(nil), nil
		}
	} else {
		i, _ := slices.BinarySearch(m.list, n)
		m.list = slices.Delete(m.list, i, i+1)
	}
	if p.n == 1 {
		p.one, p.many = m.list[0], nil
	}
}

func (p *posting) addTo(s *NodeSet) {
	switch {
	case p.n == 0:
	case p.many == nil:
		s.Add(p.one)
	case p.many.set != nil:
		s.Union(p.many.set)
	default:
		for _, n := range p.many.list {
			s.Add(n)
		}
	}
}

func (p *posting) all() iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		switch {
		case p.n == 0:
		case p.many == nil:
			yield(p.one)
		case p.many.set != nil:
			p.many.set.All()(yield)
		default:
			for _, n := range p.many.list {
				if !yield(n) {
					return
				}
			}
		}
	}
}
