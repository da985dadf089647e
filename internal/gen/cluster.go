package gen

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// Cluster draws a cluster. Placed pods mostly fit, and mostly do not obey the other rules.
func (g *Generator) Cluster() *Cluster {
	c := &Cluster{Namespaces: g.namespaces()}
	for range g.between(1, max(g.o.Nodes, 1)) {
		c.Nodes = append(c.Nodes, g.Node())
	}
	for range g.rng.IntN(g.o.Pods + 1) {
		g.addPod(c)
	}
	c.Budgets = upTo(g, 4, g.o.Budget, g.budget(c))
	for i := range c.Budgets {
		c.Budgets[i].Name = fmt.Sprintf("budget-%d", i)
	}
	return c
}

func (g *Generator) namespaces() []berth.Namespace {
	names := namespaceNames()
	var namespaces []berth.Namespace
	for _, name := range names[:len(names)-1] {
		n := berth.Namespace{Name: name, Labels: g.labels(namespaceVocabulary())}
		n.Labels["kubernetes.io/metadata.name"] = name
		namespaces = append(namespaces, n)
	}
	return namespaces
}

func (g *Generator) addPod(c *Cluster) {
	p := g.Pod()
	p.NodeName = ""
	p.Terminating = g.chance(g.o.Terminating)
	p.Preempted = p.Terminating && g.chance(g.o.Preempted)
	switch {
	case g.chance(g.o.Unplaced):
	case g.chance(g.o.Nominated):
		p.NominatedNodeName = g.nodeName()
	default:
		if !g.place(c, &p) {
			return
		}
	}
	c.Pods = append(c.Pods, p)
}

// Place puts a pod on a random node of the cluster where it fits, or anywhere at the rate of OverCommit, and adds it to
// the cluster. It reports whether it found a node.
func (g *Generator) Place(c *Cluster, p berth.Pod) bool {
	if !g.place(c, &p) {
		return false
	}
	c.Pods = append(c.Pods, p)
	return true
}

func (g *Generator) place(c *Cluster, p *berth.Pod) bool {
	p.StartTime = g.startTime()
	if g.chance(g.o.UnknownNode) {
		p.NodeName = "node-unknown"
		return true
	}
	careless := g.chance(g.o.OverCommit)
	for _, n := range g.rng.Perm(len(c.Nodes)) {
		node := &c.Nodes[n]
		if !careless && !fits(c, node, p) {
			continue
		}
		p.NodeName = node.Name
		if p.GPU.Count > 0 && !g.chance(g.o.OmitDevices) {
			p.GPU.Devices = g.devices(&p.GPU, freeDevices(c, node))
		}
		return true
	}
	return false
}

// fits checks amounts, devices and host ports.
func fits(c *Cluster, node *berth.Node, p *berth.Pod) bool {
	free := node.Allocatable
	ports := map[int32]bool{}
	for i := range c.Pods {
		q := &c.Pods[i]
		if q.NodeName != node.Name {
			continue
		}
		free.Pods--
		free.MilliCPU -= q.Requests.MilliCPU
		free.Memory -= q.Requests.Memory
		free.EphemeralStorage -= q.Requests.EphemeralStorage
		for _, port := range q.HostPorts {
			ports[port.Port] = true
		}
	}
	for _, port := range p.HostPorts {
		if ports[port.Port] {
			return false
		}
	}
	if free.Pods < 1 || p.Requests.MilliCPU > free.MilliCPU || p.Requests.Memory > free.Memory ||
		p.Requests.EphemeralStorage > free.EphemeralStorage {
		return false
	}
	for name, amount := range p.Requests.Scalar {
		if amount > free.Scalar[name]-heldScalar(c, node, name) {
			return false
		}
	}
	return p.GPU.Count == 0 || len(fitting(&p.GPU, freeDevices(c, node))) >= p.GPU.Count
}

func heldScalar(c *Cluster, node *berth.Node, name string) int64 {
	var sum int64
	for i := range c.Pods {
		if c.Pods[i].NodeName == node.Name {
			sum += c.Pods[i].Requests.Scalar[name]
		}
	}
	return sum
}

// freeDevices returns the free milli of a node's devices, as far as its pods say what they hold.
func freeDevices(c *Cluster, node *berth.Node) []int64 {
	free := slices.Repeat([]int64{berth.GPUMilli}, max(node.GPUs.Count, 0))
	for i := range c.Pods {
		if c.Pods[i].NodeName != node.Name {
			continue
		}
		for _, d := range c.Pods[i].GPU.Devices {
			if d < len(free) { // a node of the same name may have had more
				free[d] -= c.Pods[i].GPU.Milli
			}
		}
	}
	return free
}

func fitting(r *berth.GPURequest, free []int64) []int {
	var devices []int
	for i, milli := range free {
		if milli >= r.Milli {
			devices = append(devices, i)
		}
	}
	return devices
}

// devices returns random fitting devices, or none if there are too few.
func (g *Generator) devices(r *berth.GPURequest, free []int64) []int {
	devices := fitting(r, free)
	if r.Count < 0 || len(devices) < r.Count {
		return nil
	}
	g.rng.Shuffle(len(devices), func(i, j int) { devices[i], devices[j] = devices[j], devices[i] })
	return devices[:r.Count]
}

func (g *Generator) budget(c *Cluster) func() berth.PodDisruptionBudget {
	return func() berth.PodDisruptionBudget {
		b := berth.PodDisruptionBudget{
			Namespace: pick(g, namespaceNames()...), Selector: g.selector(podVocabulary(), nil),
			DisruptionsAllowed: int32(g.rng.IntN(3)),
		}
		for i := range c.Pods {
			if c.Pods[i].Namespace == b.Namespace && g.chance(0.05) {
				b.DisruptedPods = append(b.DisruptedPods, c.Pods[i].Name)
			}
		}
		return b
	}
}
