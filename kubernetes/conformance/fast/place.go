package fast

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
)

// Prepare takes in the pod that is decided on next, as a queue does.
func (s *Scheduler) Prepare(pod *v1.Pod) (err error) {
	s.next, err = s.converter.Pod(pod)
	return err
}

// Decide decides where the prepared pod goes.
func (s *Scheduler) Decide() (node string, err error) { return s.decide(s.next) }

// Assume puts the prepared pod on a node, as a scheduler among several would.
func (s *Scheduler) Assume(node string) error {
	_, err := s.replica.Decide(s.next, func(*berth.Pod) (string, error) { return node, nil })
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
