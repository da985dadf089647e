package kube

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// waiting is a pod as it lies in the queue.
type waiting struct {
	s   *Scheduler
	pod *framework.QueuedPodInfo
}

// Prepare takes in a pod, as the queue does.
func (s *Scheduler) Prepare(pod *v1.Pod) (conformance.Waiting, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	return &waiting{s, &framework.QueuedPodInfo{PodInfo: info}}, nil
}

// Decide makes a snapshot of the cache and decides on it, as in the scheduler's own cycle.
func (w *waiting) Decide() (node string, err error) {
	s := w.s
	if err := s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return "", err
	}
	result, err := s.inner.SchedulePod(s.ctx, s.framework, framework.NewCycleState(), w.pod)
	return result.SuggestedHost, err
}

// Assume puts the pod on a node.
func (w *waiting) Assume(node string) error {
	assumed := w.pod.Pod.DeepCopy()
	assumed.Spec.NodeName = node
	return w.s.Apply(conformance.Change{AssumePod: assumed})
}

// Best returns all nodes of the highest total score for a pod, with all nodes scored.
func (s *Scheduler) Best(pod *v1.Pod) ([]string, error) {
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
