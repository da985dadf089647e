package fast

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/topology"
)

// Evaluate asks the pipeline's profile for verdicts and scores, and the pipeline itself for its decision, which must be one
// of the best nodes.
func (s *Scheduler) Evaluate(pod *v1.Pod) (*conformance.Evaluation, error) {
	p, err := s.converter.Pod(pod)
	if err != nil {
		return nil, err
	}
	if err := s.catchUp(); err != nil {
		return nil, err
	}
	out, g := conformance.NewEvaluation(), s.replica.Graph()
	if err := s.scores(g, p, out); err != nil {
		return nil, err
	}
	err = s.pipeline.Profile().Verdicts(p, func(n topology.NodeID, v affinity.Verdict) {
		if v.Rule != affinity.Feasible {
			out.Refusals[g.Topology().Name(n)] = conformance.Refusal{Plugin: v.Rule.String(), Resolvable: v.Resolvable}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, s.checkDecision(p, out)
}

func (s *Scheduler) scores(g *affinity.Graph, p *berth.Pod, out *conformance.Evaluation) error {
	profile := s.pipeline.Profile()
	if err := profile.Evaluate(p, &s.scratch); err != nil {
		return err
	}
	for scorer := range affinity.Scorers {
		scores := map[string]int64{}
		for n := range s.scratch.Feasible.All() {
			scores[g.Topology().Name(n)] = s.scratch.Scores[scorer][n] * profile.Weights()[scorer]
		}
		out.Scores[scorer.String()] = scores
	}
	for n := range s.scratch.Feasible.All() {
		out.Totals[g.Topology().Name(n)] = s.scratch.Total[n]
	}
	return nil
}

// checkDecision checks that the pipeline decides as its columns say.
func (s *Scheduler) checkDecision(p *berth.Pod, e *conformance.Evaluation) error {
	node, err := s.decide(p)
	best := e.Best()
	if len(best) == 0 && err != nil {
		return nil
	}
	if err != nil || !slices.Contains(best, node) {
		return fmt.Errorf("fast: pod %v: decided on %q, best by columns: %v (%v)", p.Key(), node, best, err)
	}
	return nil
}

func (s *Scheduler) decide(p *berth.Pod) (node string, err error) {
	if err := s.catchUp(); err != nil {
		return "", err
	}
	d, err := s.pipeline.Decide(p)
	return d.Node, err
}

// Preempt asks the pipeline's profile, if no node is feasible.
func (s *Scheduler) Preempt(pod *v1.Pod) (*conformance.Preemption, error) {
	p, err := s.converter.Pod(pod)
	if err != nil {
		return nil, err
	}
	if err := s.catchUp(); err != nil {
		return nil, err
	}
	out := &conformance.Preemption{Candidates: map[string]conformance.Victims{}}
	profile := s.pipeline.Profile()
	if err := profile.Feasible(p, &s.scratch.Feasible); err != nil || s.scratch.Feasible.Len() > 0 {
		return out, err
	}
	preemption, err := profile.Preempt(p, s.budgets)
	if err != nil {
		return nil, err
	}
	for i, c := range preemption.Candidates {
		v := conformance.Victims{Violations: c.Violations}
		for _, k := range c.Victims {
			v.Pods = append(v.Pods, k.String())
		}
		slices.Sort(v.Pods)
		out.Candidates[c.Node] = v
		if i == preemption.Chosen {
			out.Chosen = []string{c.Node}
		}
	}
	return out, nil
}

// Nodes returns the names of the nodes of the cache.
func (s *Scheduler) Nodes() ([]string, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	var names []string
	for n := range s.cache.Publish().Nodes() {
		names = append(names, n.Name)
	}
	return names, nil
}

// Requested returns what the pods of a node request together.
func (s *Scheduler) Requested(node string) (map[v1.ResourceName]int64, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	var pods []*berth.Pod
	for p := range s.cache.Publish().Pods() {
		if p.NodeName == node {
			pods = append(pods, p)
		}
	}
	return conformance.Requested(pods), nil
}
