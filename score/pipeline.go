package score

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Pipeline decides on the pods of one graph under one Config. Make one with New.
type Pipeline struct {
	graph     *affinity.Graph
	profile   *affinity.Profile
	plugins   bool // whether there is anything besides the profile
	filters   []Filter
	scorers   []*scorer
	reservers []Reserver
	registry  *Registry
	workers   int
	signals   signals
	columns   columnCache
	pass      pass

	// scratch, reused by the next decision
	with     with
	in       Input
	feasible topology.NodeSet
	before   topology.NodeSet
	refused  []FilterCount // by filters and signals
	nodes    []topology.NodeID
	eval     affinity.Evaluation
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
	if cfg.Workers < 0 {
		return nil, fmt.Errorf("%w: Workers is %d", ErrConfig, cfg.Workers)
	}
	p := &Pipeline{graph: g, profile: profile, workers: cfg.Workers, registry: cfg.Registry, columns: newColumnCache(cfg.MaxColumnBytes)}
	p.pass.init(p)
	if err := p.signals.init(p, cfg.Signals); err != nil {
		return nil, err
	}
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
	p.filters = slices.Clone(cfg.Filters)
	for i, r := range cfg.Reservers {
		if r == nil {
			return nil, fmt.Errorf("%w: Reservers[%d] is nil", ErrConfig, i)
		}
	}
	p.reservers = slices.Clone(cfg.Reservers)
	clear(names)
	for i, w := range cfg.Scorers {
		switch {
		case w.Scorer == nil:
			return nil, fmt.Errorf("%w: Scorers[%d] is nil", ErrConfig, i)
		case w.Weight < 0 || w.Weight > maxWeight:
			return nil, fmt.Errorf("%w: Scorers[%d] (%s): weight %d is not in 0..%d", ErrConfig, i, w.Scorer.Name(), w.Weight, maxWeight)
		case names[w.Scorer.Name()]:
			return nil, fmt.Errorf("%w: Scorers[%d]: the name %q is taken", ErrConfig, i, w.Scorer.Name())
		}
		names[w.Scorer.Name()] = true
		if w.Weight == 0 {
			w.Weight = 1
		}
		p.scorers = append(p.scorers, newScorer(w))
	}
	p.plugins = len(p.scorers) > 0 || len(p.filters) > 0 || len(p.signals.all) > 0 || p.registry != nil
	p.with.take(p, nil)
	return p, nil
}

// Graph returns the graph that the pipeline decides on.
func (p *Pipeline) Graph() *affinity.Graph { return p.graph }

// Profile returns the profile of the pipeline: verdicts for single nodes, feasible sets, columns of built-in scores.
func (p *Pipeline) Profile() *affinity.Profile { return p.profile }

// SetWorkers changes Config.Workers for the decisions to come, say to the limit of a Limiter. The error wraps ErrConfig.
func (p *Pipeline) SetWorkers(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: %d workers", ErrConfig, n)
	}
	p.workers = n
	return nil
}

// Decision is where a pod goes, and why.
type Decision struct {
	Node string
	// Score is the sum of the scores times their weights.
	Score int64
	// Builtin are the built-in scores of the node, 0..100, before their weights; 0 for one whose weight is 0.
	Builtin [affinity.Scorers]int64
	// Own are the scores of the pipeline's scorers, in their order, then of those of Plugins, after normalising and before
	// their weights.
	Own []int64
	// Plugins are those of Config.Registry that served the pod.
	Plugins []PluginID
	// Signals is what became of the pipeline's signals, in their order.
	Signals []Outcome
	// Devices are the GPUs that a DevicePicker chose; nil leaves them to Graph.Bind.
	Devices []int
	// Feasible is the number of feasible nodes.
	Feasible int
}

// Decide returns the best feasible node for a pod; nothing is changed. The error is a *berth.Fault for a bad spec, an
// *Unschedulable if no node is feasible, or what a plugin returned, with its name; it wraps ErrPlugin if one panicked.
//
// With built-in scores alone the cost is that of affinity.Profile.Best, and nothing is allocated; with others it is
// O(feasible nodes), and Decision.Own is all that is allocated, besides what plugins do and, with Config.Workers, a few
// goroutines. Saying why a pod fits nowhere is O(nodes).
func (p *Pipeline) Decide(pod *berth.Pod) (d Decision, err error) {
	if p.plugins {
		return p.decide(context.Background(), pod)
	}
	choice, ok, err := p.profile.Best(pod)
	if err == nil && !ok {
		err = p.unschedulable(pod)
	}
	if err == nil {
		p.take(&d, &choice)
	}
	return d, err
}

// DecidePrepared is Decide for a pod that Graph.Prepare has prepared. With built-in scores alone it does not read the spec.
func (p *Pipeline) DecidePrepared(w *affinity.Prepared) (d Decision, err error) {
	if p.plugins {
		return p.decide(context.Background(), w.Pod())
	}
	choice, ok, err := p.profile.BestPrepared(w)
	if err == nil && !ok {
		err = p.unschedulable(w.Pod())
	}
	if err == nil {
		p.take(&d, &choice)
	}
	return d, err
}

// take makes the choice of the built-in rules and scores a decision.
func (p *Pipeline) take(d *Decision, choice *affinity.Choice) {
	d.Node, d.Score, d.Feasible = p.graph.Topology().Name(choice.Node), choice.Score, choice.Feasible
	d.Builtin = choice.Scores
}

// DecideContext is Decide that ends with the context's error, wrapped, once the context is done. It looks at it before
// each step and, in scorers that are Local or Concurrent, after every ChunkNodes nodes at most; it waits for calls of other
// plugins, and for the built-in rules and scores.
func (p *Pipeline) DecideContext(ctx context.Context, pod *berth.Pod) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, interrupted(err)
	}
	if p.plugins {
		return p.decide(ctx, pod)
	}
	return p.Decide(pod)
}

func interrupted(err error) error { return fmt.Errorf("score: the decision was interrupted: %w", err) }

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
	if p.plugins && len(p.refused) > 0 {
		u.Filters = slices.Clone(p.refused)
	}
	return u
}
