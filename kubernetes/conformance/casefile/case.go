package casefile

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Case is one question and its answer.
type Case struct {
	ID         string             `json:"id"`
	Source     string             `json:"source"`
	Kind       string             `json:"kind"`
	Question   string             `json:"question"`
	Config     conformance.Config `json:"config,omitzero"`
	Nodes      []Node             `json:"nodes,omitempty"`
	Pods       []Pod              `json:"pods,omitempty"`
	Namespaces []Namespace        `json:"namespaces,omitempty"`
	Services   []Service          `json:"services,omitempty"`
	Budgets    []Budget           `json:"pdbs,omitempty"`
	Groups     []Group            `json:"groups,omitempty"`
	Incoming   []Pod              `json:"incoming,omitempty"`
	Steps      []Step             `json:"steps,omitempty"`
	Expect     []Expect           `json:"expect"`
	// NUMA is the machine of kind numa.
	NUMA *Machine `json:"numa,omitempty"`
}

// Node is a machine.
type Node struct {
	Name          string            `json:"name"`
	Count         int               `json:"count,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Taints        []v1.Taint        `json:"taints,omitempty"`
	Allocatable   v1.ResourceList   `json:"allocatable,omitempty"`
	Unschedulable bool              `json:"unschedulable,omitempty"`
	Images        []Image           `json:"images,omitempty"`
}

// Image is a container image that a node holds.
type Image struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Pod is a pod, placed or to be placed.
type Pod struct {
	Name                      string                        `json:"name"`
	Namespace                 string                        `json:"namespace,omitempty"`
	UID                       string                        `json:"uid,omitempty"`
	Count                     int                           `json:"count,omitempty"`
	Labels                    map[string]string             `json:"labels,omitempty"`
	Node                      string                        `json:"node,omitempty"`
	NominatedNode             string                        `json:"nominatedNode,omitempty"`
	Requests                  v1.ResourceList               `json:"requests,omitempty"`
	Image                     string                        `json:"image,omitempty"`
	Images                    []string                      `json:"images,omitempty"`
	ImageVolumes              []string                      `json:"imageVolumes,omitempty"`
	Containers                []v1.Container                `json:"containers,omitempty"`
	InitContainers            []v1.Container                `json:"initContainers,omitempty"`
	Resources                 *v1.ResourceRequirements      `json:"resources,omitempty"`
	Overhead                  v1.ResourceList               `json:"overhead,omitempty"`
	NodeSelector              map[string]string             `json:"nodeSelector,omitempty"`
	Affinity                  *v1.Affinity                  `json:"affinity,omitempty"`
	TopologySpreadConstraints []v1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	Tolerations               []v1.Toleration               `json:"tolerations,omitempty"`
	Priority                  *int32                        `json:"priority,omitempty"`
	PreemptionPolicy          *v1.PreemptionPolicy          `json:"preemptionPolicy,omitempty"`
	StartTime                 *metav1.Time                  `json:"startTime,omitempty"`
	Terminating               bool                          `json:"terminating,omitempty"`
	Status                    *v1.PodStatus                 `json:"status,omitempty"`
	Group                     string                        `json:"group,omitempty"`
}

// Namespace is a namespace with labels.
type Namespace struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Service spreads the pods that it selects by default.
type Service struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Selector  map[string]string `json:"selector"`
}

// Budget is a disruption budget.
type Budget struct {
	Name               string                `json:"name"`
	Namespace          string                `json:"namespace,omitempty"`
	Selector           *metav1.LabelSelector `json:"selector"`
	DisruptionsAllowed int32                 `json:"disruptionsAllowed"`
	DisruptedPods      []string              `json:"disruptedPods,omitempty"`
}

// Group is pods that are placed together or not at all, of kind gang.
type Group struct {
	Name     string `json:"name"`
	MinCount int    `json:"minCount"`
}

// Expect is what is to be expected at one point. A list that is absent is not asked about; an empty one is an answer.
type Expect struct {
	// After is how many steps are done before; nil means all.
	After *int `json:"after,omitempty"`
	// Pod is the incoming pod that the question is about.
	Pod string `json:"pod,omitempty"`
	// Feasible is the exact set of nodes; Infeasible are all others and why not: "[Plugin] because".
	Feasible      []string          `json:"feasible,omitempty"`
	FeasibleCount *int              `json:"feasibleCount,omitempty"`
	Infeasible    map[string]string `json:"infeasible,omitempty"`
	// Best are all nodes with the highest total.
	Best []string `json:"best,omitempty"`
	// Scores are normalised and weighted, by plugin and node; the plugin "total" is their sum.
	Scores map[string]map[string]int64 `json:"scores,omitempty"`
	// Placed is where the pod is bound afterwards.
	Placed string `json:"placed,omitempty"`

	// Candidates are nodes and their victims. Nominated is the node that is chosen, "" for none, and Victims its victims.
	Candidates map[string][]string `json:"candidates,omitempty"`
	Nominated  *string             `json:"nominated,omitempty"`
	Victims    []string            `json:"victims,omitempty"`

	// SnapshotNodes are the nodes that the scheduler sees, and Requested what their pods request, "pods" being their number.
	SnapshotNodes []string                   `json:"snapshotNodes,omitempty"`
	Requested     map[string]v1.ResourceList `json:"requested,omitempty"`

	// Active, Backoff and Unschedulable are the parts of the queue, of kind queue.
	Active        []string `json:"active,omitempty"`
	Backoff       []string `json:"backoff,omitempty"`
	Unschedulable []string `json:"unschedulable,omitempty"`

	// Groups says which groups are placed, of kind gang.
	Groups map[string]bool `json:"groups,omitempty"`

	// Policy, Scope, Admit and Containers are the topology manager's, of kind numa.
	Policy     string               `json:"policy,omitempty"`
	Scope      string               `json:"scope,omitempty"`
	Admit      *bool                `json:"admit,omitempty"`
	Containers map[string]Alignment `json:"containers,omitempty"`

	// Actual is what v1.37.2 answers where that is not what is documented.
	Actual *Expect `json:"v1_37_2,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Parse reads a case. Unknown fields are errors.
func Parse(data []byte) (*Case, error) {
	var c Case
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return nil, fmt.Errorf("casefile: %w", err)
	}
	if c.Kind == "" || len(c.Expect) == 0 {
		return nil, fmt.Errorf("casefile: %s: kind and expect must not be empty", c.ID)
	}
	return &c, nil
}
