package score

import (
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// columnCache keeps the columns of Local scorers, by scorer and class of pods, the least recently used going first.
type columnCache struct {
	limit, bytes int
	columns      map[columnKey]*column
	head         column // of the list, least recently used first
}

type columnKey struct {
	scorer string
	class  uint64
}

// column is a kept column and the set of the nodes whose element is up to date.
type column struct {
	key        columnKey
	scores     []int64
	valid      topology.NodeSet
	seen       int64 // position among the graph's changes
	prev, next *column
}

func newColumnCache(limit int) columnCache {
	return columnCache{limit: limit, columns: make(map[columnKey]*column)}
}

// of returns the column of a scorer for a class; what changed in the graph since it was used last is not valid in it.
func (cc *columnCache) of(scorer string, class uint64, g *affinity.Graph) *column {
	if cc.head.next == nil {
		cc.head.prev, cc.head.next = &cc.head, &cc.head
	}
	key := columnKey{scorer, class}
	c := cc.columns[key]
	if c == nil {
		c = &column{key: key}
		cc.columns[key] = c
	} else {
		c.prev.next, c.next.prev = c.next, c.prev
	}
	c.prev, c.next = cc.head.prev, &cc.head
	c.prev.next, cc.head.prev = c, c

	nodes, now, ok := g.Changes(c.seen)
	c.seen = now
	if ok {
		for _, n := range nodes {
			c.valid.Remove(n)
		}
	} else {
		c.valid.Clear()
	}
	if size := g.Topology().Cap(); len(c.scores) < size {
		cc.bytes += 8 * (size - len(c.scores))
		c.scores = append(c.scores, make([]int64, size-len(c.scores))...)
	}
	for cc.bytes > cc.limit && cc.head.next != c {
		old := cc.head.next
		old.prev.next, old.next.prev = old.next, old.prev
		cc.bytes -= 8 * len(old.scores)
		delete(cc.columns, old.key)
	}
	return c
}
