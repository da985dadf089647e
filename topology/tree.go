package topology

import (
	"fmt"
	"slices"
)

// Tree arranges nodes by levels of label keys, widest first: region, zone, rack, host. Two nodes share a domain of a
// level if they carry the same values for its key and for those of all wider levels, so that a rack name may occur in
// several zones. A node without the key of a level belongs to no domain there, nor below. A Tree is a view of an Index
// at the time of NewTree.
type Tree struct {
	levels []KeyID
	parent []int32 // of each tree node; the root is 0, its parent -1
	depth  []int32 // 0 for the root, k for a domain of levels[k-1]
	domain []Domain
	leaf   []int32 // of each NodeID: the lowest tree node that holds it
}

// NewTree builds the tree of the given label keys over all nodes of x. O(nodes * levels). The error names a key that
// is empty or given twice.
func NewTree(x *Index, levels ...string) (*Tree, error) {
	t := &Tree{parent: []int32{-1}, depth: []int32{0}, domain: []Domain{{-1, NoValue}}}
	for i, name := range levels {
		if name == "" || slices.Contains(levels[:i], name) {
			return nil, fmt.Errorf("topology: tree level %d: key %q is empty or given twice", i, name)
		}
	}
	for _, name := range levels {
		t.levels = append(t.levels, x.Key(name))
	}
	type edge struct {
		parent int32
		value  ValueID
	}
	children := make(map[edge]int32)
	t.leaf = make([]int32, x.Cap())
	for n := range x.Live().All() {
		at := int32(0)
		for i, k := range t.levels {
			v := x.Value(n, k)
			if v == NoValue {
				break
			}
			e := edge{at, v}
			child, ok := children[e]
			if !ok {
				child = int32(len(t.parent))
				children[e] = child
				t.parent = append(t.parent, at)
				t.depth = append(t.depth, int32(i+1))
				t.domain = append(t.domain, Domain{k, v})
			}
			at = child
		}
		t.leaf[n] = at
	}
	return t, nil
}

// Levels returns the number of levels.
func (t *Tree) Levels() int { return len(t.levels) }

// Common returns the lowest domain that holds both nodes and its level, from 0 for the widest; level -1 if the nodes
// share none. O(levels).
func (t *Tree) Common(a, b NodeID) (Domain, int) {
	x, y := t.leaf[a], t.leaf[b]
	for x != y {
		if t.depth[x] >= t.depth[y] {
			x = t.parent[x]
		} else {
			y = t.parent[y]
		}
	}
	return t.domain[x], int(t.depth[x]) - 1
}

// Distance returns how many levels separate the nodes: 0 if they share a domain of the lowest level, Levels() if they
// share none. It is an ultrametric: Distance(a, c) <= max(Distance(a, b), Distance(b, c)), for nodes that carry every key.
// A node is at distance 0 from itself. O(levels).
func (t *Tree) Distance(a, b NodeID) int {
	if a == b {
		return 0
	}
	_, level := t.Common(a, b)
	return len(t.levels) - 1 - level
}
