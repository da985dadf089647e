package numa

import (
	"fmt"
	"slices"
)

// groups lists the node sets that memory is bound to, without duplicates.
func (s *State) groups() []Mask {
	var list []Mask
	for i := range s.memory {
		if g := s.memory[i].group; s.memory[i].uses > 0 && !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

func memoryName(pageSize int64) string {
	switch {
	case pageSize == 0:
		return "memory"
	case pageSize%(1<<30) == 0:
		return fmt.Sprintf("hugepages-%dGi", pageSize>>30)
	case pageSize%(1<<20) == 0:
		return fmt.Sprintf("hugepages-%dMi", pageSize>>20)
	}
	return fmt.Sprintf("hugepages-%dKi", pageSize>>10)
}

// memoryResources describes a container's memory: one resource a kind, each
// with the demands of all kinds, since all must fit the same mask
// (memorymanager, calculateHints). What an init container left counts as free
// on the nodes that it was bound to: being bound, they are only ever used
// together, so that it does not matter to which of them it is added.
func (p *planner) memoryResources(memory []Memory) []Resource {
	var demands []Demand
	var names []string
	for _, m := range memory {
		if m.Bytes == 0 {
			continue
		}
		d := Demand{Amount: m.Bytes, Supply: make([]Supply, len(p.memory))}
		for i := range p.memory {
			s := &d.Supply[i]
			s.Nodes = MaskOf(p.l.nodeIDs[i])
			if k := p.memory[i].kind(m.PageSize, false); k != nil {
				s.Total, s.Free = k.total, k.free
			}
		}
		for use, bytes := range p.reuseMemory {
			if use.pageSize == m.PageSize {
				for id := range use.nodes.All() {
					d.Supply[p.l.nodeAt[id]].Free += bytes
					break
				}
			}
		}
		demands = append(demands, d)
		names = append(names, memoryName(m.PageSize))
	}
	list := make([]Resource, len(names))
	for i := range list {
		list[i] = Resource{Name: names[i], Nodes: p.l.all, Demands: demands, Grouped: true}
	}
	return list
}

// takeMemory binds a container's memory to nodes and takes it, lower nodes
// first (memorymanager, policy_static.go, Allocate).
func (p *planner) takeMemory(c *Container, h Hint) (Mask, error) {
	resources := p.memoryResources(c.Memory)
	if len(resources) == 0 {
		return Mask{}, nil
	}
	nodes, err := p.memoryNodes(c.Memory, resources[:1], h)
	if err != nil {
		return Mask{}, err
	}
	for _, m := range c.Memory {
		if m.Bytes > 0 {
			p.bind(c, m, nodes)
		}
	}
	return nodes, nil
}

// memoryNodes turns the merged hint into the nodes to bind to. A hint without
// affinity, or with too little memory, as when masks of several resources
// were intersected, is replaced by the best mask that includes it.
func (p *planner) memoryNodes(memory []Memory, r []Resource, h Hint) (Mask, error) {
	nodes := h.Nodes
	if h.Any || !p.holdsMemory(memory, nodes) {
		if !h.Any {
			for id := range nodes.All() {
				r[0].Must = append(r[0].Must, MaskOf(id))
			}
		}
		cfg := MergeConfig{Policy: PolicyBestEffort, Groups: p.groups(), Budget: p.cfg.Budget}
		m, err := p.l.Merge(cfg, r)
		if err != nil {
			return Mask{}, err
		}
		p.out.Exact = p.out.Exact && m.Exact
		if m.Resources[0].Narrowest == 0 || h.Preferred && !m.Hint.Preferred {
			cfg.Policy = PolicyRestricted
			return Mask{}, p.explainUnder(cfg, m, r)
		}
		nodes = m.Hint.Nodes
	}
	for id := range nodes.All() {
		m := &p.memory[p.l.nodeAt[id]]
		if m.uses > 0 && m.group != nodes {
			return Mask{}, reasons{{Code: ReasonGroup, Resource: r[0].Name, Nodes: m.group}}
		}
	}
	return nodes, nil
}

// holdsMemory reports whether the nodes have all kinds free, reuse aside.
func (p *planner) holdsMemory(memory []Memory, nodes Mask) bool {
	for _, m := range memory {
		free := int64(0)
		for id := range nodes.All() {
			free += p.FreeMemory(id, m.PageSize)
		}
		if free < m.Bytes {
			return false
		}
	}
	return true
}

// bind takes memory of one kind, less what the pod can reuse on these nodes.
func (p *planner) bind(c *Container, m Memory, nodes Mask) {
	use := memoryUse{nodes, m.PageSize}
	take := max(0, m.Bytes-p.reuseMemory[use])
	p.out.Groups = append(p.out.Groups, nodes)
	for id := range nodes.All() {
		n := &p.memory[p.l.nodeAt[id]]
		n.uses++
		n.group = nodes
		k := n.kind(m.PageSize, false)
		if k == nil || take == 0 || k.free == 0 {
			continue
		}
		part := min(take, k.free)
		k.free -= part
		take -= part
		p.out.Memory = append(p.out.Memory, MemoryBlock{Node: id, PageSize: m.PageSize, Bytes: part})
	}
	if c.reusable() {
		p.reuseMemory[use] = max(p.reuseMemory[use], m.Bytes)
	} else {
		p.reuseMemory[use] = max(0, p.reuseMemory[use]-m.Bytes)
	}
}
