package numa

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth/internal/invariants"
)

// Scope is what one merged hint is for (--topology-manager-scope).
type Scope uint8

// Scopes.
const (
	// ScopeContainer merges hints container by container.
	ScopeContainer Scope = iota
	// ScopePod merges once, for the pod's peak.
	ScopePod
)

// Config is how a node agent is set up. The zero value admits everything and
// packs CPUs.
type Config struct {
	Policy Policy
	Scope  Scope
	// PreferClosest is the option prefer-closest-numa-nodes.
	PreferClosest bool
	CPU           CPUOptions
	// ReservedCPUs are never given to a container alone.
	ReservedCPUs CPUSet
	// ReservedMemory is taken off the nodes' memory.
	ReservedMemory []MemoryBlock
	// Budget bounds each search, see MergeConfig.Budget.
	Budget int
}

// State is what is taken of a machine. It is not safe for concurrent use;
// Clone gives a what-if of its own.
type State struct {
	l        *Layout
	cfg      Config
	reserved CPUSet // and, with CPUOptions.FullCores, the rest of their cores
	free     CPUSet
	memory   []nodeMemory // by dense node
	busy     []bool       // by device
	placed   map[string]*Placement
}

// nodeMemory is the memory of one node.
type nodeMemory struct {
	kinds []memoryKind
	uses  int  // containers bound to the node, once for each kind
	group Mask // what they are bound to
}

type memoryKind struct {
	pageSize, total, free int64
}

// NewState returns the state of the machine with nothing placed. Errors wrap
// [ErrConfig].
func NewState(l *Layout, cfg Config) (*State, error) {
	if err := cfg.CPU.validate(); err != nil {
		return nil, err
	}
	if cfg.Policy > PolicySingleNode || cfg.Scope > ScopePod {
		return nil, fmt.Errorf("%w: Policy = %d or Scope = %d is unknown", ErrConfig, cfg.Policy, cfg.Scope)
	}
	if cfg.CPU.AlignSockets && cfg.Policy == PolicySingleNode {
		return nil, fmt.Errorf("%w: CPU.AlignSockets excludes Policy single-numa-node", ErrConfig)
	}
	if cfg.CPU.AlignSockets && len(l.socket) > l.cpuNodes {
		return nil, fmt.Errorf("%w: CPU.AlignSockets needs at least a node for each of the %d packages, not %d", ErrConfig, len(l.socket), l.cpuNodes)
	}
	s := &State{l: l, cfg: cfg, busy: make([]bool, len(l.devices)), placed: map[string]*Placement{}}
	all := l.CPUs(l.all)
	if !all.Contains(cfg.ReservedCPUs) {
		return nil, fmt.Errorf("%w: ReservedCPUs names CPUs %v that the machine lacks", ErrConfig, cfg.ReservedCPUs.Minus(all))
	}
	s.reserved = cfg.ReservedCPUs.Clone()
	if cfg.CPU.FullCores && !cfg.CPU.Compatible {
		for id := range cfg.ReservedCPUs.All() {
			for _, c := range l.core[l.place[l.cpuAt[id]].core].cpus {
				s.reserved.Add(l.cpuIDs[c])
			}
		}
	}
	s.free = all.Minus(s.reserved)
	return s, s.initMemory()
}

func (s *State) initMemory() error {
	s.memory = make([]nodeMemory, len(s.l.nodes))
	for i, n := range s.l.nodes {
		m := &s.memory[i]
		m.kinds = []memoryKind{{}}
		for _, k := range n.Memory {
			m.kind(k.PageSize, true).total += k.Bytes
			if k.PageSize != 0 {
				m.kinds[0].total -= k.Bytes
			}
		}
		m.kinds[0].total = max(0, m.kinds[0].total)
	}
	for i, r := range s.cfg.ReservedMemory {
		if r.Node < 0 || r.Node > MaxNodeID || s.l.nodeAt[r.Node] < 0 {
			return fmt.Errorf("%w: ReservedMemory[%d].Node = %d: there is no such node", ErrConfig, i, r.Node)
		}
		k := s.memory[s.l.nodeAt[r.Node]].kind(r.PageSize, false)
		if k == nil || r.Bytes < 0 || r.Bytes > k.total {
			return fmt.Errorf("%w: ReservedMemory[%d] = %+v is more than the node has", ErrConfig, i, r)
		}
		k.total -= r.Bytes
	}
	for i := range s.memory {
		for j := range s.memory[i].kinds {
			s.memory[i].kinds[j].free = s.memory[i].kinds[j].total
		}
	}
	return nil
}

// kind finds the memory of a page size, nil if there is none unless add.
func (m *nodeMemory) kind(pageSize int64, add bool) *memoryKind {
	for i := range m.kinds {
		if m.kinds[i].pageSize == pageSize {
			return &m.kinds[i]
		}
	}
	if !add {
		return nil
	}
	m.kinds = append(m.kinds, memoryKind{pageSize: pageSize})
	return &m.kinds[len(m.kinds)-1]
}

// Clone returns a copy that shares nothing that changes. O(CPUs + memory
// kinds + devices + placements).
func (s *State) Clone() *State {
	c := *s
	c.free = s.free.Clone()
	c.busy = slices.Clone(s.busy)
	c.placed = maps.Clone(s.placed)
	c.memory = slices.Clone(s.memory)
	for i := range c.memory {
		c.memory[i].kinds = slices.Clone(c.memory[i].kinds)
	}
	return &c
}

// FreeCPUs returns the CPUs that a container could get alone.
func (s *State) FreeCPUs() CPUSet { return s.free.Clone() }

// SharedCPUs returns the CPUs for containers without CPUs of their own: those
// free and, unless CPUOptions.StrictReserved, those reserved.
func (s *State) SharedCPUs() CPUSet {
	if s.cfg.CPU.StrictReserved {
		return s.free.Clone()
	}
	return s.free.Or(s.reserved)
}

// FreeMemory returns the free bytes of one page size on a node.
func (s *State) FreeMemory(node int, pageSize int64) int64 {
	if node < 0 || node > MaxNodeID || s.l.nodeAt[node] < 0 {
		return 0
	}
	if k := s.memory[s.l.nodeAt[node]].kind(pageSize, false); k != nil {
		return k.free
	}
	return 0
}

// FreeDevices returns the names of the healthy devices of a resource that no
// pod has.
func (s *State) FreeDevices(resource string) []string {
	var names []string
	for i, d := range s.l.devices {
		if d.Resource == resource && !d.Unhealthy && !s.busy[i] {
			names = append(names, d.Name)
		}
	}
	return names
}

// Placed returns the placement of a pod, nil if it has none. The caller must
// not change it.
func (s *State) Placed(name string) *Placement { return s.placed[name] }

// Len returns the number of pods placed.
func (s *State) Len() int { return len(s.placed) }

// Apply takes the placement's CPUs, memory and devices. If any of it is not
// free, or the pod is placed already, nothing changes and the error wraps
// [ErrConflict]. The state keeps the placement; the caller must not change
// it afterwards. O(size of the placement).
func (s *State) Apply(p *Placement) error {
	if _, ok := s.placed[p.Name]; ok {
		return fmt.Errorf("%w: pod %q is placed already", ErrConflict, p.Name)
	}
	cpus := p.CPUs()
	if !s.free.Contains(cpus) {
		return fmt.Errorf("%w: pod %q: CPUs %v are taken", ErrConflict, p.Name, cpus.Minus(s.free))
	}
	devices, err := s.deviceSet(p)
	if err != nil {
		return err
	}
	if err := s.checkMemory(p); err != nil {
		return err
	}
	s.free = s.free.Minus(cpus)
	for _, d := range devices {
		s.busy[d] = true
	}
	s.changeMemory(p, 1)
	s.placed[p.Name] = p
	s.verify()
	return nil
}

// deviceSet lists the devices of a placement once each, all of them free.
func (s *State) deviceSet(p *Placement) ([]int, error) {
	var devices []int
	for i := range p.Containers {
		for _, name := range p.Containers[i].Devices {
			d, ok := s.l.deviceAt[name]
			if !ok || s.busy[d] {
				return nil, fmt.Errorf("%w: pod %q: device %q is taken or unknown", ErrConflict, p.Name, name)
			}
			if !slices.Contains(devices, d) { // an init container's may be reused
				devices = append(devices, d)
			}
		}
	}
	return devices, nil
}

func (s *State) checkMemory(p *Placement) error {
	type place struct {
		node     int
		pageSize int64
	}
	sum := map[place]int64{}
	for _, b := range p.Memory {
		at := place{b.Node, b.PageSize}
		sum[at] += b.Bytes
		if b.Bytes <= 0 || sum[at] > s.FreeMemory(b.Node, b.PageSize) {
			return fmt.Errorf("%w: pod %q: %d bytes (page size %d) on node %d, %d are free", ErrConflict,
				p.Name, sum[at], b.PageSize, b.Node, s.FreeMemory(b.Node, b.PageSize))
		}
	}
	for _, g := range p.Groups {
		if !s.l.all.Contains(g) {
			return fmt.Errorf("%w: pod %q: memory group {%v} names a node that the machine lacks", ErrConflict, p.Name, g)
		}
		for id := range g.All() {
			m := &s.memory[s.l.nodeAt[id]]
			if m.uses > 0 && m.group != g {
				return fmt.Errorf("%w: pod %q: node %d is bound to {%v}, not {%v}", ErrConflict, p.Name, id, m.group, g)
			}
		}
	}
	for i, g := range p.Groups {
		for _, h := range p.Groups[:i] {
			if g != h && g.Intersects(&h) {
				return fmt.Errorf("%w: pod %q: memory groups {%v} and {%v} overlap", ErrConflict, p.Name, g, h)
			}
		}
	}
	return nil
}

func (s *State) changeMemory(p *Placement, sign int64) {
	for _, b := range p.Memory {
		s.memory[s.l.nodeAt[b.Node]].kind(b.PageSize, false).free -= sign * b.Bytes
	}
	for _, g := range p.Groups {
		for id := range g.All() {
			m := &s.memory[s.l.nodeAt[id]]
			m.uses += int(sign)
			m.group = g
			if m.uses == 0 {
				m.group = Mask{}
			}
		}
	}
}

// Release gives back what Apply took for the pod. It returns an error that
// wraps [ErrConflict] if the pod is not placed. O(size of the placement).
func (s *State) Release(name string) error {
	p, ok := s.placed[name]
	if !ok {
		return fmt.Errorf("%w: pod %q is not placed", ErrConflict, name)
	}
	s.free = s.free.Or(p.CPUs())
	for i := range p.Containers {
		for _, d := range p.Containers[i].Devices {
			s.busy[s.l.deviceAt[d]] = false
		}
	}
	s.changeMemory(p, -1)
	delete(s.placed, name)
	s.verify()
	return nil
}

// verify walks the whole state in builds with invariants on.
func (s *State) verify() {
	if invariants.Enabled {
		if err := s.Check(); err != nil {
			panic(err)
		}
	}
}

// Check recounts the state from the placements and reports the first
// difference: a CPU, page or device given twice or lost. O(everything).
func (s *State) Check() error {
	fresh, err := NewState(s.l, s.cfg)
	if err != nil {
		return err
	}
	taken := CPUSet{}
	count := 0
	busy := make([]bool, len(s.busy))
	for name, p := range s.placed {
		cpus := p.CPUs()
		count += cpus.Len()
		taken = taken.Or(cpus)
		devices, err := fresh.deviceSet(p)
		if err != nil {
			return err
		}
		for _, d := range devices {
			if busy[d] {
				return fmt.Errorf("%w: device %q is given twice, to pod %q among them", ErrConflict, s.l.devices[d].Name, name)
			}
			busy[d] = true
		}
		if err := fresh.checkMemory(p); err != nil {
			return err
		}
		fresh.changeMemory(p, 1)
	}
	if taken.Len() != count || !fresh.free.Minus(taken).Equal(s.free) || !fresh.free.Contains(taken) {
		return fmt.Errorf("%w: CPUs: %d given, %v distinct, %v free", ErrConflict, count, taken, s.free)
	}
	if !slices.Equal(busy, s.busy) {
		return fmt.Errorf("%w: devices: busy are %v, not %v", ErrConflict, s.busy, busy)
	}
	for i := range s.memory {
		a, b := &s.memory[i], &fresh.memory[i]
		if a.uses != b.uses || a.group != b.group || !slices.Equal(a.kinds, b.kinds) {
			return fmt.Errorf("%w: memory of node %d is %+v, not %+v", ErrConflict, s.l.nodeIDs[i], *a, *b)
		}
	}
	return nil
}
