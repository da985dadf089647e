package conformance

import v1 "k8s.io/api/core/v1"

// Scheduler answers questions about a cluster. It may keep the objects that it is handed, which nobody changes.
type Scheduler interface {
	// Apply changes the cluster. An error leaves it as it was.
	Apply(Change) error
	// Evaluate says what the scheduler thinks of each node for the pod, whose NodeName is as the user left it.
	Evaluate(pod *v1.Pod) (*Evaluation, error)
	// Preempt says whom the scheduler would preempt for a pod that fits nowhere. All candidate nodes are looked at.
	Preempt(pod *v1.Pod) (*Preemption, error)
}

// Open makes a scheduler for a cluster. What it returns to close the scheduler with is not nil unless there is an error.
type Open func(*Cluster) (s Scheduler, closing func(), err error)

// Names of the plugins that refuse or score nodes.
const (
	NodeName                        = "NodeName"
	NodeUnschedulable               = "NodeUnschedulable"
	TaintToleration                 = "TaintToleration"
	NodeAffinity                    = "NodeAffinity"
	NodePorts                       = "NodePorts"
	NodeResourcesFit                = "NodeResourcesFit"
	PodTopologySpread               = "PodTopologySpread"
	InterPodAffinity                = "InterPodAffinity"
	NodeResourcesBalancedAllocation = "NodeResourcesBalancedAllocation"
	ImageLocality                   = "ImageLocality"
)

// Weights are kube-scheduler's default weights of the plugins that score.
func Weights() map[string]int64 {
	return map[string]int64{
		TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
		NodeResourcesFit: 1, NodeResourcesBalancedAllocation: 1, ImageLocality: 1,
	}
}

// Evaluation is what a scheduler thinks of each node of a cluster for one pod.
type Evaluation struct {
	// Refusals are the nodes that are not feasible, by name.
	Refusals map[string]Refusal
	// Scores are those of the feasible nodes by plugin: normalised and multiplied with the plugin's weight.
	Scores map[string]map[string]int64
	// Totals are the sums of the scores. Its keys are the feasible nodes.
	Totals map[string]int64
}

// NewEvaluation returns an evaluation of no nodes, to be filled.
func NewEvaluation() *Evaluation {
	return &Evaluation{Refusals: map[string]Refusal{}, Scores: map[string]map[string]int64{}, Totals: map[string]int64{}}
}

// Refusal says why a node is not feasible.
type Refusal struct {
	// Plugin is the one that refuses first.
	Plugin string
	// Resolvable refusals are those that preemption could help with.
	Resolvable bool
	// Reason is for reading; it is not compared.
	Reason string
}

// Preemption is whom a scheduler would preempt.
type Preemption struct {
	// Candidates are the nodes on which preemption makes room.
	Candidates map[string]Victims
	// Chosen are the candidates that the scheduler may choose, sorted: the best one, or if kube-scheduler answers, all that
	// are as good as the best, of which it takes any.
	Chosen []string
}

// Victims are who has to go from a node.
type Victims struct {
	// Pods are namespace/name, sorted.
	Pods []string
	// Violations is how many of them go against a disruption budget.
	Violations int
}
