package numa

import "fmt"

// Request is what one pod asks of a machine.
type Request struct {
	// Name identifies the pod; State holds one placement a name.
	Name string
	// Containers in the order in which they start: init containers and
	// sidecars as they come, then the others. The sidecars count for what
	// starts after them.
	Containers []Container
}

// Container is what one container asks for. The caller decides what is
// aligned at all: the kubelet pins CPUs of guaranteed pods with a whole
// number of CPUs, and memory of guaranteed pods.
type Container struct {
	Name string
	// Init containers end before the next container starts, which then
	// reuses what they had. A Sidecar is an init container that goes on.
	Init, Sidecar bool
	// CPUs is the number of exclusive CPUs; 0 leaves the container in the
	// shared pool.
	CPUs int
	// Memory to pin, by page size; every kind at most once.
	Memory []Memory
	// Devices by resource; every resource at most once.
	Devices []DeviceCount
}

// DeviceCount is a number of devices of one extended resource.
type DeviceCount struct {
	Resource string
	Count    int
}

// reusable reports whether what the container had goes to the next ones.
func (c *Container) reusable() bool { return c.Init && !c.Sidecar }

func (r *Request) validate() error {
	if r.Name == "" {
		return fmt.Errorf("%w: Request.Name is empty", ErrRequest)
	}
	for i := range r.Containers {
		c := &r.Containers[i]
		fail := func(field string, value any) error {
			return fmt.Errorf("%w: pod %q: Containers[%d] %q: %s = %v is negative or given twice", ErrRequest, r.Name, i, c.Name, field, value)
		}
		if c.CPUs < 0 || c.CPUs > MaxCPUID {
			return fail("CPUs", c.CPUs)
		}
		pages := map[int64]bool{}
		for _, m := range c.Memory {
			if m.Bytes < 0 || m.PageSize < 0 || pages[m.PageSize] {
				return fail("Memory", m)
			}
			pages[m.PageSize] = true
		}
		names := map[string]bool{}
		for _, d := range c.Devices {
			if d.Count < 0 || names[d.Resource] {
				return fail("Devices", d)
			}
			names[d.Resource] = true
		}
	}
	return nil
}

// total is what the pod needs at its peak: the containers that run together,
// or a single init container with the sidecars started before it (KEP-753).
func (r *Request) total() Container {
	var sidecars, peak, apps Container
	for i := range r.Containers {
		c := &r.Containers[i]
		switch {
		case c.Sidecar:
			sidecars.add(c)
		case c.Init:
			now := *c
			now.Memory, now.Devices = nil, nil
			now.CPUs = 0
			now.add(c)
			now.add(&sidecars)
			peak.raise(&now)
		default:
			apps.add(c)
		}
	}
	apps.add(&sidecars)
	apps.raise(&peak)
	return apps
}

func (c *Container) add(o *Container) {
	c.combine(o, func(a, b int64) int64 { return a + b })
}

func (c *Container) raise(o *Container) {
	c.combine(o, func(a, b int64) int64 { return max(a, b) })
}

// combine merges the amounts of o into c, which owns its slices.
func (c *Container) combine(o *Container, f func(a, b int64) int64) {
	c.CPUs = int(f(int64(c.CPUs), int64(o.CPUs)))
	for _, m := range o.Memory {
		at := -1
		for i := range c.Memory {
			if c.Memory[i].PageSize == m.PageSize {
				at = i
			}
		}
		if at < 0 {
			at = len(c.Memory)
			c.Memory = append(c.Memory, Memory{PageSize: m.PageSize})
		}
		c.Memory[at].Bytes = f(c.Memory[at].Bytes, m.Bytes)
	}
	for _, d := range o.Devices {
		at := -1
		for i := range c.Devices {
			if c.Devices[i].Resource == d.Resource {
				at = i
			}
		}
		if at < 0 {
			at = len(c.Devices)
			c.Devices = append(c.Devices, DeviceCount{Resource: d.Resource})
		}
		c.Devices[at].Count = int(f(int64(c.Devices[at].Count), int64(d.Count)))
	}
}

// Placement is where a pod goes on a machine. It is a value: [State.Plan]
// makes it, [State.Apply] takes it in.
type Placement struct {
	Name       string
	Containers []ContainerPlacement
	// Memory is what the pod takes of each node, what containers reuse
	// counted once.
	Memory []MemoryBlock
	// Groups lists, for each use of memory, the nodes it is bound to. A
	// node takes part in one group at a time.
	Groups []Mask
	// Exact is false if a search ran out of its budget on the way.
	Exact bool
}

// ContainerPlacement is where one container goes.
type ContainerPlacement struct {
	Name string
	// Hint is the merged hint, and Fits what each resource would need.
	Hint Hint
	Fits []ResourceFit
	// CPUs are the exclusive CPUs, empty for the shared pool.
	CPUs CPUSet
	// MemoryNodes are the nodes to bind memory to, empty for no binding.
	MemoryNodes Mask
	// Devices by name.
	Devices []string
}

// MemoryBlock is an amount of memory of one kind on one node.
type MemoryBlock struct {
	Node     int
	PageSize int64
	Bytes    int64
}

// CPUs returns the exclusive CPUs of all containers together.
func (p *Placement) CPUs() CPUSet {
	var s CPUSet
	for i := range p.Containers {
		s = s.Or(p.Containers[i].CPUs)
	}
	return s
}
