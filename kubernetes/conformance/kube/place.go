package kube

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Prepare takes in the pod that is decided on next, as the queue does.
func (s *Scheduler) Prepare(pod *v1.Pod) error {
	info, err := framework.NewPodInfo(pod)
	s.next = &framework.QueuedPodInfo{PodInfo: info}
	return err
}

// Decide decides where the prepared pod goes: a snapshot of the cache, then the decision, as in the scheduler's own cycle.
func (s *Scheduler) Decide() (node string, err error) {
	if err := s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return "", err
	}
	result, err := s.inner.SchedulePod(s.ctx, s.framework, framework.NewCycleState(), s.next)
	return result.SuggestedHost, err
}

// Assume puts the prepared pod on a node.
func (s *Scheduler) Assume(node string) error {
	assumed := s.next.Pod.DeepCopy()
	assumed.Spec.NodeName = node
	return s.Apply(conformance.Change{AssumePod: assumed})
}

// Best returns all nodes of the highest total score for the prepared pod, with all nodes scored.
func (s *Scheduler) Best() ([]string, error) {
	pod := s.next.Pod
	f, err := s.filter(pod)
	if err != nil {
		return nil, err
	}
	if len(f.feasible) == 0 {
		return nil, nil
	}
	scores, err := s.rate(pod, f)
	if err != nil {
		return nil, err
	}
	var best []string
	var highest int64
	for i := range scores {
		if len(best) == 0 || scores[i].TotalScore > highest {
			best, highest = best[:0], scores[i].TotalScore
		}
		if scores[i].TotalScore == highest {
			best = append(best, scores[i].Name)
		}
	}
	return best, nil
}

// rate runs the score plugins for the feasible nodes.
func (s *Scheduler) rate(pod *v1.Pod, f *filtered) ([]fwk.NodePluginScores, error) {
	if status := s.framework.RunPreScorePlugins(s.ctx, f.state, pod, f.feasible); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := s.framework.RunScorePlugins(s.ctx, f.state, pod, f.feasible)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	return scores, nil
}
