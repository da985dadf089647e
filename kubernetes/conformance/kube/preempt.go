package kube

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Preempt dry-runs DefaultPreemption on all candidate nodes. There is none if the pod fits somewhere or must not preempt.
func (s *Scheduler) Preempt(pod *v1.Pod) (*conformance.Preemption, error) {
	out := &conformance.Preemption{Candidates: map[string]conformance.Victims{}}
	f, err := s.filter(pod)
	if err != nil || len(f.feasible) > 0 {
		return out, err
	}
	statuses := framework.NewDefaultNodeToStatus()
	for node, status := range f.statuses {
		statuses.Set(node, status)
	}
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: math.MaxInt32}
	plugin, err := defaultpreemption.New(s.ctx, args, s.framework, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	if eligible, _ := plugin.PodEligibleToPreemptOthers(s.ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !eligible {
		return out, nil
	}
	nodes, err := statuses.NodesForStatusCode(s.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return out, err
	}
	candidates, _, err := plugin.Evaluator.DryRunPreemption(s.ctx, f.state, pod, nodes, s.budgets, 0, int32(len(nodes)))
	if err != nil {
		return nil, err
	}
	ranks := map[string]rank{}
	for _, c := range candidates {
		ranks[c.Name()] = rankOf(c.Victims())
		out.Candidates[c.Name()] = victims(c.Victims())
	}
	out.Chosen = firstRanked(ranks)
	if chosen := plugin.Evaluator.SelectCandidate(s.ctx, candidates); chosen != nil && !slices.Contains(out.Chosen, chosen.Name()) {
		return nil, fmt.Errorf("kube: pod %s: chose %s, which is not among the best candidates %v", conformance.Key(pod), chosen.Name(), out.Chosen)
	}
	return out, nil
}

func victims(v *extenderv1.Victims) conformance.Victims {
	out := conformance.Victims{Violations: int(v.NumPDBViolations)}
	for _, p := range v.Pods {
		out.Pods = append(out.Pods, conformance.Key(p))
	}
	slices.Sort(out.Pods)
	return out
}

// rank is what candidates are compared by, the first difference deciding and less being better. kube-scheduler itself
// says only whom it takes, not who would have been as good.
type rank [5]int64

func rankOf(v *extenderv1.Victims) rank {
	r := rank{v.NumPDBViolations, int64(corev1helpers.PodPriority(v.Pods[0])), 0, int64(len(v.Pods)), -util.GetEarliestPodStartTime(v).UnixNano()}
	for _, p := range v.Pods {
		r[2] += int64(corev1helpers.PodPriority(p)) + math.MaxInt32 + 1
	}
	return r
}

// firstRanked returns the candidates that no other is better than, sorted.
func firstRanked(ranks map[string]rank) []string {
	var first []string
	for node, r := range ranks {
		order := -1
		if len(first) > 0 {
			best := ranks[first[0]]
			order = slices.CompareFunc(r[:], best[:], cmp.Compare[int64])
		}
		if order < 0 {
			first = first[:0]
		}
		if order <= 0 {
			first = append(first, node)
		}
	}
	slices.Sort(first)
	return first
}
