package numa

import (
	"fmt"
	"math/rand/v2"
)

// The slow, obvious forms of what the package does fast.

// productMerge is the kubelet's algorithm as documented: go through the
// product of the hint lists and keep the better of two merged hints.
func productMerge(l *Layout, lists [][]Hint, closest bool) Hint {
	aim := 0
	for _, list := range lists {
		narrowest := -1
		for _, h := range list {
			if n := h.Nodes.Len(); !h.Any && (narrowest < 0 || n < narrowest) {
				narrowest = n
			}
		}
		aim = max(aim, narrowest)
	}
	best, found := Hint{}, false
	better := func(a, b *Hint) bool {
		if a.Preferred != b.Preferred {
			return a.Preferred
		}
		x, y := a.Nodes.Len(), b.Nodes.Len()
		if !a.Preferred && x != y {
			switch {
			case x == aim || y == aim:
				return x == aim
			case x < aim && y < aim:
				return x > y
			}
		}
		return l.better(&a.Nodes, &b.Nodes, closest)
	}
	var walk func(i int, m Mask, first *Mask, preferred bool)
	walk = func(i int, m Mask, first *Mask, preferred bool) {
		if i == len(lists) {
			h := Hint{Nodes: m, Preferred: preferred}
			if !m.IsEmpty() && (!found || better(&h, &best)) {
				best, found = h, true
			}
			return
		}
		for _, h := range lists[i] {
			if h.Any {
				walk(i+1, m, first, preferred && h.Preferred)
				continue
			}
			f, same := first, true
			if f == nil {
				f = &h.Nodes
			} else {
				same = *f == h.Nodes
			}
			walk(i+1, m.And(h.Nodes), f, preferred && h.Preferred && same)
		}
	}
	walk(0, l.all, nil, true)
	if !found {
		return Hint{Nodes: l.all}
	}
	return best
}

// listHints writes out the masks of a resource, as the kubelet's managers do.
func listHints(l *Layout, r *Resource, groups []Mask) []Hint {
	if len(r.Demands) == 0 {
		return nil
	}
	nodes := r.Nodes
	if nodes.IsEmpty() {
		for _, d := range r.Demands {
			for _, s := range d.Supply {
				nodes = nodes.Or(s.Nodes)
			}
		}
	}
	var ids []int
	for id := range nodes.And(l.all).All() {
		ids = append(ids, id)
	}
	least := len(ids)
	hints := []Hint{}
	for bits := 1; bits < 1<<len(ids); bits++ {
		var m Mask
		for i, id := range ids {
			if bits>>i&1 != 0 {
				m.Add(id)
			}
		}
		if sums(r, &m, true) {
			least = min(least, m.Len())
		}
		if sums(r, &m, false) && (!r.Grouped || groupsAllow(groups, m)) {
			hints = append(hints, Hint{Nodes: m})
		}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].Nodes.Len() == least || r.AlignSockets && onLeastSockets(l, hints[i].Nodes, least)
	}
	return hints
}

func sums(r *Resource, m *Mask, total bool) bool {
	for _, d := range r.Demands {
		sum := int64(0)
		for _, s := range d.Supply {
			if s.Nodes.Intersects(m) {
				if total {
					sum += s.Total
				} else {
					sum += s.Free
				}
			}
		}
		if sum < d.Amount {
			return false
		}
	}
	for i := range r.Must {
		if !total && !m.Intersects(&r.Must[i]) {
			return false
		}
	}
	return true
}

func groupsAllow(groups []Mask, m Mask) bool {
	for _, g := range groups {
		if m.Intersects(&g) && g != m {
			return false
		}
	}
	return true
}

func onLeastSockets(l *Layout, m Mask, least int) bool {
	per := l.cpuNodes / len(l.socket)
	if per == 0 {
		return false
	}
	sockets := map[int32]bool{}
	for id := range m.All() {
		for _, s := range l.node[l.nodeAt[id]].segments {
			sockets[l.segments[s].socket] = true
		}
	}
	return len(sockets) == (least+per-1)/per
}

// gridMachine has nodes of the given ids, each with cores of threads, and
// nodesPerSocket nodes a package. Distances are random and asymmetric.
func gridMachine(rng *rand.Rand, ids []int, cores, threads, nodesPerSocket int) *Machine {
	m := &Machine{}
	cpu, core := 0, 0
	for i, id := range ids {
		m.Nodes = append(m.Nodes, Node{ID: id, Memory: []Memory{{Bytes: 64 << 30}}})
		row := make([]int, len(ids))
		for j := range row {
			row[j] = 10
			if i != j {
				row[j] = []int{11, 12, 20, 21, 32, 255}[rng.IntN(6)]
			}
		}
		m.Distances = append(m.Distances, row)
		for range cores {
			for range threads {
				m.CPUs = append(m.CPUs, CPU{ID: cpu, Core: core, Package: i / nodesPerSocket, Node: id})
				cpu++
			}
			core++
		}
	}
	return m
}

func mustCompile(m *Machine) *Layout {
	l, err := Compile(m)
	if err != nil {
		panic(fmt.Sprint("test machine does not compile: ", err))
	}
	return l
}
