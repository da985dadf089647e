package numa

import (
	"fmt"
	"slices"
)

// MergeConfig says how hints are merged. The zero value merges for the policy
// none; see the fields.
type MergeConfig struct {
	Policy Policy
	// PreferClosest breaks ties between masks of equal size by their mean
	// distance before their ids (the kubelet's prefer-closest-numa-nodes).
	// single-numa-node ignores it, as the kubelet does.
	PreferClosest bool
	// Groups are the node sets, disjoint from each other, that Grouped
	// resources are using: a set of one node serves only requests that fit
	// it alone, a larger one only requests that span exactly it, and a mask
	// of several nodes that are in no set may become a new group.
	Groups []Mask
	// Budget bounds the search steps of one merge; 0 is 200,000, which takes
	// some tens of milliseconds. Merges of real machines need hundreds.
	Budget int
}

const defaultBudget = 200_000

// MergeResult is a merged hint and how it came about.
type MergeResult struct {
	Hint  Hint
	Admit bool
	// Exact is false if the budget ran out: Hint is then a mask that
	// satisfies the rules, but perhaps not the best of them.
	Exact bool
	// Steps counts search steps.
	Steps int
	// Resources tells, for each resource of the call, which sizes of masks
	// could hold it.
	Resources []ResourceFit
}

// ResourceFit tells how many nodes one resource needs.
type ResourceFit struct {
	// Preferred is the least number of nodes that could hold the request on
	// an empty machine; all the nodes that masks are drawn from if none can.
	Preferred int
	// Narrowest is the least number that can hold it now, 0 if none can.
	Narrowest int
}

// Merge finds the mask that the kubelet would arrive at if each resource
// listed all the masks that hold its request and the kubelet merged the
// lists (topologymanager, HintMerger). Instead of listing masks it searches
// for the best one, cutting off sets that cannot satisfy the resources.
// Finding it is NP-hard in general (set cover); on machines where nodes come
// in few kinds it takes a number of steps proportional to the nodes.
//
// Errors wrap [ErrRequest] or [ErrConfig].
func (l *Layout) Merge(cfg MergeConfig, resources []Resource) (MergeResult, error) {
	m := merger{Layout: l, cfg: cfg, work: work{left: cfg.Budget}, mem: l.scratch.get()}
	defer l.scratch.put(m.mem)
	if m.work.left == 0 {
		m.work.left = defaultBudget
	}
	if cfg.Policy > PolicySingleNode {
		return MergeResult{}, fmt.Errorf("%w: Policy = %d is unknown", ErrConfig, cfg.Policy)
	}
	if err := m.regions(); err != nil {
		return MergeResult{}, err
	}
	m.needs = make([]*need, 0, len(resources))
	for i := range resources {
		if len(resources[i].Demands) == 0 {
			continue
		}
		q, err := l.compileResource(&resources[i], m.mem)
		if err != nil {
			return MergeResult{}, err
		}
		m.needs = append(m.needs, q)
	}
	return m.merge(resources), nil
}

// merger is the state of one Merge.
type merger struct {
	*Layout
	cfg   MergeConfig
	mem   *scratch
	work  work
	needs []*need
	fits  []ResourceFit // of needs
	// region[0] is the nodes of no group; the others are the groups.
	region [][]int32
	// groupOf is the region of each node.
	groupOf []int32
}

// regions splits the nodes by MergeConfig.Groups.
func (m *merger) regions() error {
	m.groupOf = m.mem.index.take(len(m.nodeIDs))
	if len(m.cfg.Groups) == 0 {
		m.region = [][]int32{nil}
		return nil
	}
	m.region = make([][]int32, 1+len(m.cfg.Groups))
	for g, nodes := range m.cfg.Groups {
		if nodes.IsEmpty() || !m.all.Contains(nodes) {
			return fmt.Errorf("%w: Groups[%d] = {%v} is empty or names a node that the machine lacks", ErrConfig, g, nodes)
		}
		for id := range nodes.All() {
			n := m.nodeAt[id]
			if m.groupOf[n] != 0 {
				return fmt.Errorf("%w: Groups[%d] = {%v} overlaps another group in node %d", ErrConfig, g, nodes, id)
			}
			m.groupOf[n] = int32(g + 1)
		}
	}
	for n, g := range m.groupOf {
		m.region[g] = append(m.region[g], int32(n))
	}
	return nil
}

func (m *merger) merge(resources []Resource) MergeResult {
	m.fits = m.mem.fits.take(len(m.needs))
	for i, q := range m.needs {
		m.fits[i] = ResourceFit{Preferred: m.preferredSize(q), Narrowest: m.narrowestSize(q)}
	}
	hint, admit := Hint{Any: true}, true
	if m.cfg.Policy != PolicyNone {
		hint, admit = m.finish(m.cfg.Policy, m.hint())
	}
	r := MergeResult{Hint: hint, Admit: admit, Steps: m.work.done, Exact: !m.work.exhausted()}
	r.Resources = make([]ResourceFit, len(resources))
	next := 0
	for i := range resources {
		if len(resources[i].Demands) > 0 {
			r.Resources[i] = m.fits[next]
			next++
		}
	}
	return r
}

func (m *merger) hint() Hint {
	if m.cfg.Policy == PolicySingleNode {
		return m.singleNode()
	}
	if len(m.needs) == 0 {
		return Hint{Nodes: m.all, Preferred: true}
	}
	if mask, ok := m.preferred(); ok {
		return Hint{Nodes: mask, Preferred: true}
	}
	if mask, ok := m.reachable(); ok {
		return Hint{Nodes: mask}
	}
	return Hint{Nodes: m.all}
}

// singleNode is the lowest node that every resource prefers by itself.
func (m *merger) singleNode() Hint {
	if len(m.needs) == 0 {
		return Hint{Nodes: m.all, Preferred: true}
	}
	set := m.mem.flags.take(len(m.nodeIDs))
	for n, id := range m.nodeIDs {
		set[n] = true
		ok := true
		for i, q := range m.needs {
			ok = ok && q.allowed[n] && holds(q.free, set) && m.prefersOne(i) &&
				(!q.grouped || m.groupOf[n] == 0 || len(m.region[m.groupOf[n]]) == 1)
		}
		set[n] = false
		if ok {
			return Hint{Nodes: MaskOf(id), Preferred: true}
		}
	}
	return Hint{Nodes: m.all}
}

// prefersOne reports whether resource i marks one-node masks as preferred.
func (m *merger) prefersOne(i int) bool {
	return m.fits[i].Preferred == 1 || m.needs[i].sockets && m.socketSpan(i) == 1
}

// socketSpan is the number of packages that socket-aligned masks span
// (cpumanager, isHintSocketAligned); 0 if packages outnumber nodes.
func (m *merger) socketSpan(i int) int {
	if len(m.socket) == 0 || m.cpuNodes < len(m.socket) {
		return 0
	}
	per := m.cpuNodes / len(m.socket)
	return (m.fits[i].Preferred + per - 1) / per
}

// preferredSize is the least number of nodes whose total capacity holds the
// request, or the number of nodes to draw from.
func (m *merger) preferredSize(q *need) int {
	candidates := m.inRegion(q, -1)
	if size := m.smallest(candidates, q.total); size > 0 {
		return size
	}
	return len(candidates)
}

// narrowestSize is the least number of nodes that hold the request now.
func (m *merger) narrowestSize(q *need) int {
	if !q.grouped {
		return m.smallest(m.inRegion(q, -1), q.free)
	}
	least := m.smallest(m.inRegion(q, 0), q.free)
	set := m.mem.flags.take(len(m.nodeIDs))
	for g := 1; g < len(m.region); g++ {
		if size := len(m.region[g]); (least == 0 || size < least) && m.wholeHolds(q, g, set) {
			least = size
		}
	}
	return least
}

// wholeHolds reports whether a group as a whole satisfies the resource. set
// is scratch and left false.
func (m *merger) wholeHolds(q *need, g int, set []bool) bool {
	ok := true
	for _, n := range m.region[g] {
		set[n] = true
		ok = ok && q.allowed[n]
	}
	ok = ok && holds(q.free, set)
	for _, n := range m.region[g] {
		set[n] = false
	}
	return ok
}

// inRegion lists the nodes that a resource draws masks from inside region g,
// or anywhere if g is -1.
func (m *merger) inRegion(q *need, g int) []int32 {
	nodes := m.mem.index.take(len(q.allowed))[:0]
	for n, ok := range q.allowed {
		if ok && (g < 0 || m.groupOf[n] == int32(g)) {
			nodes = append(nodes, int32(n))
		}
	}
	return nodes
}

// smallest is the least size of a set of candidates that satisfies ws, 0 if
// none does. One demand on single nodes needs no search.
func (m *merger) smallest(candidates []int32, ws []weights) int {
	low := 1
	for i := range ws {
		size := m.leastSize(candidates, &ws[i])
		if size == 0 {
			return 0
		}
		low = max(low, size)
	}
	if len(ws) == 1 && len(ws[0].shared) == 0 {
		return low
	}
	set := m.mem.flags.take(len(m.nodeIDs))
	for _, n := range candidates {
		set[n] = true
	}
	if !holds(ws, set) {
		return 0
	}
	for size := low; size < len(candidates); size++ {
		cover := newCoverRule(candidates, size, m.mem, ws)
		s := search{candidates: candidates, size: size, rule: cover, work: &m.work, mem: m.mem}
		s.findTwins(cover)
		if _, ok := s.run(); ok {
			return size
		}
	}
	return len(candidates)
}

// leastSize bounds the size from below by what the heaviest nodes give, 0 if
// all of them do not give enough.
func (m *merger) leastSize(candidates []int32, w *weights) int {
	give := m.mem.wide.take(len(candidates))
	for i, n := range candidates {
		give[i] = -w.single[n]
	}
	for _, s := range w.shared {
		for _, n := range s.nodes {
			if i, ok := slices.BinarySearch(candidates, n); ok {
				give[i] -= s.amount
			}
		}
	}
	slices.Sort(give)
	sum := int64(0)
	for i, g := range give {
		if sum -= g; sum >= w.need {
			return i + 1
		}
	}
	return 0
}
