package heap

import "math"

// forest holds treaps (Seidel and Aragon, "Randomized search trees", 1996) in one slice: search trees of items by aged, and
// by arrival from the latest to the earliest among equals, so that the last node is the one to leave first. Each node knows
// the earliest arrival below it. Node 0 is no node.
//
// The shape of a treap is random, but here it is drawn from the arrival: the same calls build the same trees.
type forest[K comparable, V any] struct {
	nodes  []treapNode[K, V]
	unused []int32
}

type treapNode[K comparable, V any] struct {
	aged        float64
	arrival     uint64
	since       float64
	left, right int32
	earliest    int32  // the node of the earliest arrival in this tree,
	first       uint64 // and that arrival
	key         K
	value       V
}

// add makes a tree of one node and returns it.
func (f *forest[K, V]) add(key K, value V, since, aged float64, arrival uint64) int32 {
	if len(f.nodes) == 0 {
		f.nodes = append(f.nodes, treapNode[K, V]{})
	}
	var n int32
	if last := len(f.unused) - 1; last >= 0 {
		n, f.unused = f.unused[last], f.unused[:last]
	} else {
		n = int32(len(f.nodes))
		f.nodes = append(f.nodes, treapNode[K, V]{})
	}
	f.nodes[n] = treapNode[K, V]{aged: aged, arrival: arrival, since: since, earliest: n, first: arrival, key: key, value: value}
	return n
}

// free gives a node back that is in no tree.
func (f *forest[K, V]) free(n int32) {
	f.nodes[n] = treapNode[K, V]{}
	f.unused = append(f.unused, n)
}

// weight decides which of two nodes is nearer to the root.
func (f *forest[K, V]) weight(n int32) uint64 {
	s := splitmix(f.nodes[n].arrival)
	return s.next()
}

func (f *forest[K, V]) less(a, b int32) bool {
	na, nb := &f.nodes[a], &f.nodes[b]
	return na.aged < nb.aged || na.aged == nb.aged && na.arrival > nb.arrival
}

// insert puts the single node n into the tree and returns the new root.
func (f *forest[K, V]) insert(tree, n int32) int32 {
	if tree == 0 {
		return n
	}
	if f.weight(n) > f.weight(tree) {
		f.nodes[n].left, f.nodes[n].right = f.split(tree, n)
		return f.update(n)
	}
	if f.less(n, tree) {
		f.nodes[tree].left = f.insert(f.nodes[tree].left, n)
	} else {
		f.nodes[tree].right = f.insert(f.nodes[tree].right, n)
	}
	// Not update: the other child is seldom in the cache.
	if t := &f.nodes[tree]; f.nodes[n].arrival < t.first {
		t.earliest, t.first = n, f.nodes[n].arrival
	}
	return tree
}

// remove takes node n out of the tree, leaves it single, and returns the new root.
func (f *forest[K, V]) remove(tree, n int32) int32 {
	if tree == n {
		rest := f.merge(f.nodes[n].left, f.nodes[n].right)
		f.nodes[n].left, f.nodes[n].right = 0, 0
		f.update(n)
		return rest
	}
	if f.less(n, tree) {
		f.nodes[tree].left = f.remove(f.nodes[tree].left, n)
	} else {
		f.nodes[tree].right = f.remove(f.nodes[tree].right, n)
	}
	if f.nodes[tree].earliest == n {
		f.update(tree)
	}
	return tree
}

// split cuts a tree into the nodes before and after n, which is not in it.
func (f *forest[K, V]) split(tree, n int32) (before, after int32) {
	if tree == 0 {
		return 0, 0
	}
	if f.less(tree, n) {
		f.nodes[tree].right, after = f.split(f.nodes[tree].right, n)
		return f.update(tree), after
	}
	before, f.nodes[tree].left = f.split(f.nodes[tree].left, n)
	return before, f.update(tree)
}

// merge joins two trees of which the first lies before the second.
func (f *forest[K, V]) merge(a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	case f.weight(a) > f.weight(b):
		f.nodes[a].right = f.merge(f.nodes[a].right, b)
		return f.update(a)
	default:
		f.nodes[b].left = f.merge(a, f.nodes[b].left)
		return f.update(b)
	}
}

// update finds the earliest node of a tree from those of its children, and returns the tree.
func (f *forest[K, V]) update(tree int32) int32 {
	n := &f.nodes[tree]
	n.earliest, n.first = tree, n.arrival
	for _, child := range [2]int32{n.left, n.right} {
		if c := &f.nodes[child]; child != 0 && c.first < n.first {
			n.earliest, n.first = c.earliest, c.first
		}
	}
	return tree
}

// top returns the last node of a tree.
func (f *forest[K, V]) top(tree int32) int32 {
	for f.nodes[tree].right != 0 {
		tree = f.nodes[tree].right
	}
	return tree
}

// earliest returns the earliest of the nodes that qualify. If a node qualifies, all after it must, and the last one does.
func (f *forest[K, V]) earliest(tree int32, qualifies func(aged float64) bool) (best int32) {
	first := uint64(math.MaxUint64)
	for tree != 0 {
		n := &f.nodes[tree]
		if !qualifies(n.aged) {
			tree = n.right
			continue
		}
		if n.arrival < first {
			best, first = tree, n.arrival
		}
		if r := &f.nodes[n.right]; n.right != 0 && r.first < first {
			best, first = r.earliest, r.first
		}
		tree = n.left
	}
	return best
}
