package slow

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/kubernetes/conformance"
)

// Preempt is not answered.
func (s *Scheduler) Preempt(*v1.Pod) (*conformance.Preemption, error) {
	return nil, conformance.ErrUnanswered
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
