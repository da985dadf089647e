package conformance

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Cluster is the objects that decisions depend on. The JSON names are those of its YAML files.
type Cluster struct {
	Nodes []*v1.Node `json:"nodes,omitempty"`
	// Pods are placed, nominated or waiting. Their order is the order in which they arrived.
	Pods                   []*v1.Pod                       `json:"pods,omitempty"`
	Namespaces             []*v1.Namespace                 `json:"namespaces,omitempty"`
	Services               []*v1.Service                   `json:"services,omitempty"`
	ReplicationControllers []*v1.ReplicationController     `json:"replicationControllers,omitempty"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets,omitempty"`
	Budgets                []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`
	Config                 Config                          `json:"config,omitzero"`
}

// Config holds the arguments of plugins. The zero value is kube-scheduler's default configuration.
type Config struct {
	// HardPodAffinityWeight is InterPodAffinity's argument of that name.
	HardPodAffinityWeight *int32 `json:"hardPodAffinityWeight,omitempty"`
	// IgnorePreferredTermsOfExistingPods is InterPodAffinity's argument of that name.
	IgnorePreferredTermsOfExistingPods bool `json:"ignorePreferredTermsOfExistingPods,omitempty"`
	// ScoringStrategy is NodeResourcesFit's argument of that name.
	ScoringStrategy *ScoringStrategy `json:"scoringStrategy,omitempty"`
	// DefaultConstraints are PodTopologySpread's, instead of the system's. They have no selectors.
	DefaultConstraints []v1.TopologySpreadConstraint `json:"defaultConstraints,omitempty"`
	// FeatureGates are set for the time of the question; only kube-scheduler has any.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// ScoringStrategy says how NodeResourcesFit rates nodes.
type ScoringStrategy struct {
	// Type is LeastAllocated, MostAllocated or RequestedToCapacityRatio.
	Type string `json:"type"`
	// Resources that count; none means cpu and memory.
	Resources []ResourceWeight `json:"resources,omitempty"`
	// Shape is for RequestedToCapacityRatio.
	Shape []ShapePoint `json:"shape,omitempty"`
}

// ResourceWeight is how much a resource counts.
type ResourceWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

// ShapePoint says that a utilization in percent has a score in 0..10.
type ShapePoint struct {
	Utilization int32 `json:"utilization"`
	Score       int32 `json:"score"`
}

// Change is one thing that happens to a cluster. Exactly one field is set.
type Change struct {
	AddNode    *v1.Node `json:"addNode,omitempty"`
	UpdateNode *v1.Node `json:"updateNode,omitempty"`
	DeleteNode string   `json:"deleteNode,omitempty"`
	// AddPod, UpdatePod and DeletePod are what an observer of the API server sees. A pod that was assumed on a node is
	// confirmed, there or elsewhere, by being added.
	AddPod    *v1.Pod `json:"addPod,omitempty"`
	UpdatePod *v1.Pod `json:"updatePod,omitempty"`
	DeletePod *v1.Pod `json:"deletePod,omitempty"`
	// AssumePod puts a pod, with its node, where the scheduler chose; ForgetPod takes that back.
	AssumePod *v1.Pod `json:"assumePod,omitempty"`
	ForgetPod *v1.Pod `json:"forgetPod,omitempty"`
	// SetNamespace adds or updates a namespace.
	SetNamespace *v1.Namespace `json:"setNamespace,omitempty"`
}

// String names the change and its object.
func (c Change) String() string {
	for _, pod := range []struct {
		verb string
		pod  *v1.Pod
	}{{"add", c.AddPod}, {"update", c.UpdatePod}, {"delete", c.DeletePod}, {"assume", c.AssumePod}, {"forget", c.ForgetPod}} {
		if pod.pod != nil {
			return fmt.Sprintf("%s pod %s on %q", pod.verb, Key(pod.pod), pod.pod.Spec.NodeName)
		}
	}
	switch {
	case c.AddNode != nil:
		return "add node " + c.AddNode.Name
	case c.UpdateNode != nil:
		return "update node " + c.UpdateNode.Name
	case c.SetNamespace != nil:
		return "set namespace " + c.SetNamespace.Name
	}
	return "delete node " + c.DeleteNode
}

// Load tells a scheduler of the namespaces, nodes and pods of a cluster.
func Load(s Scheduler, c *Cluster) error {
	for _, n := range c.Namespaces {
		if err := s.Apply(Change{SetNamespace: n}); err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		if err := s.Apply(Change{AddNode: n}); err != nil {
			return err
		}
	}
	for _, p := range c.Pods {
		if err := s.Apply(Change{AddPod: p}); err != nil {
			return err
		}
	}
	return nil
}

// Key is a pod's namespace/name.
func Key(p *v1.Pod) string { return p.Namespace + "/" + p.Name }
