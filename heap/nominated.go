package heap

import (
	"fmt"
	"iter"
	"slices"
)

// nominations remembers for which node an item has made room, until it is placed there.
type nominations[K comparable] struct {
	nodeOf map[K]string
	on     map[string][]K // by when they were nominated
}

func (n *nominations[K]) set(key K, node string) {
	n.remove(key)
	if node == "" {
		return
	}
	if n.nodeOf == nil {
		n.nodeOf, n.on = map[K]string{}, map[string][]K{}
	}
	n.nodeOf[key] = node
	n.on[node] = append(n.on[node], key)
}

func (n *nominations[K]) remove(key K) {
	node, ok := n.nodeOf[key]
	if !ok {
		return
	}
	delete(n.nodeOf, key)
	n.on[node] = slices.DeleteFunc(n.on[node], func(k K) bool { return k == key })
	if len(n.on[node]) == 0 {
		delete(n.on, node)
	}
}

// Nominate remembers that room is being made for an item on a node; it holds until the item is done or deleted. The empty
// node withdraws it. It returns ErrNotFound if the key is not present.
func (q *Queue[K, V, E]) Nominate(key K, node string) error {
	if _, ok := q.units[key]; !ok {
		return fmt.Errorf("%w: key %v", ErrNotFound, key)
	}
	q.nominees.set(key, node)
	return nil
}

// Nominated yields the items that are nominated for a node, the first nominated first. O(their number).
func (q *Queue[K, V, E]) Nominated(node string) iter.Seq[K] {
	return slices.Values(q.nominees.on[node])
}
