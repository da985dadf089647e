package reference

import (
	"maps"
	"slices"

	"github.com/berth-go/berth"
)

// Refusal says which plugin refuses a node first.
type Refusal struct {
	// Plugin is empty for a feasible node.
	Plugin string
	// Resolvable refusals are those that taking pods away could change; only such nodes are candidates of preemption.
	Resolvable bool
}

// decision is what all nodes share while one pod is placed.
type decision struct {
	c   *Cluster
	pod *berth.Pod
	// on are the placed pods by node.
	on [][]*berth.Pod
	// held are the GPUs of placed pods.
	held map[*berth.Pod][]int
	// hard are the spread constraints that refuse.
	hard         []berth.TopologySpreadConstraint
	spread       spreadCounts
	interPod     interPodCounts
	skipInterPod bool
}

func (c *Cluster) decide(pod *berth.Pod) *decision {
	d := &decision{c: c, pod: pod, held: map[*berth.Pod][]int{}}
	for n := range c.Nodes {
		node := &c.Nodes[n]
		pods := c.podsOn(node)
		d.on = append(d.on, pods)
		free := newDevices(node)
		for _, p := range pods {
			d.held[p] = free.take(p)
		}
	}
	d.hard = c.spreadConstraints(pod, berth.DoNotSchedule)
	d.spread = d.countSpread()
	d.interPod = d.countInterPod()
	d.skipInterPod = d.skipsInterPod(d.interPod)
	return d
}

// Filter returns for each node why it refuses the pod, or that it does not.
func (c *Cluster) Filter(pod *berth.Pod) []Refusal {
	d := c.decide(pod)
	refusals := make([]Refusal, len(c.Nodes))
	for n := range c.Nodes {
		if refusals[n] = d.preFilter(&c.Nodes[n]); refusals[n].Plugin == "" {
			refusals[n] = d.filterTwice(d.at(n))
		}
	}
	return refusals
}

// Feasible returns the indices of the nodes that do not refuse the pod.
func (c *Cluster) Feasible(pod *berth.Pod) []int {
	var feasible []int
	for n, r := range c.Filter(pod) {
		if r.Plugin == "" {
			feasible = append(feasible, n)
		}
	}
	return feasible
}

// preFilter refuses nodes that the pod leaves out by name.
func (d *decision) preFilter(node *berth.Node) Refusal {
	names, pinned := pinnedNodes(d.pod)
	switch {
	case pinned && len(names) == 0:
		return Refusal{Plugin: NodeAffinity}
	case d.pod.NodeName != "" && d.pod.NodeName != node.Name:
		return Refusal{Plugin: NodeName}
	case pinned && !slices.Contains(names, node.Name):
		return Refusal{Plugin: NodeAffinity}
	}
	return Refusal{}
}

// state is the cluster as the filters see it while they test one node: with pods of that node added or taken away.
type state struct {
	*decision
	node     *berth.Node
	pods     []*berth.Pod
	held     map[*berth.Pod][]int
	spread   spreadCounts
	interPod interPodCounts
}

// at returns the state of the cluster as it stands, to test node n.
func (d *decision) at(n int) *state {
	s := state{d, &d.c.Nodes[n], d.on[n], d.held, d.spread, d.interPod}
	return s.clone()
}

func (s *state) clone() *state {
	c := *s
	c.pods = slices.Clone(s.pods)
	c.held = maps.Clone(s.held)
	c.spread = make(spreadCounts, len(s.spread))
	for i := range s.spread {
		c.spread[i] = maps.Clone(s.spread[i])
	}
	c.interPod = interPodCounts{maps.Clone(s.interPod.affinity), maps.Clone(s.interPod.antiAffinity), maps.Clone(s.interPod.existing)}
	return &c
}

// add puts a pod on the node; it takes its GPUs if it holds none yet.
func (s *state) add(p *berth.Pod) {
	if _, ok := s.held[p]; !ok {
		s.held[p] = s.freeDevices().take(p)
	}
	s.pods = append(s.pods, p)
	s.shiftSpread(s.spread, p, s.node, 1)
	s.shiftInterPod(s.interPod, p, s.node, 1)
}

// remove takes a pod off the node.
func (s *state) remove(p *berth.Pod) {
	s.pods = slices.DeleteFunc(s.pods, func(q *berth.Pod) bool { return q == p })
	s.shiftSpread(s.spread, p, s.node, -1)
	s.shiftInterPod(s.interPod, p, s.node, -1)
}

func (s *state) freeDevices() devices {
	free := newDevices(s.node)
	for _, p := range s.pods {
		for _, d := range s.held[p] {
			if d >= 0 && d < len(free) {
				free[d] -= p.GPU.Milli
			}
		}
	}
	return free
}

// filterTwice tests the node with the pods nominated to it that hold their room against this one, and then, if it
// passes and there are any, without them (framework/runtime, RunFilterPluginsWithNominatedPods).
func (d *decision) filterTwice(s *state) Refusal {
	nominated := d.c.nominatedTo(s.node, d.pod)
	if len(nominated) > 0 {
		with := s.clone()
		for _, p := range nominated {
			with.add(p)
		}
		if r := with.filter(); r.Plugin != "" {
			return r
		}
	}
	return s.filter()
}

// filter runs the filters in kube-scheduler's default order until one refuses.
func (s *state) filter() Refusal {
	rules := []struct {
		plugin string
		test   func() verdict
	}{
		{NodeName, s.filterNodeName},
		{NodeUnschedulable, func() verdict { return filterUnschedulable(s.pod, s.node) }},
		{TaintToleration, func() verdict { return filterTaints(s.pod, s.node) }},
		{NodeAffinity, func() verdict { return filterNodeAffinity(s.pod, s.node) }},
		{NodePorts, func() verdict { return filterPorts(s.pod, s.pods) }},
		{NodeResourcesFit, func() verdict { return filterFit(s.pod, s.node, s.pods) }},
		{GPU, func() verdict { return filterGPU(s.pod, s.node, s.freeDevices()) }},
		{PodTopologySpread, func() verdict { return s.filterSpread(s.node, s.spread) }},
		{InterPodAffinity, func() verdict {
			if s.skipInterPod {
				return passes
			}
			return s.filterInterPod(s.node, s.interPod)
		}},
	}
	for _, r := range rules {
		if v := r.test(); v != passes {
			return Refusal{Plugin: r.plugin, Resolvable: v == resolvable}
		}
	}
	return Refusal{}
}

// filterNodeName is plugins/nodename.
func (s *state) filterNodeName() verdict {
	if s.pod.NodeName == "" || s.pod.NodeName == s.node.Name {
		return passes
	}
	return unresolvable
}
