package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// dirtyLog is the order in which nodes changed. Who follows it holds a position, and looks again at the nodes from
// there on; who is too far behind starts afresh.
type dirtyLog struct {
	nodes []topology.NodeID
	// static are the positions, ascending, of the few entries for which more than resources, ports and counts changed: labels,
	// taints, capacity, nominations.
	static []int64
	first  int64 // position of nodes[0]
	read   int64 // the furthest position that anyone read to
	// paused while a what-if is tried that will be undone.
	paused bool
}

func (l *dirtyLog) end() int64 { return l.first + int64(len(l.nodes)) }

// touch notes that pods of node n, or counts of its domains, changed.
func (g *Graph) touch(n topology.NodeID) { g.log.add(n, false, 2*g.x.Cap()+1024) }

// touchAll notes that anything of node n may have changed.
func (g *Graph) touchAll(n topology.NodeID) { g.log.add(n, true, 2*g.x.Cap()+1024) }

// add appends an entry; at the limit it forgets the older half.
func (l *dirtyLog) add(n topology.NodeID, static bool, limit int) {
	if l.paused {
		return
	}
	if k := len(l.nodes); k > 0 && l.nodes[k-1] == n && l.end() > l.read {
		if static { // nobody has seen the last entry yet
			l.markStatic()
		}
		return
	}
	if len(l.nodes) >= limit {
		l.forget(len(l.nodes) / 2)
	}
	l.nodes = append(l.nodes, n)
	if static {
		l.markStatic()
	}
}

// markStatic notes that the last entry is a static one.
func (l *dirtyLog) markStatic() {
	if end := l.end(); l.staticEnd() < end {
		l.static = append(l.static, end-1)
	}
}

// forget drops the oldest entries.
//
//go:noinline
func (l *dirtyLog) forget(n int) {
	l.first += int64(n)
	l.nodes = append(l.nodes[:0], l.nodes[n:]...)
	i, _ := slices.BinarySearch(l.static, l.first)
	l.static = append(l.static[:0], l.static[i:]...)
}

// staticEnd is the position after the last static entry.
func (l *dirtyLog) staticEnd() int64 {
	if n := len(l.static); n > 0 {
		return l.static[n-1] + 1
	}
	return l.first
}

// isStatic reports whether the entry at a position is a static one.
func (l *dirtyLog) isStatic(at int64) bool {
	_, ok := slices.BinarySearch(l.static, at)
	return ok
}

// touchDomain notes that a count of the domain changed, for those who follow its key node by node.
func (g *Graph) touchDomain(d topology.Domain) {
	if int(d.Key) >= len(g.fine) || g.fine[d.Key] == 0 {
		return
	}
	for n := range g.x.Nodes(d) {
		g.touch(n)
	}
}
