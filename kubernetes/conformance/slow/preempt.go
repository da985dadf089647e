package slow

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/kubernetes/conformance"
)

// Preempt asks the reference, if no node is feasible.
func (s *Scheduler) Preempt(p *v1.Pod) (*conformance.Preemption, error) {
	pod, err := s.converter.Pod(p)
	if err != nil {
		return nil, err
	}
	out := &conformance.Preemption{Candidates: map[string]conformance.Victims{}}
	if len(s.cluster.Feasible(pod)) > 0 {
		return out, nil
	}
	preemption := s.cluster.Preempt(pod)
	for _, c := range preemption.Candidates {
		v := conformance.Victims{Violations: c.Violations}
		for _, victim := range c.Victims {
			v.Pods = append(v.Pods, victim.Key().String())
		}
		slices.Sort(v.Pods)
		out.Candidates[s.cluster.Nodes[c.Node].Name] = v
	}
	for _, n := range preemption.Best {
		out.Chosen = append(out.Chosen, s.cluster.Nodes[n].Name)
	}
	slices.Sort(out.Chosen)
	return out, nil
}

// Nodes returns the names of the nodes.
func (s *Scheduler) Nodes() ([]string, error) {
	var names []string
	for i := range s.cluster.Nodes {
		names = append(names, s.cluster.Nodes[i].Name)
	}
	return names, nil
}

// Requested returns what the pods of a node request together.
func (s *Scheduler) Requested(node string) (map[v1.ResourceName]int64, error) {
	var pods []*berth.Pod
	for i := range s.cluster.Pods {
		if s.cluster.Pods[i].NodeName == node {
			pods = append(pods, &s.cluster.Pods[i])
		}
	}
	return conformance.Requested(pods), nil
}
