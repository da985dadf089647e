package numa

import "math/bits"

// MergeHints is the compatible mode: it takes explicit hint lists, one for
// each resource of each provider, and returns what the kubelet's Merge
// returns for them, without going through the product of the lists. A nil
// list is a provider with nothing to say, an empty one a resource that no
// mask can satisfy. Masks may name nodes that the machine lacks.
//
// Cost: O(lists * n * 2^n) for up to 16 nodes, where the masks themselves are
// that many; above, O(total hints * distinct intersections).
func (l *Layout) MergeHints(p Policy, preferClosest bool, lists [][]Hint) (Hint, bool) {
	if p == PolicyNone {
		return Hint{Any: true}, true
	}
	closest := preferClosest && p != PolicySingleNode
	norm := make([][]Hint, len(lists))
	for i, list := range lists {
		switch {
		case list == nil:
			norm[i] = []Hint{{Any: true, Preferred: true}}
		case len(list) == 0:
			norm[i] = []Hint{{Any: true}}
		default:
			norm[i] = list
		}
		if p == PolicySingleNode {
			norm[i] = onlySingle(norm[i])
		}
	}
	return l.finish(p, l.mergeLists(norm, closest))
}

// onlySingle keeps what single-numa-node merges: preferred hints of one node
// or of no affinity.
func onlySingle(list []Hint) []Hint {
	var kept []Hint
	for _, h := range list {
		if h.Preferred && (h.Any || h.Nodes.Len() == 1) {
			kept = append(kept, h)
		}
	}
	return kept
}

func (l *Layout) mergeLists(lists [][]Hint, closest bool) Hint {
	for _, list := range lists {
		if len(list) == 0 {
			return Hint{Nodes: l.all}
		}
	}
	if m, ok := l.preferredOfLists(lists, closest); ok {
		return Hint{Nodes: m, Preferred: true}
	}
	c := chooser{l: l, closest: closest}
	for _, list := range lists {
		narrowest := MaxNodeID + 2 // an empty mask, too, counts as narrow
		for i := range list {
			if !list[i].Any {
				narrowest = min(narrowest, list[i].Nodes.Len())
			}
		}
		if narrowest <= MaxNodeID+1 {
			c.best = max(c.best, narrowest)
		}
	}
	if len(l.nodeIDs) <= denseLimit {
		l.denseIntersections(lists, &c)
	} else {
		l.sparseIntersections(lists, &c)
	}
	if !c.have {
		return Hint{Nodes: l.all}
	}
	return Hint{Nodes: c.mask}
}

// preferredOfLists finds the least mask that every list prefers; a list that
// prefers no affinity agrees with any mask.
func (l *Layout) preferredOfLists(lists [][]Hint, closest bool) (Mask, bool) {
	votes := map[Mask]int{}
	last := map[Mask]int{} // the last list that voted, to count each list once
	free := 0              // lists that agree with any mask
	wild := make([]bool, len(lists))
	for i, list := range lists {
		for _, h := range list {
			if h.Any && h.Preferred {
				wild[i] = true
			}
		}
		if wild[i] {
			free++
		}
	}
	var best Mask
	found := false
	offer := func(m Mask) {
		m = m.And(l.all)
		if !m.IsEmpty() && (!found || l.better(&m, &best, closest)) {
			best, found = m, true
		}
	}
	if free == len(lists) {
		offer(l.all)
	}
	for i, list := range lists {
		for _, h := range list {
			if h.Any || !h.Preferred {
				continue
			}
			if seen, ok := last[h.Nodes]; ok && seen == i {
				continue
			}
			last[h.Nodes] = i
			if !wild[i] {
				votes[h.Nodes]++
			}
			if votes[h.Nodes] == len(lists)-free {
				offer(h.Nodes)
			}
		}
	}
	return best, found
}

// denseLimit is the number of nodes up to which a table over all masks is
// smaller than the lists that it replaces.
const denseLimit = 16

// denseIntersections offers every intersection of one mask a list. The sets
// of masks are tables over 2^n; the intersections of two sets are their
// convolution over AND, which the zeta transform turns into a product
// (Björklund, Husfeldt, Kaski, Koivisto: Fourier meets Möbius, STOC 2007).
func (l *Layout) denseIntersections(lists [][]Hint, c *chooser) {
	n := len(l.nodeIDs)
	size := 1 << n
	reach := make([]int64, size)
	next := make([]int64, size)
	reach[size-1] = 1
	for _, list := range lists {
		clear(next)
		for i := range list {
			next[l.dense(&list[i])] = 1
		}
		superset(reach, n, 1)
		superset(next, n, 1)
		for i := range reach {
			reach[i] *= next[i]
		}
		superset(reach, n, -1)
		for i := range reach {
			reach[i] = min(reach[i], 1)
		}
	}
	for bitset := 1; bitset < size; bitset++ {
		if reach[bitset] != 0 {
			m := l.sparse(bitset)
			c.offer(&m)
		}
	}
}

// superset adds (or, with sign -1, takes back) to each entry the entries of
// all its supersets.
func superset(f []int64, n int, sign int64) {
	for b := range n {
		bit := 1 << b
		for i := range f {
			if i&bit == 0 {
				f[i] += sign * f[i|bit]
			}
		}
	}
}

func (l *Layout) dense(h *Hint) int {
	if h.Any {
		return 1<<len(l.nodeIDs) - 1
	}
	m := 0
	for i, id := range l.nodeIDs {
		if h.Nodes.Has(id) {
			m |= 1 << i
		}
	}
	return m
}

func (l *Layout) sparse(bitset int) Mask {
	var m Mask
	for ; bitset != 0; bitset &= bitset - 1 {
		m.Add(l.nodeIDs[bits.TrailingZeros(uint(bitset))])
	}
	return m
}

// sparseIntersections does the same on sets of masks, for machines where a
// table over all masks would not fit but the lists are short.
func (l *Layout) sparseIntersections(lists [][]Hint, c *chooser) {
	reach := map[Mask]struct{}{l.all: {}}
	for _, list := range lists {
		masks := map[Mask]struct{}{}
		for _, h := range list {
			if h.Any {
				masks[l.all] = struct{}{}
			} else {
				masks[h.Nodes.And(l.all)] = struct{}{}
			}
		}
		next := map[Mask]struct{}{}
		for a := range reach {
			for b := range masks {
				if m := a.And(b); !m.IsEmpty() {
					next[m] = struct{}{}
				}
			}
		}
		reach = next
	}
	for m := range reach {
		c.offer(&m)
	}
}
