package score

import (
	"context"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Inspection is a decision laid open: all that it was made of. It is a copy; later decisions do not change it.
type Inspection struct {
	// Feasible are the nodes that rules, filters and signals leave.
	Feasible topology.NodeSet
	// Refused is what each filter refused of the nodes that the rules and the filters before it left, and after them each
	// signal; those that refused none are left out.
	Refused []Refused
	// Builtin are the built-in scores of the nodes that rules and filters leave; without meaning if all weights are 0.
	Builtin affinity.Evaluation
	// Columns are the scores of the pipeline's own scorers, then of its signals.
	Columns []Column
	// Total is the sum of the scores times their weights, by NodeID.
	Total []int64
	// Best is the node that Decide chooses, topology.None if no node is feasible.
	Best topology.NodeID
}

// Refused are nodes that a filter or a signal refused.
type Refused struct {
	Name  string
	Nodes topology.NodeSet
}

// Column is what one scorer, or signal, gave the feasible nodes.
type Column struct {
	Name   string
	Weight int64
	// Scores are normalised and before their weight, by NodeID.
	Scores []int64
	// Late is true for a signal without answer, whose scores are those of its fallback.
	Late bool
}

// Inspect decides on a pod as DecideContext does, the same plugins being asked in the same way, and lays the decision open;
// nothing is changed. That no node is feasible is not an error. O(nodes * scorers), all allocated.
func (p *Pipeline) Inspect(ctx context.Context, pod *berth.Pod) (*Inspection, error) {
	if err := p.enter(ctx, pod); err != nil {
		return nil, err
	}
	defer p.leave()
	var plugins []PluginID
	if p.registry != nil {
		plugins = p.registry.Plugins(pod)
	}
	p.with.take(p, plugins)
	if err := p.profile.Feasible(pod, &p.feasible); err != nil {
		return nil, err
	}
	i := &Inspection{Best: topology.None}
	if err := i.filter(p); err != nil {
		return nil, err
	}
	if err := p.scoreBuiltin(ctx, pod); err != nil {
		return nil, err
	}
	if p.nodes = p.feasible.AppendTo(p.nodes[:0]); len(p.nodes) > 0 {
		if err := i.score(ctx, p); err != nil {
			return nil, err
		}
	}
	i.Feasible = *p.feasible.Clone()
	i.Builtin.Feasible = *p.eval.Feasible.Clone()
	for s, c := range p.eval.Scores {
		i.Builtin.Scores[s] = append([]int64(nil), c...)
	}
	i.Builtin.Total = append([]int64(nil), p.eval.Total...)
	return i, nil
}

// filter asks the filters one by one.
func (i *Inspection) filter(p *Pipeline) error {
	all := p.with.filters
	defer func() { p.with.filters = all }()
	for k := range all {
		before := p.feasible.Clone()
		p.with.filters = all[k : k+1]
		if err := p.filter(); err != nil {
			return err
		}
		before.Subtract(&p.feasible)
		i.refused(all[k].Name(), before)
	}
	return nil
}

func (i *Inspection) refused(name string, nodes *topology.NodeSet) {
	if !nodes.Empty() {
		i.Refused = append(i.Refused, Refused{name, *nodes})
	}
}

// score asks scorers and signals, and takes over what they say.
func (i *Inspection) score(ctx context.Context, p *Pipeline) error {
	recorders := make([]*recorder, len(p.signals.all))
	for k := range p.signals.all {
		recorders[k] = &recorder{Source: p.signals.all[k].Source}
		p.signals.all[k].Source = recorders[k]
	}
	defer func() {
		for k := range p.signals.all {
			p.signals.all[k].Source = recorders[k].Source
		}
	}()
	left, nodes := p.feasible.Clone(), append([]topology.NodeID(nil), p.nodes...)
	p.refused = p.refused[:0]
	outcomes, err := p.score(ctx)
	if err != nil {
		return err
	}
	left.Subtract(&p.feasible)
	for _, count := range p.refused { // a source that is not among them may still be at work
		for k := range recorders {
			if recorders[k].Name() == count.Name {
				i.refused(count.Name, recorders[k].of(nodes, left))
			}
		}
	}
	if len(p.nodes) == 0 {
		return nil
	}
	for k, s := range p.with.scorers {
		i.Columns = append(i.Columns, Column{Name: s.Name(), Weight: s.weight, Scores: append([]int64(nil), p.pass.columns[k]...)})
	}
	for k, o := range outcomes {
		c := Column{Name: o.Signal, Weight: p.signals.all[k].Weight, Scores: append([]int64(nil), p.signals.columns[k]...), Late: o.Err != nil}
		i.Columns = append(i.Columns, c)
	}
	i.Total, i.Best = append([]int64(nil), p.pass.total...), p.pass.winner()
	return nil
}

// recorder is a Source that keeps what it refused.
type recorder struct {
	Source
	refused []bool
}

func (r *recorder) Fetch(ctx context.Context, q *Query) error {
	err := r.Source.Fetch(ctx, q)
	r.refused = append([]bool(nil), q.Refused...)
	return err
}

// of returns those of nodes that the source refused and that nobody refused before, and takes them out of left.
func (r *recorder) of(nodes []topology.NodeID, left *topology.NodeSet) *topology.NodeSet {
	var set topology.NodeSet
	for k, refused := range r.refused {
		if refused && left.Has(nodes[k]) {
			set.Add(nodes[k])
			left.Remove(nodes[k])
		}
	}
	return &set
}
