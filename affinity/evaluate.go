package affinity

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Evaluation is the answer for a pod on all nodes at once: a set and columns. Its memory is reused by the next Evaluate.
type Evaluation struct {
	// Feasible is the set of the feasible nodes.
	Feasible topology.NodeSet
	// Scores holds a column for each built-in score: normalised to 0..100, before its weight, by NodeID, of length
	// Topology().Cap(). Only the elements of feasible nodes mean anything.
	Scores [Scorers][]int64
	// Total is the sum of the scores times their weights.
	Total []int64
}

// Evaluate fills out with the feasible nodes and their scores. The error is a *berth.Fault. O(nodes + spec).
func (p *Profile) Evaluate(pod *berth.Pod, out *Evaluation) error {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return err
	}
	e := p.evaluate(cl, pod)
	size := p.g.x.Cap()
	out.Feasible.Clear()
	for s := range out.Scores {
		out.Scores[s] = column(out.Scores[s], size)
	}
	out.Total = column(out.Total, size)
	for i := range e.feasible {
		f := &e.feasible[i]
		e.eachNode(f, func(n topology.NodeID) {
			out.Feasible.Add(n)
			e.scoreNode(out, f, n)
		})
	}
	return nil
}

func (e *evaluation) scoreNode(out *Evaluation, f *scoredGroup, n topology.NodeID) {
	var total int64
	for s := range Scorers {
		v := e.scoreOf(s, f, n)
		out.Scores[s][n] = v
		total += v * e.c.p.cfg.Weights[s]
	}
	out.Total[n] = total
}

// Feasible makes set the set of the feasible nodes. The error is a *berth.Fault. O(groups + feasible nodes).
func (p *Profile) Feasible(pod *berth.Pod, set *topology.NodeSet) error {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return err
	}
	e := p.evaluate(cl, pod)
	set.Clear()
	for i := range e.feasible {
		e.eachNode(&e.feasible[i], set.Add)
	}
	return nil
}

// eachNode calls f for each node of a feasible group.
func (e *evaluation) eachNode(sg *scoredGroup, f func(topology.NodeID)) {
	if sg.single {
		f(sg.top.node)
		return
	}
	for _, s := range e.c.groups[sg.group].heap {
		if !e.exceptions.has(s.node) {
			f(s.node)
		}
	}
}

func column(c []int64, n int) []int64 {
	if cap(c) < n {
		return make([]int64, n, n+n/8)
	}
	return c[:n]
}
