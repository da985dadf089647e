package score

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Pipeline decides on the pods of one graph under one Config. Make one with New.
type Pipeline struct {
	graph   *affinity.Graph
	profile *affinity.Profile
	filters []Filter
	scorers []Weighted
	columns columnCache

	// scratch, reused by the next decision
	in       Input
	feasible topology.NodeSet
	before   topology.NodeSet
	refused  []int // by filter
	nodes    []topology.NodeID
	total    []int64
	eval     affinity.Evaluation
	// own, by scorer, are the columns of a decision, and fresh and scaled memory for those that are made for it.
	own, fresh, scaled [][]int64
}

// New returns a pipeline on a graph. The error wraps ErrConfig or affinity.ErrConfig.
func New(g *affinity.Graph, cfg Config) (*Pipeline, error) {
	profile, err := g.NewProfile(cfg.Profile)
	if err != nil {
		return nil, err
	}
	if cfg.MaxColumnBytes < 0 {
		return nil, fmt.Errorf("%w: MaxColumnBytes is %d", ErrConfig, cfg.MaxColumnBytes)
	}
	if cfg.MaxColumnBytes == 0 {
		cfg.MaxColumnBytes = 64 << 20
	}
	p := &Pipeline{graph: g, profile: profile, columns: newColumnCache(cfg.MaxColumnBytes)}
	names := make(map[string]bool)
	for i, f := range cfg.Filters {
		if f == nil {
			return nil, fmt.Errorf("%w: Filters[%d] is nil", ErrConfig, i)
		}
		if names[f.Name()] {
			return nil, fmt.Errorf("%w: Filters[%d]: the name %q is taken", ErrConfig, i, f.Name())
		}
		names[f.Name()] = true
	}
	p.filters, p.refused = slices.Clone(cfg.Filters), make([]int, len(cfg.Filters))
	clear(names)
	for i, w := range cfg.Scorers {
		switch {
		case w.Scorer == nil:
			return nil, fmt.Errorf("%w: Scorers[%d] is nil", ErrConfig, i)
		case w.Weight < 0 || w.Weight > 1<<20:
			return nil, fmt.Errorf("%w: Scorers[%d] (%s): weight %d is not in 0..%d", ErrConfig, i, w.Scorer.Name(), w.Weight, 1<<20)
		case names[w.Scorer.Name()]:
			return nil, fmt.Errorf("%w: Scorers[%d]: the name %q is taken", ErrConfig, i, w.Scorer.Name())
		}
		names[w.Scorer.Name()] = true
		if w.Weight == 0 {
			w.Weight = 1
		}
		p.scorers = append(p.scorers, w)
	}
	p.own, p.fresh, p.scaled = make([][]int64, len(p.scorers)), make([][]int64, len(p.scorers)), make([][]int64, len(p.scorers))
	return p, nil
}

// Graph returns the graph that the pipeline decides on.
func (p *Pipeline) Graph() *affinity.Graph { return p.graph }

// Profile returns the profile of the pipeline: verdicts for single nodes, feasible sets, columns of built-in scores.
func (p *Pipeline) Profile() *affinity.Profile { return p.profile }

// Decision is where a pod goes, and why.
type Decision struct {
	Node string
	// Score is the sum of the scores times their weights.
	Score int64
	// Builtin are the built-in scores of the node, 0..100, before their weights; 0 for one whose weight is 0.
	Builtin [affinity.Scorers]int64
	// Own are the scores of the pipeline's scorers, in their order, after normalising and before their weights.
	Own []int64
	// Devices are the GPUs that a DevicePicker chose; nil leaves them to Graph.Bind.
	Devices []int
	// Feasible is the number of feasible nodes.
	Feasible int
}

// Decide returns the best feasible node for a pod; nothing is changed. The error is a *berth.Fault for a bad spec, an
// *Unschedulable if no node is feasible, or what a plugin returned, with its name.
//
// With built-in scores alone the cost is that of affinity.Profile.Best, and nothing is allocated; with others it is
// O(feasible nodes), and Decision.Own is all that is allocated, besides what plugins do. Saying why a pod fits nowhere is O(nodes).
func (p *Pipeline) Decide(pod *berth.Pod) (Decision, error) {
	if len(p.scorers) > 0 || len(p.filters) > 0 {
		return p.decideByColumns(pod)
	}
	choice, ok, err := p.profile.Best(pod)
	if err != nil {
		return Decision{}, err
	}
	if !ok {
		return Decision{}, p.unschedulable(pod)
	}
	return Decision{
		Node:     p.graph.Topology().Name(choice.Node),
		Score:    choice.Score,
		Builtin:  choice.Scores,
		Feasible: choice.Feasible,
	}, nil
}

// Place decides and binds the pod.
func (p *Pipeline) Place(pod *berth.Pod) (Decision, error) {
	d, err := p.Decide(pod)
	if err != nil {
		return d, err
	}
	if len(d.Devices) > 0 {
		placed := *pod
		placed.GPU.Devices = d.Devices
		pod = &placed
	}
	return d, p.graph.Bind(pod, d.Node)
}

func (p *Pipeline) unschedulable(pod *berth.Pod) error {
	u := &Unschedulable{Pod: pod.Key(), Nodes: p.graph.Topology().Len()}
	err := p.profile.Verdicts(pod, func(_ topology.NodeID, v affinity.Verdict) {
		if v.Rule == affinity.Feasible {
			return // for the rules: filters refused it
		}
		u.Refused[v.Rule]++
		if v.Resolvable {
			u.Resolvable++
		}
	})
	if err != nil {
		return err
	}
	for i, n := range p.refused {
		if n > 0 {
			u.Filters = append(u.Filters, FilterCount{p.filters[i].Name(), n})
		}
	}
	return u
}

// filter asks the filters in turn, until they leave no node, and counts what each refuses.
func (p *Pipeline) filter() error {
	clear(p.refused)
	left := p.feasible.Len()
	for i, f := range p.filters {
		if left == 0 {
			return nil
		}
		p.before.CopyFrom(&p.feasible)
		if err := p.ask(f); err != nil {
			return fmt.Errorf("score: %s: %w", f.Name(), err)
		}
		had := left
		left = p.feasible.Len()
		p.refused[i] = had - left
		p.feasible.Intersect(&p.before)
		if added := left - p.feasible.Len(); added > 0 {
			return fmt.Errorf("score: %s: %w: the filter added %d nodes", f.Name(), ErrPlugin, added)
		}
	}
	return nil
}

func (p *Pipeline) ask(f Filter) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v", ErrPlugin, r)
		}
	}()
	return f.Filter(&p.in, &p.feasible)
}

// decideByColumns is the general path: a set of feasible nodes, a column a scorer, their weighted sum, its maximum.
func (p *Pipeline) decideByColumns(pod *berth.Pod) (Decision, error) {
	class, err := p.graph.Class(pod)
	if err != nil {
		return Decision{}, err
	}
	p.in = Input{Pod: pod, Graph: p.graph, Class: class}
	defer func() { p.in.Pod = nil }() // the caller's, not to be kept
	size := p.graph.Topology().Cap()
	p.total = sized(p.total, size)
	if p.profile.Weights() == (affinity.Weights{}) {
		if err := p.profile.Feasible(pod, &p.feasible); err != nil {
			return Decision{}, err
		}
		if err := p.filter(); err != nil {
			return Decision{}, err
		}
		p.nodes = p.feasible.AppendTo(p.nodes[:0])
		for _, n := range p.nodes {
			p.total[n] = 0
		}
	} else {
		if err := p.profile.Evaluate(pod, &p.eval); err != nil {
			return Decision{}, err
		}
		p.feasible.CopyFrom(&p.eval.Feasible)
		if err := p.filter(); err != nil {
			return Decision{}, err
		}
		p.nodes = p.feasible.AppendTo(p.nodes[:0])
		for _, n := range p.nodes {
			p.total[n] = p.eval.Total[n]
		}
	}
	if len(p.nodes) == 0 {
		return Decision{}, p.unschedulable(pod)
	}
	d := Decision{Feasible: len(p.nodes), Own: make([]int64, len(p.scorers))}
	for i, w := range p.scorers {
		if p.own[i], err = p.column(i); err != nil {
			return Decision{}, fmt.Errorf("score: %s: %w", w.Scorer.Name(), err)
		}
		for _, n := range p.nodes {
			p.total[n] += w.Weight * p.own[i][n]
		}
	}
	best := p.nodes[0]
	for _, n := range p.nodes[1:] {
		if p.total[n] > p.total[best] || p.total[n] == p.total[best] && p.graph.Before(n, best) {
			best = n
		}
	}
	d.Node, d.Score = p.graph.Topology().Name(best), p.total[best]
	for i := range p.own {
		d.Own[i] = p.own[i][best]
	}
	for s, weight := range p.profile.Weights() {
		if weight > 0 {
			d.Builtin[s] = p.eval.Scores[s][best]
		}
	}
	d.Devices = p.pickDevices(best)
	return d, nil
}

func (p *Pipeline) pickDevices(n topology.NodeID) []int {
	if p.in.Pod.GPU.Count == 0 {
		return nil
	}
	for _, w := range p.scorers {
		if picker, ok := w.Scorer.(DevicePicker); ok {
			return picker.PickDevices(&p.in, n)
		}
	}
	return nil
}

// column returns the normalised column of scorer i over the feasible nodes.
func (p *Pipeline) column(i int) ([]int64, error) {
	s, size := p.scorers[i].Scorer, p.graph.Topology().Cap()
	var column []int64
	if _, ok := s.(Local); ok {
		c := p.columns.of(s.Name(), p.in.Class, p.graph)
		stale := c.stale(&p.feasible)
		if err := s.Score(&p.in, stale, c.scores); err != nil {
			c.forget(stale)
			return nil, err
		}
		column = c.scores
	} else {
		p.fresh[i] = sized(p.fresh[i], size)
		column = p.fresh[i]
		if err := s.Score(&p.in, p.nodes, column); err != nil {
			return nil, err
		}
	}
	norm, ok := s.(Normalizer)
	if !ok {
		return column, nil
	}
	p.scaled[i] = sized(p.scaled[i], size)
	for _, n := range p.nodes {
		p.scaled[i][n] = column[n]
	}
	return p.scaled[i], norm.Normalize(&p.in, p.nodes, p.scaled[i])
}

func sized(c []int64, n int) []int64 {
	if cap(c) < n {
		return make([]int64, n, n+n/8)
	}
	return c[:n]
}
