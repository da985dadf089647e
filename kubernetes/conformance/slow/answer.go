package slow

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Evaluate asks the reference for refusals and scores.
func (s *Scheduler) Evaluate(p *v1.Pod) (*conformance.Evaluation, error) {
	pod, err := s.converter.Pod(p)
	if err != nil {
		return nil, err
	}
	out := conformance.NewEvaluation()
	var feasible []int
	for i, r := range s.cluster.Filter(pod) {
		if r.Plugin == "" {
			feasible = append(feasible, i)
			continue
		}
		out.Refusals[s.cluster.Nodes[i].Name] = conformance.Refusal{Plugin: r.Plugin, Resolvable: r.Resolvable}
	}
	if len(feasible) == 0 {
		for plugin := range conformance.Weights() {
			out.Scores[plugin] = map[string]int64{}
		}
		return out, nil
	}
	scores, err := s.cluster.Score(pod, feasible)
	if err != nil {
		return nil, err
	}
	for plugin, weight := range conformance.Weights() {
		out.Scores[plugin] = map[string]int64{}
		for i, n := range feasible {
			out.Scores[plugin][s.cluster.Nodes[n].Name] = weight * scores.ByPlugin[plugin][i]
		}
	}
	for i, n := range feasible {
		out.Totals[s.cluster.Nodes[n].Name] = scores.Total[i]
	}
	return out, nil
}
