package slow

import (
	v1 "k8s.io/api/core/v1"

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
	requested := map[v1.ResourceName]int64{}
	for i := range s.cluster.Pods {
		p := &s.cluster.Pods[i]
		if p.NodeName != node {
			continue
		}
		requested[v1.ResourcePods]++
		requested[v1.ResourceCPU] += p.Requests.MilliCPU
		requested[v1.ResourceMemory] += p.Requests.Memory
		requested[v1.ResourceEphemeralStorage] += p.Requests.EphemeralStorage
		for name, q := range p.Requests.Scalar {
			requested[v1.ResourceName(name)] += q
		}
	}
	return requested, nil
}
