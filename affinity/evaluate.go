package affinity

import (
	"context"
	"fmt"
	"iter"

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
	return p.EvaluateWithin(context.Background(), pod, nil, out)
}

// EvaluateWithin is Evaluate as if only the nodes of within were there to choose from, all if it is nil: scores are normalised over
// the feasible of them, as kube-scheduler does with the nodes that all filters leave. It gives up within some microseconds when the
// context is done; the error wraps that of the context, and out means nothing then.
func (p *Profile) EvaluateWithin(ctx context.Context, pod *berth.Pod, within *topology.NodeSet, out *Evaluation) error {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return err
	}
	e := p.filtered(cl, pod, pod.NodeName)
	if within != nil {
		e.restrict(within)
	}
	e.score()
	size := p.g.x.Cap()
	out.Feasible.Clear()
	for s := range out.Scores {
		out.Scores[s] = column(out.Scores[s], size)
	}
	out.Total = column(out.Total, size)
	seen := 0
	for i := range e.feasible {
		f := &e.feasible[i]
		for n := range e.nodes(f) {
			if seen++; seen%interval == 0 && ctx.Err() != nil {
				return fmt.Errorf("affinity: evaluation of pod %v: %w", pod.Key(), context.Cause(ctx))
			}
			if within == nil || within.Has(n) {
				out.Feasible.Add(n)
				e.scoreNode(out, f, n)
			}
		}
	}
	return nil
}

// interval is after how many nodes an evaluation looks whether it is still wanted.
const interval = 512

// restrict takes out the nodes that are not in a set.
func (e *evaluation) restrict(within *topology.NodeSet) {
	kept := e.feasible[:0]
	for i := range e.feasible {
		f := e.feasible[i]
		f.size = 0
		for n := range e.nodes(&f) {
			if within.Has(n) {
				f.size++
			}
		}
		if f.size > 0 {
			kept = append(kept, f)
		}
	}
	e.feasible = kept
}

func (e *evaluation) scoreNode(out *Evaluation, f *scoredGroup, n topology.NodeID) {
	var total int64
	for s := range Scorers {
		var v int64
		if s < ScoreNodeResourcesFit {
			v = e.normalised(s, f)
		} else {
			v = e.c.nodeScore(s, n)
		}
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
	e := p.filtered(cl, pod, pod.NodeName)
	set.Clear()
	for i := range e.feasible {
		for n := range e.nodes(&e.feasible[i]) {
			set.Add(n)
		}
	}
	return nil
}

// nodes iterates over the nodes of a feasible group.
func (e *evaluation) nodes(f *scoredGroup) iter.Seq[topology.NodeID] {
	return func(yield func(topology.NodeID) bool) {
		if f.single {
			yield(f.top.node)
			return
		}
		for _, s := range e.c.groups[f.group].heap {
			if !e.exceptions.has(s.node) && !yield(s.node) {
				return
			}
		}
	}
}

func column(c []int64, n int) []int64 {
	if cap(c) < n {
		return make([]int64, n, n+n/8)
	}
	return c[:n]
}
