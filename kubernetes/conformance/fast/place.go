package fast

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/kubernetes/conformance"
)

// waiting is a prepared pod.
type waiting struct {
	s *Scheduler
	w *cache.Prepared
}

// Prepare takes in a pod, as a queue does.
func (s *Scheduler) Prepare(pod *v1.Pod) (conformance.Waiting, error) {
	p, err := s.converter.Pod(pod)
	if err != nil {
		return nil, err
	}
	w, err := s.replica.Prepare(p)
	if err != nil {
		return nil, err
	}
	return &waiting{s, w}, nil
}

// Decide brings the replica up to date and decides on it.
func (w *waiting) Decide() (node string, err error) {
	if err := w.s.catchUp(); err != nil {
		return "", err
	}
	d, err := w.s.pipeline.DecidePrepared(&w.w.Prepared)
	return d.Node, err
}

// Assume puts the pod on a node, as a scheduler among several would.
func (w *waiting) Assume(node string) error {
	_, err := w.s.replica.DecidePrepared(w.w, func(*affinity.Prepared) (string, error) { return node, nil })
	return err
}

// PlaceGroup places at least min of the pods, or none, and reports whether it did.
func (s *Scheduler) PlaceGroup(pods []*v1.Pod, min int) (bool, error) {
	group := make([]*berth.Pod, len(pods))
	for i, p := range pods {
		var err error
		if group[i], err = s.converter.Pod(p); err != nil {
			return false, err
		}
	}
	if err := s.replica.Sync(); err != nil {
		return false, err
	}
	txn, err := s.replica.Begin()
	if err != nil {
		return false, err
	}
	_, placed, err := txn.PlaceGroup(group, min, func(p *berth.Pod) (string, error) {
		d, err := s.pipeline.Decide(p)
		return d.Node, err
	})
	if err != nil {
		return false, err
	}
	return placed, txn.Commit()
}
