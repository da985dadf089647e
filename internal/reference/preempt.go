package reference

import (
	"slices"

	"github.com/berth-go/berth"
)

// Candidate is a node that would take the pod if its victims were evicted.
type Candidate struct {
	// Node is an index into Cluster.Nodes.
	Node int
	// Victims are the pods to evict, most important first: by priority, then by earlier start, then by arrival.
	Victims []*berth.Pod
	// Violations is the number of victims whose eviction violates a disruption budget.
	Violations int
}

// Preemption says where evictions would help a pod.
type Preemption struct {
	// Candidates are in the order of Cluster.Nodes.
	Candidates []Candidate
	// Best are the nodes of the candidates that no criterion prefers another to. kube-scheduler takes any one of them.
	Best []int
}

// Preempt is plugins/defaultpreemption, with every node tried that is refused for a resolvable reason. It is meant for a
// pod that is feasible nowhere.
func (c *Cluster) Preempt(pod *berth.Pod) Preemption {
	var p Preemption
	refusals := c.Filter(pod)
	if !c.mayPreempt(pod, refusals) {
		return p
	}
	d := c.decide(pod)
	for n, r := range refusals {
		if !r.Resolvable {
			continue
		}
		if candidate, ok := d.dryRun(n); ok {
			p.Candidates = append(p.Candidates, candidate)
		}
	}
	p.Best = best(p.Candidates)
	return p
}

// mayPreempt: not if the pod's policy forbids it, and not while a victim is leaving the node that was made free for it,
// unless that node would refuse it anyway.
func (c *Cluster) mayPreempt(pod *berth.Pod, refusals []Refusal) bool {
	if pod.PreemptNever {
		return false
	}
	for n := range c.Nodes {
		node := &c.Nodes[n]
		if node.Name != pod.NominatedNodeName || refusals[n].Plugin != "" && !refusals[n].Resolvable {
			continue
		}
		for _, p := range c.podsOn(node) {
			if p.Priority < pod.Priority && p.Terminating && p.Preempted {
				return false
			}
		}
	}
	return true
}

// dryRun takes all pods of lower priority off a node and, if the pod fits then, puts back those that it can do with: first
// the ones whose eviction would violate a budget, and among these and the others the most important first.
func (d *decision) dryRun(n int) (Candidate, bool) {
	s := d.at(n)
	var potential []*berth.Pod
	for _, p := range d.on[n] {
		if p.Priority < d.pod.Priority {
			potential = append(potential, p)
			s.remove(p)
		}
	}
	if len(potential) == 0 || d.filterTwice(s).Plugin != "" {
		return Candidate{}, false
	}
	slices.SortStableFunc(potential, byImportance)
	violating, others := d.c.splitByBudgets(potential)

	candidate := Candidate{Node: n}
	for _, p := range violating {
		if !d.reprieve(s, p) {
			candidate.Victims = append(candidate.Victims, p)
			candidate.Violations++
		}
	}
	for _, p := range others {
		if !d.reprieve(s, p) {
			candidate.Victims = append(candidate.Victims, p)
		}
	}
	slices.SortStableFunc(candidate.Victims, byImportance)
	return candidate, len(candidate.Victims) > 0
}

// reprieve puts a pod back, unless there is no room for both.
func (d *decision) reprieve(s *state, p *berth.Pod) bool {
	s.add(p)
	if d.filterTwice(s).Plugin == "" {
		return true
	}
	s.remove(p)
	return false
}
