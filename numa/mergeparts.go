package numa

// preferred finds the best mask that every resource prefers: a mask of the
// size that each needs on an empty machine, holding each request as it is
// now. A socket-aligned resource also accepts masks of any size on the least
// number of packages.
func (m *merger) preferred() (Mask, bool) {
	size := 0 // of all resources that insist on one
	aligned := -1
	for i, q := range m.needs {
		if m.fits[i].Narrowest == 0 {
			return Mask{}, false
		}
		if q.sockets && m.socketSpan(i) > 0 {
			aligned = i
			continue
		}
		if size != 0 && size != m.fits[i].Preferred {
			return Mask{}, false
		}
		size = m.fits[i].Preferred
	}
	from, to := size, size
	if size == 0 {
		from, to = 1, len(m.nodeIDs)
	}
	for k := from; k <= to; k++ {
		span := 0
		if aligned >= 0 && m.fits[aligned].Preferred != k {
			span = m.socketSpan(aligned)
		}
		if mask, ok := m.preferredOf(k, span); ok {
			return mask, true
		}
	}
	return Mask{}, false
}

// preferredOf finds the best mask of one size, in the ungrouped nodes or as
// one whole group; span, if not 0, is the number of packages it has to span.
func (m *merger) preferredOf(size, span int) (Mask, bool) {
	var best Mask
	found := false
	grouped := false
	for _, q := range m.needs {
		grouped = grouped || q.grouped
	}
	for g := range m.region {
		if g > 0 && (!grouped || len(m.region[g]) != size) {
			continue
		}
		nodes := m.common(g, grouped)
		if len(nodes) < size {
			continue
		}
		ws := m.mem.lists.take(len(m.needs))
		for i, q := range m.needs {
			ws[i] = q.free
		}
		cover := newCoverRule(nodes, size, m.mem, ws...)
		if span > 0 {
			cover.sockets = m.newSocketRule(nodes, span)
		}
		mask, ok := m.find(nodes, size, cover, cover)
		if ok && (!found || m.better(&mask, &best, m.cfg.PreferClosest)) {
			best, found = mask, true
		}
	}
	return best, found
}

// common lists the nodes that all resources draw masks from, in one region
// if any resource is grouped.
func (m *merger) common(g int, grouped bool) []int32 {
	nodes := m.mem.index.take(len(m.nodeIDs))[:0]
	for n := range m.nodeIDs {
		ok := !grouped || int(m.groupOf[n]) == g
		for _, q := range m.needs {
			ok = ok && q.allowed[n]
		}
		if ok {
			nodes = append(nodes, int32(n))
		}
	}
	return nodes
}

func (m *merger) newSocketRule(nodes []int32, span int) *socketRule {
	r := &socketRule{want: span, count: make([]int, len(m.socket)), of: make([][]int32, len(nodes))}
	for i, n := range nodes {
		for _, s := range m.node[n].segments {
			r.of[i] = append(r.of[i], m.segments[s].socket)
		}
	}
	return r
}

// find runs one search. covers tell candidates apart, if distances and
// packages do not.
func (m *merger) find(nodes []int32, size int, r rule, covers ...*coverRule) (Mask, bool) {
	s := search{candidates: nodes, size: size, rule: r, work: &m.work, mem: m.mem}
	if m.cfg.PreferClosest {
		n := len(m.nodeIDs)
		dist := func(i, j int) int64 { return int64(m.dist[int(nodes[i])*n+int(nodes[j])]) }
		s.measure(
			func(i int) int64 { return dist(i, i) },
			func(i, j int) int64 { return dist(i, j) + dist(j, i) })
	} else {
		s.findTwins(covers...)
	}
	in, ok := s.run()
	if !ok {
		return Mask{}, false
	}
	var mask Mask
	for i, taken := range in {
		if taken {
			mask.Add(m.nodeIDs[nodes[i]])
		}
	}
	return mask, true
}

// reachable finds the best intersection of one mask a resource, resources
// that no mask holds left aside: the size nearest to the largest of the
// narrowest sizes, smaller before larger.
func (m *merger) reachable() (Mask, bool) {
	aim := 0
	open := make([]*need, 0, len(m.needs))
	for i, q := range m.needs {
		aim = max(aim, m.fits[i].Narrowest)
		if m.fits[i].Narrowest > 0 {
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return m.all, true
	}
	sets := m.reachSets(open)
	most := 0
	for _, s := range sets {
		most = max(most, len(s.nodes))
	}
	for k := min(aim, most); k >= 1; k-- {
		if mask, ok := m.reachOf(sets, k); ok {
			return mask, true
		}
	}
	for k := aim + 1; k <= most; k++ {
		if mask, ok := m.reachOf(sets, k); ok {
			return mask, true
		}
	}
	return Mask{}, false
}

// reachSet is one region with the nodes that intersections can keep there.
type reachSet struct {
	nodes []int32
	open  []*need
	fixed bool // grouped resources take the region whole
}

func (m *merger) reachSets(open []*need) []reachSet {
	grouped := false
	for _, q := range open {
		grouped = grouped || q.grouped
	}
	var sets []reachSet
	set := m.mem.flags.take(len(m.nodeIDs))
	for g := range m.region {
		if g > 0 && !grouped {
			break
		}
		rs := reachSet{open: open, fixed: g > 0, nodes: m.mem.index.take(len(m.nodeIDs))[:0]}
		for n := range m.nodeIDs {
			ok := !grouped || int(m.groupOf[n]) == g
			for _, q := range open {
				ok = ok && q.allowed[n]
			}
			if ok {
				rs.nodes = append(rs.nodes, int32(n))
			}
		}
		ok := len(rs.nodes) > 0
		for _, q := range open {
			if q.grouped {
				ok = ok && m.regionHolds(q, g, set)
			}
		}
		if ok {
			sets = append(sets, rs)
		}
	}
	return sets
}

// regionHolds reports whether a grouped resource has any mask in region g.
func (m *merger) regionHolds(q *need, g int, set []bool) bool {
	if g > 0 {
		return m.wholeHolds(q, g, set)
	}
	nodes := m.inRegion(q, 0)
	for _, n := range nodes {
		set[n] = true
	}
	ok := holds(q.free, set)
	for _, n := range nodes {
		set[n] = false
	}
	return ok
}

func (m *merger) reachOf(sets []reachSet, size int) (Mask, bool) {
	var best Mask
	found := false
	for _, rs := range sets {
		if len(rs.nodes) < size {
			continue
		}
		r := &reachRule{work: &m.work, mem: m.mem, fixed: m.mem.flags.take(len(rs.open))}
		r.alone = make([]*coverRule, len(rs.open))
		for i, q := range rs.open {
			r.alone[i] = newCoverRule(rs.nodes, size, m.mem, q.free)
			r.fixed[i] = rs.fixed && q.grouped
		}
		r.spares = func() []*spare {
			parts := make([]*spare, len(rs.open))
			for i, q := range rs.open {
				parts[i] = m.newSpare(rs, q, r.alone[i].dims[:r.alone[i].own])
			}
			return parts
		}
		mask, ok := m.find(rs.nodes, size, r, r.alone...)
		if ok && (!found || m.better(&mask, &best, m.cfg.PreferClosest)) {
			best, found = mask, true
		}
	}
	return best, found
}

// newSpare restricts a grouped resource to its region: it keeps nothing
// outside, and inside it keeps a group whole.
func (m *merger) newSpare(rs reachSet, q *need, dims []coverDim) *spare {
	if !q.grouped {
		return newSpare(dims, q, false, m.mem)
	}
	inside := *q
	inside.allowed = m.mem.flags.take(len(q.allowed))
	g := int(m.groupOf[rs.nodes[0]])
	for n, ok := range q.allowed {
		inside.allowed[n] = ok && int(m.groupOf[n]) == g
	}
	return newSpare(dims, &inside, rs.fixed, m.mem)
}
