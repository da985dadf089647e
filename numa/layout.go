package numa

import (
	"cmp"
	"fmt"
	"slices"
)

// Layout is the compiled, immutable form of a [Machine]. Its methods are pure
// functions and safe for concurrent use.
//
// Inside, every kind of thing has a dense index: nodes and packages in the
// order of their ids, CPUs likewise, cores in the order of their lowest CPU.
type Layout struct {
	nodeIDs []int
	nodeAt  [MaxNodeID + 1]int16 // dense index of a node id, -1 if absent
	all     Mask
	// maskWords is the number of words of a Mask that hold a node.
	maskWords int
	dist      []int32 // len(nodeIDs) squared, row first
	nodes     []Node

	cpuIDs []int
	cpuAt  []int32 // dense index of a CPU id, -1 if absent
	place  []cpuPlace

	core, node, socket, uncore []group // node is parallel to nodeIDs
	segments                   []segment
	cpuNodes                   int // nodes that have a CPU
	mixedCores                 bool
	socketIDs                  []int

	devices  []Device
	deviceAt map[string]int
	scratch  scratchPool
	affinity [][]int64 // pairwise link value of devices, higher is nearer
}

// cpuPlace says where a CPU sits, in dense indexes.
type cpuPlace struct{ core, node, socket, uncore, segment int32 }

// group is a set of CPUs that fill up together.
type group struct {
	cpus     []int32 // ascending
	cores    []int32 // ascending, cores with a CPU in the group
	uncores  []int32 // of a node
	segments []int32 // of a node or a socket
}

// segment is a non-empty intersection of a node and a socket: in a regular
// machine the smaller of the two, elsewhere what keeps the nesting exact.
type segment struct{ node, socket int32 }

// defaultDistances are what Linux itself assumes without a SLIT.
const (
	localDistance  = 10
	remoteDistance = 20
)

// Compile checks the machine and returns its layout. A machine without NUMA
// nodes becomes one node 0 that holds every CPU. CPUs whose Node is -1 are
// kept out of every allocation. Cost: O(CPUs log CPUs + nodes^2 + devices^2).
// It returns an error that wraps [ErrMachine] if an id is out of range, used
// twice or dangling, or if one core lies in two packages or nodes.
func Compile(m *Machine) (*Layout, error) {
	l := &Layout{deviceAt: map[string]int{}}
	for i := range l.nodeAt {
		l.nodeAt[i] = -1
	}
	if err := l.compileNodes(m); err != nil {
		return nil, err
	}
	if err := l.compileCPUs(m); err != nil {
		return nil, err
	}
	l.compileUncore(m)
	l.compileNesting()
	return l, l.compileDevices(m)
}

func machineError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMachine}, args...)...)
}

func (l *Layout) compileNodes(m *Machine) error {
	nodes := slices.Clone(m.Nodes)
	if len(nodes) == 0 {
		nodes = []Node{{ID: 0}}
	}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(nodes[a].ID, nodes[b].ID) })
	for dense, i := range order {
		id := nodes[i].ID
		if id < 0 || id > MaxNodeID {
			return machineError("Nodes[%d].ID = %d is outside 0..%d", i, id, MaxNodeID)
		}
		if l.all.Has(id) {
			return machineError("Nodes[%d].ID = %d is used twice", i, id)
		}
		for _, mem := range nodes[i].Memory {
			if mem.Bytes < 0 || mem.PageSize < 0 {
				return machineError("Nodes[%d].Memory has a negative size: %+v", i, mem)
			}
		}
		l.all.Add(id)
		l.nodeAt[id] = int16(dense)
		l.nodeIDs = append(l.nodeIDs, id)
		l.nodes = append(l.nodes, nodes[i])
	}
	l.maskWords = l.nodeIDs[len(l.nodeIDs)-1]>>6 + 1
	n := len(nodes)
	l.dist = make([]int32, n*n)
	for a, i := range order {
		for b, j := range order {
			d := remoteDistance
			if a == b {
				d = localDistance
			}
			if i < len(m.Distances) && j < len(m.Distances[i]) && m.Distances[i][j] != 0 {
				d = m.Distances[i][j]
			}
			if d < 0 || d > 1<<20 {
				return machineError("Distances[%d][%d] = %d is outside 0..%d", i, j, d, 1<<20)
			}
			l.dist[a*n+b] = int32(d)
		}
	}
	return nil
}

func (l *Layout) compileCPUs(m *Machine) error {
	cpus := make([]CPU, 0, len(m.CPUs))
	highest := -1
	for i, c := range m.CPUs {
		if c.ID < 0 || c.ID > MaxCPUID {
			return machineError("CPUs[%d].ID = %d is outside 0..%d", i, c.ID, MaxCPUID)
		}
		if len(m.Nodes) == 0 {
			c.Node = 0
		}
		if c.Node == -1 {
			continue
		}
		if c.Node < -1 || c.Node > MaxNodeID || l.nodeAt[c.Node] < 0 {
			return machineError("CPUs[%d].Node = %d: there is no such node", i, c.Node)
		}
		highest = max(highest, c.ID)
		cpus = append(cpus, c)
	}
	slices.SortFunc(cpus, func(a, b CPU) int { return cmp.Compare(a.ID, b.ID) })
	l.cpuAt = make([]int32, highest+1)
	for i := range l.cpuAt {
		l.cpuAt[i] = -1
	}
	packages := map[int]int32{}
	for _, c := range cpus {
		packages[c.Package] = 0
	}
	for id := range packages {
		l.socketIDs = append(l.socketIDs, id)
	}
	slices.Sort(l.socketIDs)
	for i, id := range l.socketIDs {
		packages[id] = int32(i)
	}
	l.node = make([]group, len(l.nodes))
	l.socket = make([]group, len(packages))
	cores := map[int]int32{}
	for i, c := range cpus {
		if l.cpuAt[c.ID] >= 0 {
			return machineError("CPU id %d is used twice", c.ID)
		}
		core, known := cores[c.Core]
		if !known {
			core = int32(len(l.core))
			cores[c.Core] = core
			l.core = append(l.core, group{})
		}
		p := cpuPlace{core: core, node: int32(l.nodeAt[c.Node]), socket: packages[c.Package]}
		if known {
			first := l.place[l.core[core].cpus[0]]
			if first.node != p.node || first.socket != p.socket {
				return machineError("core %d lies in two packages or nodes (CPUs %d and %d)",
					c.Core, l.cpuIDs[l.core[core].cpus[0]], c.ID)
			}
		}
		l.cpuAt[c.ID] = int32(i)
		l.cpuIDs = append(l.cpuIDs, c.ID)
		l.place = append(l.place, p)
		for _, g := range []*group{&l.core[core], &l.node[p.node], &l.socket[p.socket]} {
			g.cpus = append(g.cpus, int32(i))
		}
	}
	return nil
}

// compileUncore gives every CPU its last-level cache, or its package if the
// machine lists no cache above level 2.
func (l *Layout) compileUncore(m *Machine) {
	var last []Cache
	for _, c := range m.Caches {
		if c.Level < 3 || c.Instruction {
			continue
		}
		if len(last) > 0 && c.Level > last[0].Level {
			last = last[:0]
		}
		if len(last) == 0 || c.Level == last[0].Level {
			last = append(last, c)
		}
	}
	slices.SortStableFunc(last, func(a, b Cache) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.CPUs.Min(), b.CPUs.Min()))
	})
	of := make([]int, len(l.place)) // 0 is none
	for i, c := range last {
		for id := range c.CPUs.All() {
			if id < len(l.cpuAt) && l.cpuAt[id] >= 0 && of[l.cpuAt[id]] == 0 {
				of[l.cpuAt[id]] = i + 1
			}
		}
	}
	dense := map[int]int32{}
	keys := make([]int, 0, len(last))
	for i := range of {
		if of[i] == 0 {
			of[i] = len(last) + 1 + int(l.place[i].socket)
		}
		if _, ok := dense[of[i]]; !ok {
			dense[of[i]] = 0
			keys = append(keys, of[i])
		}
	}
	slices.Sort(keys)
	for i, k := range keys {
		dense[k] = int32(i)
	}
	l.uncore = make([]group, len(keys))
	for i := range l.place {
		u := dense[of[i]]
		l.place[i].uncore = u
		l.uncore[u].cpus = append(l.uncore[u].cpus, int32(i))
	}
}

// compileNesting lists the cores of each group and the node-socket segments.
func (l *Layout) compileNesting() {
	at := map[segment]int32{}
	for i := range l.place {
		p := &l.place[i]
		key := segment{p.node, p.socket}
		s, ok := at[key]
		if !ok {
			s = int32(len(l.segments))
			at[key] = s
			l.segments = append(l.segments, key)
			l.node[p.node].segments = append(l.node[p.node].segments, s)
			l.socket[p.socket].segments = append(l.socket[p.socket].segments, s)
		}
		p.segment = s
		addOnce(&l.node[p.node].uncores, p.uncore)
	}
	for c := range l.core {
		p := l.place[l.core[c].cpus[0]]
		l.node[p.node].cores = append(l.node[p.node].cores, int32(c))
		l.socket[p.socket].cores = append(l.socket[p.socket].cores, int32(c))
	}
	for i := range l.place {
		p := &l.place[i]
		addOnce(&l.uncore[p.uncore].cores, p.core)
	}
	for i := range l.node {
		slices.Sort(l.node[i].uncores)
		if len(l.node[i].cpus) > 0 {
			l.cpuNodes++
		}
	}
	for i := range l.uncore {
		slices.Sort(l.uncore[i].cores)
	}
	for i := range l.core {
		l.mixedCores = l.mixedCores || len(l.core[i].cpus) != len(l.core[0].cpus)
	}
}

func addOnce(list *[]int32, v int32) {
	if !slices.Contains(*list, v) {
		*list = append(*list, v)
	}
}

// Nodes returns the set of all NUMA nodes.
func (l *Layout) Nodes() Mask { return l.all }

// CPUs returns the CPUs of the given nodes.
func (l *Layout) CPUs(nodes Mask) CPUSet {
	var s CPUSet
	for id := range nodes.And(l.all).All() {
		for _, c := range l.node[l.nodeAt[id]].cpus {
			s.Add(l.cpuIDs[c])
		}
	}
	return s
}

// NodeOf returns the NUMA node of a CPU, or -1 if the machine has no such CPU.
func (l *Layout) NodeOf(cpu int) int {
	if cpu < 0 || cpu >= len(l.cpuAt) || l.cpuAt[cpu] < 0 {
		return -1
	}
	return l.nodeIDs[l.place[l.cpuAt[cpu]].node]
}

// Distance returns the distance from node a to node b, 0 if the machine lacks
// one of them. Unknown distances read as 10 to the node itself and 20 to any
// other, which is what Linux assumes without a SLIT.
func (l *Layout) Distance(a, b int) int {
	if a < 0 || b < 0 || a > MaxNodeID || b > MaxNodeID || l.nodeAt[a] < 0 || l.nodeAt[b] < 0 {
		return 0
	}
	return int(l.dist[int(l.nodeAt[a])*len(l.nodeIDs)+int(l.nodeAt[b])])
}

// MeanDistance returns the mean over all ordered pairs of the mask's nodes,
// each node with itself included, as the kubelet's prefer-closest-numa-nodes
// measures it; 0 for the empty mask. Cost: O(nodes of the mask squared).
func (l *Layout) MeanDistance(nodes Mask) float64 {
	sum, n := 0, 0
	for a := range nodes.And(l.all).All() {
		n++
		for b := range nodes.And(l.all).All() {
			sum += l.Distance(a, b)
		}
	}
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n*n)
}

// CacheOf returns a number for the last-level cache above a CPU, the same for
// all CPUs that share it, or -1 if the machine has no such CPU. Without known
// caches above level 2 it numbers packages.
func (l *Layout) CacheOf(cpu int) int {
	if cpu < 0 || cpu >= len(l.cpuAt) || l.cpuAt[cpu] < 0 {
		return -1
	}
	return int(l.place[l.cpuAt[cpu]].uncore)
}
