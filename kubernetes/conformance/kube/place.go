package kube

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Place decides where the pod goes: a snapshot of the cache, then the decision, as in the scheduler's own cycle. What the
// queue does around it is left out. The pod is not put anywhere.
func (s *Scheduler) Place(pod *v1.Pod) (node string, err error) {
	if err := s.inner.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return "", err
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", err
	}
	result, err := s.inner.SchedulePod(s.ctx, s.framework, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
	return result.SuggestedHost, err
}
