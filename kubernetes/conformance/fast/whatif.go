package fast

import (
	"errors"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/convert"
)

// NewInTransactions returns a scheduler that answers from inside an open transaction, which makes those changes that a transaction can make
// and is committed when another comes; before each answer something else is tried and rolled back. Its answers have to be those
// of a scheduler that does nothing of the kind.
func NewInTransactions(c *conformance.Cluster) (*Scheduler, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	s.whatIf = true
	return s, nil
}

// catchUp brings the replica to where answers are given.
func (s *Scheduler) catchUp() error {
	if !s.whatIf {
		return s.replica.Sync()
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.tryAndRollBack()
}

func (s *Scheduler) begin() (err error) {
	if s.txn != nil {
		return nil
	}
	if err := s.replica.Sync(); err != nil {
		return err
	}
	s.txn, err = s.replica.Begin()
	return err
}

// settle commits the open transaction, if there is one.
func (s *Scheduler) settle() error {
	if s.txn == nil {
		return nil
	}
	txn := s.txn
	s.txn = nil
	return txn.Commit()
}

// tryInside makes a change in the transaction, if it is one of those that a transaction can make.
func (s *Scheduler) tryInside(c *conformance.Change) (done bool, err error) {
	if err := s.begin(); err != nil {
		return false, err
	}
	switch {
	case c.UpdateNode != nil:
		n, err := convert.Node(c.UpdateNode)
		if err != nil {
			return true, err
		}
		return true, s.txn.UpdateNode(n)
	case c.DeleteNode != "":
		return true, s.txn.RemoveNode(c.DeleteNode)
	case c.DeletePod != nil:
		err := s.txn.Evict(key(c.DeletePod))
		return !errors.Is(err, cache.ErrUnknownPod), err
	case c.AddPod != nil && c.AddPod.Spec.NodeName != "":
		p, err := s.converter.Pod(c.AddPod)
		if err != nil {
			return true, err
		}
		err = s.txn.Decide(p, func(*berth.Pod) (string, error) { return p.NodeName, nil })
		if err == nil {
			delete(s.waiting, p.Key())
		}
		return !errors.Is(err, cache.ErrPodExists) && !errors.Is(err, cache.ErrUnknownNode), err
	}
	return false, nil
}

// tryAndRollBack cordons, relabels and removes nodes, evicts and places pods, other ones each time, in nested steps, and takes it all back.
func (s *Scheduler) tryAndRollBack() error {
	start := s.txn.Savepoint()
	x := s.replica.Graph().Topology()
	var names []string
	for n := range x.Live().All() {
		names = append(names, x.Name(n))
	}
	slices.Sort(names)
	for i := range min(3, len(names)) {
		s.tried++
		name := names[(s.tried*7+i)%len(names)]
		if err := s.try(name, s.tried); err != nil {
			return err
		}
	}
	return s.txn.RollbackTo(start)
}

func (s *Scheduler) try(name string, n int) error {
	g := s.replica.Graph()
	id, ok := g.Topology().Lookup(name)
	if !ok {
		return nil // removed just now
	}
	var moved []berth.PodKey
	for key := range g.PodsOn(id) {
		moved = append(moved, key)
	}
	for _, key := range moved[:min(4, len(moved))] {
		p, _ := g.Pod(key)
		if err := s.txn.Evict(key); err != nil {
			return err
		}
		inner := s.txn.Savepoint()
		if err := s.txn.Decide(p, func(*berth.Pod) (string, error) { return name, nil }); err != nil {
			return err
		}
		if n%2 == 0 {
			if err := s.txn.RollbackTo(inner); err != nil {
				return err
			}
		}
	}
	switch n % 3 {
	case 0:
		return s.txn.Cordon(name, true)
	case 1:
		return s.txn.RemoveNode(name)
	}
	spec, _ := s.replica.Node(name)
	other := *spec
	other.Labels = map[string]string{berth.LabelHostname: name, berth.LabelZone: "elsewhere"}
	return s.txn.UpdateNode(&other)
}
