package numa

import (
	"fmt"
	"slices"
)

// Plan finds where the pod goes: for each container CPUs, memory and devices
// together, under one merged hint a container or a pod. It changes nothing;
// the same state and request give the same placement, so that a scheduler
// and the node's agent agree. Containers are placed in their order, an init
// container's CPUs, devices and memory being reused by what follows, as in
// the kubelet.
//
// A request that is malformed gets an error that wraps [ErrRequest]; one that
// the machine or its policy refuses gets an [*Unplaceable] that says why.
//
// Cost: one [Layout.Merge] and one [Layout.TakeCPUs] a container, and a copy
// of the state.
func (s *State) Plan(r *Request) (*Placement, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	if _, ok := s.placed[r.Name]; ok {
		return nil, fmt.Errorf("%w: pod %q is placed already", ErrConflict, r.Name)
	}
	p := planner{
		State:        s.Clone(),
		out:          &Placement{Name: r.Name, Exact: true},
		reuseMemory:  map[memoryUse]int64{},
		reuseDevices: make([]bool, len(s.busy)),
	}
	var m MergeResult
	if s.cfg.Scope == ScopePod {
		var err error
		total := r.total()
		if m, err = p.hint(&total); err != nil {
			return nil, p.refusal(r.Name, "", m, err)
		}
	}
	for i := range r.Containers {
		c := &r.Containers[i]
		if s.cfg.Scope == ScopeContainer {
			var err error
			if m, err = p.hint(c); err != nil {
				return nil, p.refusal(r.Name, c.Name, m, err)
			}
		}
		if err := p.place(c, &m); err != nil {
			return nil, p.refusal(r.Name, c.Name, m, err)
		}
	}
	return p.out, nil
}

// planner is one Plan: a private copy of the state and what the pod's
// containers leave to those after them.
type planner struct {
	*State
	out          *Placement
	reuseCPUs    CPUSet
	reuseDevices []bool
	reuseMemory  map[memoryUse]int64
}

// memoryUse names memory of one kind bound to one set of nodes.
type memoryUse struct {
	nodes    Mask
	pageSize int64
}

// hint merges the hints of one container, or refuses.
func (p *planner) hint(c *Container) (MergeResult, error) {
	resources, err := p.resources(c)
	if err != nil {
		return MergeResult{}, err
	}
	m, err := p.l.Merge(p.mergeConfig(), resources)
	if err != nil {
		return m, err
	}
	p.out.Exact = p.out.Exact && m.Exact
	if !m.Admit {
		return m, p.explain(m, resources)
	}
	return m, nil
}

func (p *planner) mergeConfig() MergeConfig {
	return MergeConfig{
		Policy:        p.cfg.Policy,
		PreferClosest: p.cfg.PreferClosest,
		Groups:        p.groups(),
		Budget:        p.cfg.Budget,
	}
}

// place puts one container under the merged hint.
func (p *planner) place(c *Container, m *MergeResult) error {
	out := ContainerPlacement{Name: c.Name, Hint: m.Hint, Fits: m.Resources}
	devices, err := p.takeDevices(c, m.Hint) // in the kubelet's order of providers
	if err != nil {
		return err
	}
	if out.CPUs, err = p.takeCPUs(c, m.Hint); err != nil {
		return err
	}
	if out.MemoryNodes, err = p.takeMemory(c, m.Hint); err != nil {
		return err
	}
	for _, d := range devices {
		out.Devices = append(out.Devices, p.l.devices[d].Name)
	}
	p.out.Containers = append(p.out.Containers, out)
	return nil
}

// resources writes the container's requests as capacity predicates.
func (p *planner) resources(c *Container) ([]Resource, error) {
	var list []Resource
	if c.CPUs > 0 {
		list = append(list, p.cpuResource(c.CPUs))
	}
	list = append(list, p.memoryResources(c.Memory)...)
	for _, d := range c.Devices {
		if d.Count == 0 {
			continue
		}
		r, err := p.deviceResource(d)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func (p *planner) cpuResource(n int) Resource {
	r := Resource{Name: "cpu", AlignSockets: p.cfg.CPU.AlignSockets}
	d := Demand{Amount: int64(n), Supply: make([]Supply, 0, p.l.cpuNodes)}
	free := make([]int64, len(p.l.node))
	count := func(s CPUSet) {
		for id := range s.All() {
			free[p.l.place[p.l.cpuAt[id]].node]++
		}
	}
	count(p.free)
	count(p.reuseCPUs)
	for i := range p.l.node {
		if total := len(p.l.node[i].cpus); total > 0 {
			d.Supply = append(d.Supply, Supply{Nodes: MaskOf(p.l.nodeIDs[i]), Total: int64(total), Free: free[i]})
		}
	}
	r.Demands = []Demand{d}
	var reused Mask
	for id := range p.reuseCPUs.All() {
		reused.Add(p.l.NodeOf(id))
	}
	for id := range reused.All() {
		r.Must = append(r.Must, MaskOf(id))
	}
	return r
}

// takeCPUs takes a container's CPUs and passes on those of an init container.
func (p *planner) takeCPUs(c *Container, h Hint) (CPUSet, error) {
	if c.CPUs == 0 {
		return CPUSet{}, nil
	}
	if p.cfg.CPU.FullCores {
		if err := p.fullCores(c.CPUs); err != nil {
			return CPUSet{}, err
		}
	}
	free := p.free.Or(p.reuseCPUs)
	cpus, err := p.l.TakeAlignedCPUs(free, c.CPUs, h, p.cfg.CPU)
	if err != nil {
		return CPUSet{}, reasons{{Code: ReasonShort, Resource: "cpu", Nodes: p.l.all, Need: int64(c.CPUs), Free: int64(free.Len())}}
	}
	p.free = p.free.Minus(cpus)
	if c.reusable() {
		p.reuseCPUs = p.reuseCPUs.Or(cpus)
	} else {
		p.reuseCPUs = p.reuseCPUs.Minus(cpus)
	}
	return cpus, nil
}

// fullCores checks what full-pcpus-only asks of the number alone
// (cpumanager, enforceSMTAlignment). CPUs on the cores of reserved ones do
// not count, nor, as in the kubelet, do those that could be reused.
func (p *planner) fullCores(n int) error {
	threads := max(1, p.l.threadsPerCore())
	if n%threads != 0 {
		return reasons{{Code: ReasonPartCore, Resource: "cpu", Need: int64(n), Free: int64(threads)}}
	}
	free := p.free
	if p.cfg.CPU.Compatible {
		for id := range p.reserved.All() {
			for _, c := range p.l.core[p.l.place[p.l.cpuAt[id]].core].cpus {
				free = free.Minus(CPUs(p.l.cpuIDs[c]))
			}
		}
	}
	if free.Len() < n {
		return reasons{{Code: ReasonShort, Resource: "cpu", Nodes: p.l.all, Need: int64(n), Free: int64(free.Len())}}
	}
	return nil
}

// deviceResource describes a device resource. Without any node known for any
// of its devices it has no preference (devicemanager,
// deviceHasTopologyAlignment).
func (p *planner) deviceResource(c DeviceCount) (Resource, error) {
	r := Resource{Name: c.Resource}
	d := Demand{Amount: int64(c.Count)}
	known, free := false, 0
	for i := range p.l.devices {
		dev := &p.l.devices[i]
		if dev.Resource != c.Resource {
			continue
		}
		known = true
		s := Supply{Nodes: dev.Nodes, Total: 1}
		if p.deviceFree(i) {
			s.Free = 1
			free++
		}
		if !dev.Nodes.IsEmpty() {
			d.Supply = append(d.Supply, s)
			if p.reuseDevices[i] {
				r.Must = append(r.Must, dev.Nodes)
			}
		}
	}
	if !known || free < c.Count && p.cfg.Policy != PolicyNone && p.cfg.Policy != PolicyBestEffort {
		return r, reasons{{Code: ReasonShort, Resource: c.Resource, Nodes: p.l.all, Need: int64(c.Count), Free: int64(free)}}
	}
	if len(d.Supply) > 0 {
		if free < c.Count {
			d.Supply = []Supply{{Nodes: d.Supply[0].Nodes}} // no mask can hold it
		}
		r.Demands = []Demand{d}
	}
	return r, nil
}

func (p *planner) deviceFree(i int) bool {
	return p.reuseDevices[i] || !p.busy[i] && !p.l.devices[i].Unhealthy
}

// takeDevices chooses all devices of a container together: first what can be
// reused, then from the hint's nodes, then from elsewhere (devicemanager,
// devicesToAllocate), best connected among equals.
func (p *planner) takeDevices(c *Container, h Hint) ([]int32, error) {
	var fixed []int32
	var quotas []quota
	for _, d := range c.Devices {
		have, q, err := p.deviceQuota(d, h)
		if err != nil {
			return nil, err
		}
		fixed = append(fixed, have...)
		quotas = append(quotas, q)
	}
	w := work{left: p.cfg.Budget}
	if w.left == 0 {
		w.left = defaultBudget
	}
	chosen := append(fixed, p.l.bestConnected(quotas, fixed, &w)...)
	p.out.Exact = p.out.Exact && !w.exhausted()
	slices.Sort(chosen)
	for _, d := range chosen {
		p.busy[d] = true
		p.reuseDevices[d] = c.reusable()
	}
	return chosen, nil
}

// deviceQuota lists the devices that one request takes in any case, and from
// which others the rest comes.
func (p *planner) deviceQuota(c DeviceCount, h Hint) (fixed []int32, q quota, err error) {
	var reused, aligned, elsewhere, unknown []int32
	total := 0
	for i := range p.l.devices {
		dev := &p.l.devices[i]
		if dev.Resource != c.Resource || !p.deviceFree(i) {
			continue
		}
		total++
		switch {
		case p.reuseDevices[i]:
			reused = append(reused, int32(i))
		case dev.Nodes.IsEmpty() || h.Any:
			unknown = append(unknown, int32(i))
		case dev.Nodes.Intersects(&h.Nodes):
			aligned = append(aligned, int32(i))
		default:
			elsewhere = append(elsewhere, int32(i))
		}
	}
	need := c.Count
	if total < need {
		return nil, q, reasons{{Code: ReasonShort, Resource: c.Resource, Nodes: p.l.all, Need: int64(need), Free: int64(total)}}
	}
	for _, list := range [][]int32{reused, aligned, elsewhere, unknown} {
		if need < len(list) {
			return fixed, quota{list, need}, nil
		}
		fixed = append(fixed, list...)
		need -= len(list)
	}
	return fixed, q, nil
}
