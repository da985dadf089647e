package topology

import (
	"iter"
	"math/bits"
	"slices"
)

// NodeID is a node as a dense index, from 0.
type NodeID int32

// None is no node.
const None NodeID = -1

const wordBits = 64

// NodeSet is a set of nodes, a bit each. The zero value is the empty set. It grows as needed: n nodes take n/8 bytes.
// Reading methods may run concurrently with each other.
type NodeSet struct {
	words []uint64
}

// NewNodeSet returns the set of the given nodes.
func NewNodeSet(nodes ...NodeID) *NodeSet {
	s := &NodeSet{}
	for _, n := range nodes {
		s.Add(n)
	}
	return s
}

func (s *NodeSet) grow(words int) {
	if words > len(s.words) {
		s.words = append(s.words, make([]uint64, words-len(s.words))...)
	}
}

// Add puts n into the set. O(1) amortised.
func (s *NodeSet) Add(n NodeID) {
	w := int(uint32(n) / wordBits)
	s.grow(w + 1)
	s.words[w] |= 1 << (uint32(n) % wordBits)
}

// Remove takes n out of the set. O(1).
func (s *NodeSet) Remove(n NodeID) {
	if w := int(uint32(n) / wordBits); w < len(s.words) {
		s.words[w] &^= 1 << (uint32(n) % wordBits)
	}
}

// Set adds n if in is true, else removes it. O(1) amortised.
func (s *NodeSet) Set(n NodeID, in bool) {
	if in {
		s.Add(n)
	} else {
		s.Remove(n)
	}
}

// Has reports whether n is in the set. O(1).
func (s *NodeSet) Has(n NodeID) bool {
	w := int(uint32(n) / wordBits)
	return w < len(s.words) && s.words[w]&(1<<(uint32(n)%wordBits)) != 0
}

// Len returns the number of nodes in the set. O(capacity/64), like the rest of the algebra below.
func (s *NodeSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no node.
func (s *NodeSet) Empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Clear empties the set and keeps its memory.
func (s *NodeSet) Clear() { clear(s.words) }

// Fill makes the set that of the nodes 0..n-1.
func (s *NodeSet) Fill(n int) {
	s.grow((n + wordBits - 1) / wordBits)
	clear(s.words)
	for w := 0; w < n/wordBits; w++ {
		s.words[w] = ^uint64(0)
	}
	if rest := n % wordBits; rest > 0 {
		s.words[n/wordBits] = 1<<rest - 1
	}
}

// CopyFrom makes s equal to o, reusing the memory of s.
func (s *NodeSet) CopyFrom(o *NodeSet) {
	s.words = append(s.words[:0], o.words...)
}

// Clone returns a copy of the set.
func (s *NodeSet) Clone() *NodeSet { return &NodeSet{words: slices.Clone(s.words)} }

// Union adds the nodes of o.
func (s *NodeSet) Union(o *NodeSet) {
	s.grow(len(o.words))
	for i, w := range o.words {
		s.words[i] |= w
	}
}

// Intersect keeps only the nodes that are also in o.
func (s *NodeSet) Intersect(o *NodeSet) {
	k := min(len(s.words), len(o.words))
	for i, w := range o.words[:k] {
		s.words[i] &= w
	}
	clear(s.words[k:])
}

// Subtract removes the nodes of o.
func (s *NodeSet) Subtract(o *NodeSet) {
	for i, w := range o.words[:min(len(s.words), len(o.words))] {
		s.words[i] &^= w
	}
}

// Equal reports whether both sets have the same nodes.
func (s *NodeSet) Equal(o *NodeSet) bool {
	a, b := s.words, o.words
	if len(a) > len(b) {
		a, b = b, a
	}
	if !slices.Equal(a, b[:len(a)]) {
		return false
	}
	return !slices.ContainsFunc(b[len(a):], func(w uint64) bool { return w != 0 })
}

// Subset reports whether all nodes of s are in o.
func (s *NodeSet) Subset(o *NodeSet) bool {
	k := min(len(s.words), len(o.words))
	for i, w := range s.words[:k] {
		if w&^o.words[i] != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.words[k:], func(w uint64) bool { return w != 0 })
}

// Retain keeps of each 64 nodes that share a word those that keep returns. It is called in ascending order where there are
// any: bit i of present is node first+i. Bits that are not present are ignored in what it returns.
func (s *NodeSet) Retain(keep func(first NodeID, present uint64) uint64) {
	for i, w := range s.words {
		if w != 0 {
			s.words[i] = w & keep(NodeID(i*wordBits), w)
		}
	}
}

// Next returns the lowest node of the set that is at least n, or None.
func (s *NodeSet) Next(n NodeID) NodeID {
	w := int(uint32(n) / wordBits)
	if w >= len(s.words) {
		return None
	}
	for word := s.words[w] >> (uint32(n) % wordBits) << (uint32(n) % wordBits); ; word = s.words[w] {
		if word != 0 {
			return NodeID(w*wordBits + bits.TrailingZeros64(word))
		}
		if w++; w == len(s.words) {
			return None
		}
	}
}

// All iterates over the nodes in ascending order. The set may lose nodes meanwhile, but must not gain any.
func (s *NodeSet) All() iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for n := s.Next(0); n != None; n = s.Next(n + 1) {
			if !yield(n) {
				return
			}
		}
	}
}

// AppendTo appends the nodes in ascending order to dst and returns it.
func (s *NodeSet) AppendTo(dst []NodeID) []NodeID {
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, NodeID(w*wordBits+bits.TrailingZeros64(word)))
		}
	}
	return dst
}
