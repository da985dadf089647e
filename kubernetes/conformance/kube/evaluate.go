package kube

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// filtered is what the filter plugins leave of the nodes.
type filtered struct {
	state    fwk.CycleState
	feasible []fwk.NodeInfo
	statuses map[string]*fwk.Status
}

// Evaluate runs the filter and score plugins for every node.
func (s *Scheduler) Evaluate(pod *v1.Pod) (*conformance.Evaluation, error) {
	f, err := s.filter(pod)
	if err != nil {
		return nil, err
	}
	out := conformance.NewEvaluation()
	for node, status := range f.statuses {
		out.Refusals[node] = conformance.Refusal{
			Plugin:     status.Plugin(),
			Resolvable: status.Code() == fwk.Unschedulable,
			Reason:     strings.Join(status.Reasons(), "; "),
		}
	}
	for plugin := range conformance.Weights() {
		out.Scores[plugin] = map[string]int64{}
		for _, n := range f.feasible { // plugins that have nothing to say are skipped
			out.Scores[plugin][n.Node().Name] = 0
		}
	}
	return out, s.score(pod, f, out)
}

func (s *Scheduler) score(pod *v1.Pod, f *filtered, out *conformance.Evaluation) error {
	if len(f.feasible) == 0 {
		return nil
	}
	scores, err := s.rate(pod, f)
	if err != nil {
		return err
	}
	for _, node := range scores {
		out.Totals[node.Name] = node.TotalScore
		for _, score := range node.Scores {
			if out.Scores[score.Name] == nil {
				out.Scores[score.Name] = map[string]int64{}
			}
			out.Scores[score.Name][node.Name] = score.Score
		}
	}
	return nil
}

// filter runs the filter plugins for every node of a new snapshot.
func (s *Scheduler) filter(pod *v1.Pod) (*filtered, error) {
	if err := s.look(); err != nil {
		return nil, err
	}
	return s.filterSnapshot(pod)
}

func (s *Scheduler) filterSnapshot(pod *v1.Pod) (*filtered, error) {
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	f := &filtered{state: framework.NewCycleState(), statuses: make(map[string]*fwk.Status, len(nodes))}
	left, status, by := s.framework.RunPreFilterPlugins(s.ctx, f.state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, status.AsError()
		}
		for _, n := range nodes {
			f.statuses[n.Node().Name] = status
			if status.Plugin() == "" { // no node is left by all of the plugins that leave nodes out
				f.statuses[n.Node().Name] = leftOut(pod, n.Node().Name, by.Has(conformance.NodeName))
			}
		}
		return f, nil
	}
	for _, n := range nodes {
		name := n.Node().Name
		if !left.AllNodes() && !left.NodeNames.Has(name) {
			f.statuses[name] = leftOut(pod, name, by.Has(conformance.NodeName))
			continue
		}
		switch status := s.framework.RunFilterPluginsWithNominatedPods(s.ctx, f.state, pod, n); {
		case status.IsSuccess():
			f.feasible = append(f.feasible, n)
		case status.IsRejected():
			f.statuses[name] = status
		default:
			return nil, status.AsError()
		}
	}
	return f, nil
}

// leftOut is the status of a node that PreFilter leaves out by name. The scheduler keeps no track of which plugin did it;
// NodeName and NodeAffinity are the only ones that do, and run in this order.
func leftOut(pod *v1.Pod, node string, byName bool) *fwk.Status {
	status := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not among the nodes that PreFilter leaves")
	if byName && pod.Spec.NodeName != node {
		return status.WithPlugin(conformance.NodeName)
	}
	return status.WithPlugin(conformance.NodeAffinity)
}

// look brings the snapshot up to date. The cache copies only nodes that changed, and with each the number of nodes that
// hold the same images as it was then. So that answers do not depend on which node changed last, all nodes are made to have
// changed if any did.
func (s *Scheduler) look() error {
	if s.nodesChanged {
		for _, n := range s.nodes {
			s.inner.Cache.UpdateNode(s.logger, n, n)
		}
		s.nodesChanged = false
	}
	return s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot)
}

// Nodes returns the names of the nodes that the scheduler sees, in its order.
func (s *Scheduler) Nodes() ([]string, error) {
	if err := s.look(); err != nil {
		return nil, err
	}
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Node().Name
	}
	return names, nil
}

// Requested returns what the pods of a node request together; "pods" is their number.
func (s *Scheduler) Requested(node string) (map[v1.ResourceName]int64, error) {
	if err := s.look(); err != nil {
		return nil, err
	}
	n, err := s.snapshot.NodeInfos().Get(node)
	if err != nil {
		return nil, err
	}
	requested := map[v1.ResourceName]int64{
		v1.ResourceCPU:              n.GetRequested().GetMilliCPU(),
		v1.ResourceMemory:           n.GetRequested().GetMemory(),
		v1.ResourceEphemeralStorage: n.GetRequested().GetEphemeralStorage(),
		v1.ResourcePods:             int64(len(n.GetPods())),
	}
	for name, q := range n.GetRequested().GetScalarResources() {
		requested[name] = q
	}
	return requested, nil
}
