package numa

import (
	"fmt"
	"slices"
)

// CPUOptions chooses how CPUs are taken, with the meaning and the exclusions
// of the kubelet's static CPU manager policy options. The zero value packs.
type CPUOptions struct {
	// FullCores (full-pcpus-only) hands out whole physical cores only.
	FullCores bool
	// AcrossNodes (distribute-cpus-across-numa) spreads a request that needs
	// several nodes evenly over them.
	AcrossNodes bool
	// AcrossCores (distribute-cpus-across-cores) takes CPUs in the order of
	// their ids inside a package instead of filling cores up.
	AcrossCores bool
	// AlignSockets (align-by-socket) prefers the CPUs of the packages that
	// the hint touches, not only those of its nodes.
	AlignSockets bool
	// UncoreCache (prefer-align-cpus-by-uncorecache) fills up last-level
	// caches before cores.
	UncoreCache bool
	// StrictReserved (strict-cpu-reservation) also keeps reserved CPUs out
	// of the shared pool. It changes what SharedCPUs reports.
	StrictReserved bool
	// Compatible repeats the kubelet's known faults instead of avoiding
	// them: cores and packages are taken to be of one size, the mean
	// (kubernetes#140495), and combinations of 4, 6 and 7 nodes may be
	// overwritten while they are compared (kubernetes#141238). Where the
	// kubelet would loop for ever (kubernetes#140730) the result is
	// [ErrEndless].
	Compatible bool
}

func (o CPUOptions) validate() error {
	exclude := func(a, b bool, names string) error {
		if a && b {
			return fmt.Errorf("%w: CPUOptions %s exclude each other", ErrConfig, names)
		}
		return nil
	}
	for _, err := range []error{
		exclude(o.FullCores, o.AcrossCores, "FullCores and AcrossCores"),
		exclude(o.AcrossNodes, o.AcrossCores, "AcrossNodes and AcrossCores"),
		exclude(o.UncoreCache, o.AcrossCores, "UncoreCache and AcrossCores"),
		exclude(o.UncoreCache, o.AcrossNodes, "UncoreCache and AcrossNodes"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// threadsPerCore is the kubelet's notion of a core's size: all CPUs by all
// cores, rounded down.
func (l *Layout) threadsPerCore() int { return len(l.cpuIDs) / max(1, len(l.core)) }

// TakeCPUs chooses n of the free CPUs by the kubelet's algorithm
// (cpumanager, cpu_assignment.go): whole packages, nodes, last-level caches
// (option) and cores first, the fullest first, so that what stays free stays
// together. Only CPUs of the machine count as free. It changes nothing.
//
// Cost: packed O(CPUs log CPUs). Distributed, in addition, O(nodes^3) in
// machines whose nodes have about equal numbers of free CPUs and O(nodes^4)
// in any; never the number of combinations.
//
// Errors wrap [ErrNotEnough], [ErrConfig] or, with CPUOptions.Compatible,
// [ErrEndless].
func (l *Layout) TakeCPUs(free CPUSet, n int, o CPUOptions) (CPUSet, error) {
	if err := o.validate(); err != nil {
		return CPUSet{}, err
	}
	if n < 0 {
		return CPUSet{}, fmt.Errorf("%w: TakeCPUs: n = %d is negative", ErrRequest, n)
	}
	t := l.newTaker(free, o)
	if err := t.distributeOrPack(n); err != nil {
		return CPUSet{}, err
	}
	return t.taken, nil
}

// TakeAlignedCPUs is TakeCPUs inside the given nodes as far as they go, and
// anywhere for the rest: what the kubelet does with a merged hint (cpumanager,
// allocateCPUs). An Any hint aligns to nothing.
func (l *Layout) TakeAlignedCPUs(free CPUSet, n int, h Hint, o CPUOptions) (CPUSet, error) {
	if h.Any {
		return l.TakeCPUs(free, n, o)
	}
	aligned := free.And(l.alignedCPUs(h.Nodes, o))
	first, err := l.TakeCPUs(aligned, min(n, aligned.Len()), o)
	if err != nil || first.Len() >= n {
		return first, err
	}
	rest, err := l.TakeCPUs(free.Minus(first), n-first.Len(), o)
	if err != nil {
		return CPUSet{}, err
	}
	return first.Or(rest), nil
}

// alignedCPUs are the CPUs of the nodes, or of all packages that the nodes
// touch.
func (l *Layout) alignedCPUs(nodes Mask, o CPUOptions) CPUSet {
	if !o.AlignSockets {
		return l.CPUs(nodes)
	}
	var s CPUSet
	for id := range nodes.And(l.all).All() {
		for _, seg := range l.node[l.nodeAt[id]].segments {
			for _, c := range l.socket[l.segments[seg].socket].cpus {
				s.Add(l.cpuIDs[c])
			}
		}
	}
	return s
}

// taker takes CPUs out of a free set, counting what is left of each group.
type taker struct {
	*Layout
	opts  CPUOptions
	free  []bool // by dense CPU
	taken CPUSet
	need  int

	left                                       int
	freeCore, freeNode, freeSocket, freeUncore []int32
	freeSegment                                []int32
	keys                                       []uint64
}

func (l *Layout) newTaker(free CPUSet, o CPUOptions) *taker {
	t := &taker{
		Layout: l, opts: o,
		free:  make([]bool, len(l.cpuIDs)),
		taken: CPUSet{make([]uint64, (len(l.cpuAt)+63)/64)},
		keys:  make([]uint64, 0, len(l.core)),
	}
	sizes := []int{len(l.core), len(l.node), len(l.socket), len(l.uncore), len(l.segments)}
	total := 0
	for _, n := range sizes {
		total += n
	}
	counts := make([]int32, total)
	for i, dst := range []*[]int32{&t.freeCore, &t.freeNode, &t.freeSocket, &t.freeUncore, &t.freeSegment} {
		*dst, counts = counts[:sizes[i]], counts[sizes[i]:]
	}
	for id := range free.All() {
		if id < len(l.cpuAt) && l.cpuAt[id] >= 0 {
			t.count(l.cpuAt[id], 1)
		}
	}
	if t.exactCores() {
		for c := range l.core {
			t.dropPartial(&l.core[c], t.freeCore[c])
		}
	}
	return t
}

// exactCores reports whether cores of different sizes have to be handed out
// whole. Counting CPUs is then not enough: what is left of a core is no use.
func (t *taker) exactCores() bool {
	return t.opts.FullCores && !t.opts.Compatible && t.mixedCores
}

func (t *taker) dropPartial(core *group, free int32) {
	if int(free) == len(core.cpus) {
		return
	}
	for _, c := range core.cpus {
		if t.free[c] {
			t.count(c, -1)
		}
	}
}

func (t *taker) count(cpu, change int32) {
	p := &t.place[cpu]
	t.free[cpu] = change > 0
	t.freeCore[p.core] += change
	t.freeNode[p.node] += change
	t.freeSocket[p.socket] += change
	t.freeUncore[p.uncore] += change
	t.freeSegment[p.segment] += change
	t.left += int(change)
}

func (t *taker) take(cpu int32) {
	if t.free[cpu] {
		t.count(cpu, -1)
	}
	t.taken.Add(t.cpuIDs[cpu])
	t.need--
}

// takeGroup takes a whole group if that many CPUs are needed. In the
// compatible mode a group that passes for free may hold CPUs that are not:
// they are handed out a second time, as the kubelet does.
func (t *taker) takeGroup(g *group) {
	if t.need < len(g.cpus) {
		return
	}
	for _, c := range g.cpus {
		t.take(c)
	}
}

// whole reports whether all CPUs of a group are free. size is what the
// kubelet takes every such group to have.
func (t *taker) whole(g *group, free int32, size int) bool {
	if t.opts.Compatible {
		return int(free) == size
	}
	return int(free) == len(g.cpus)
}

// sorted returns the members with any free CPU, fewest free first, then by
// index. The slice is valid until the next call with the same buffer.
func sorted(buf []uint64, members []int32, free []int32) []uint64 {
	buf = buf[:0]
	for _, m := range members {
		if free[m] > 0 {
			buf = append(buf, uint64(free[m])<<32|uint64(m))
		}
	}
	slices.Sort(buf)
	return buf
}

// order lists nodes, packages or cores the way the kubelet sorts them:
// fewest free CPUs first, nested in the level above.
func (t *taker) order() (nodes, sockets []int32) {
	var upper, lower []uint64
	if t.socketsInNodes() {
		upper = sorted(nil, indexRange(len(t.node)), t.freeNode)
		for _, k := range upper {
			n := int32(uint32(k))
			nodes = append(nodes, n)
			lower = t.sortedSegments(lower, t.node[n].segments, false)
			for _, k := range lower {
				sockets = append(sockets, int32(uint32(k)))
			}
		}
		return nodes, sockets
	}
	upper = sorted(nil, indexRange(len(t.socket)), t.freeSocket)
	for _, k := range upper {
		s := int32(uint32(k))
		sockets = append(sockets, s)
		lower = t.sortedSegments(lower, t.socket[s].segments, true)
		for _, k := range lower {
			nodes = append(nodes, int32(uint32(k)))
		}
	}
	return nodes, sockets
}

// socketsInNodes reports whether nodes are the level above packages.
func (t *taker) socketsInNodes() bool { return len(t.socket) >= t.cpuNodes }

func (t *taker) sortedSegments(buf []uint64, segments []int32, byNode bool) []uint64 {
	buf = buf[:0]
	for _, s := range segments {
		if t.freeSegment[s] == 0 {
			continue
		}
		m, free := t.segments[s].socket, t.freeSocket
		if byNode {
			m, free = t.segments[s].node, t.freeNode
		}
		buf = append(buf, uint64(free[m])<<32|uint64(m))
	}
	slices.Sort(buf)
	return buf
}

func indexRange(n int) []int32 {
	r := make([]int32, n)
	for i := range r {
		r[i] = int32(i)
	}
	return r
}

// pack takes n CPUs, all from what is free.
func (t *taker) pack(n int) error {
	t.need = n
	if n <= 0 {
		return nil
	}
	if n > t.left {
		return fmt.Errorf("%w: %d CPUs of %d", ErrNotEnough, n, t.left)
	}
	if t.socketsInNodes() {
		t.packNodes()
		t.packSockets()
	} else {
		t.packSockets()
		t.packNodes()
	}
	if t.opts.UncoreCache && t.need > 0 {
		t.packUncore()
	}
	if !t.opts.AcrossCores && t.need > 0 {
		t.packCores()
	}
	if t.need > 0 && t.exactCores() {
		return fmt.Errorf("%w: no set of whole cores has %d CPUs", ErrNotEnough, n)
	}
	if t.need > 0 {
		t.packSingles()
	}
	return nil
}

func (t *taker) packNodes() {
	if t.need <= 0 {
		return
	}
	nodes, _ := t.order()
	for _, n := range nodes {
		if int(t.freeNode[n]) == len(t.node[n].cpus) {
			t.takeGroup(&t.node[n])
		}
	}
}

func (t *taker) packSockets() {
	if t.need <= 0 {
		return
	}
	_, sockets := t.order()
	for _, s := range sockets {
		// In a package on two nodes the list names it twice.
		if t.whole(&t.socket[s], t.freeSocket[s], len(t.cpuIDs)/len(t.socket)) {
			t.takeGroup(&t.socket[s])
		}
	}
}

// eachCore calls f for the cores with free CPUs, in order, until it returns
// false.
func (t *taker) eachCore(f func(core int32) bool) {
	nodes, sockets := t.order()
	parents, groups := nodes, t.node
	if t.socketsInNodes() {
		parents, groups = sockets, t.socket
	}
	for _, p := range parents {
		t.keys = sorted(t.keys, groups[p].cores, t.freeCore)
		for _, k := range t.keys {
			if !f(int32(uint32(k))) {
				return
			}
		}
	}
}

func (t *taker) packCores() {
	if t.exactCores() {
		t.packLargeCores()
		return
	}
	size := t.threadsPerCore()
	t.eachCore(func(c int32) bool {
		if t.whole(&t.core[c], t.freeCore[c], size) {
			t.takeGroup(&t.core[c])
		}
		return t.need > 0
	})
}

// packLargeCores takes the largest cores that the need allows first. Sizes
// of cores divide each other, so this finds a set that fits exactly if there
// is one.
func (t *taker) packLargeCores() {
	for size := t.need; size > 0; size-- {
		t.eachCore(func(c int32) bool {
			if len(t.core[c].cpus) == size && t.freeCore[c] > 0 {
				t.takeGroup(&t.core[c])
			}
			return t.need > 0
		})
	}
}

func (t *taker) packSingles() {
	if !t.opts.AcrossCores {
		t.eachCore(func(c int32) bool { return t.takeSingles(t.core[c].cpus) })
		return
	}
	_, sockets := t.order()
	for _, s := range sockets {
		if !t.takeSingles(t.socket[s].cpus) {
			return
		}
	}
}

// takeSingles takes free CPUs while any are needed.
func (t *taker) takeSingles(cpus []int32) bool {
	for _, c := range cpus {
		if t.need == 0 {
			return false
		}
		if t.free[c] {
			t.take(c)
		}
	}
	return t.need > 0
}

// packUncore takes whole last-level caches while one's worth is needed, and
// then the rest from one cache if any has it (cpumanager, takeUncoreCache).
func (t *taker) packUncore() {
	size := len(t.cpuIDs) / len(t.uncore)
	for _, u := range t.orderUncore() {
		if t.need >= size {
			for _, w := range t.orderUncore() {
				if int(t.freeUncore[w]) == len(t.uncore[w].cpus) {
					t.takeGroup(&t.uncore[w])
				}
			}
		}
		if t.need <= 0 {
			return
		}
		t.packPartUncore(u)
		if t.need <= 0 {
			return
		}
	}
}

func (t *taker) orderUncore() []int32 {
	var list []int32
	nodes, _ := t.order()
	for _, n := range nodes {
		for _, k := range sorted(t.keys, t.node[n].uncores, t.freeUncore) {
			list = append(list, int32(uint32(k)))
		}
	}
	return list
}

// packPartUncore takes all that is needed from the lowest cores of one cache,
// or nothing.
func (t *taker) packPartUncore(u int32) {
	threads := max(1, t.threadsPerCore())
	cores := (t.need + threads - 1) / threads
	var cpus []int32
	for _, c := range t.uncore[u].cores {
		if cores == 0 {
			break
		}
		if !t.anyFree(t.core[c].cpus, u) {
			continue
		}
		cores--
		for _, cpu := range t.core[c].cpus {
			if t.free[cpu] {
				cpus = append(cpus, cpu)
			}
		}
	}
	slices.Sort(cpus)
	if t.need%2 != 0 && threads > 1 && len(cpus) > t.need {
		cpus = cpus[:len(cpus)-1]
	}
	if len(cpus) == t.need {
		t.takeSingles(cpus)
	}
}

// anyFree reports whether one of the CPUs is free and under the cache.
func (t *taker) anyFree(cpus []int32, uncore int32) bool {
	for _, c := range cpus {
		if t.free[c] && t.place[c].uncore == uncore {
			return true
		}
	}
	return false
}
