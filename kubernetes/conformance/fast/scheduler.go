package fast

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/convert"
	"github.com/berth-go/berth/score"
)

// Scheduler is berth with one cluster in its cache. Make one with [New].
type Scheduler struct {
	cache     *cache.Cache
	replica   *cache.Replica
	pipeline  *score.Pipeline
	converter *conformance.Converter
	budgets   []berth.PodDisruptionBudget
	// waiting are the pods that have no node.
	waiting map[berth.PodKey]*berth.Pod
	scratch affinity.Evaluation
	// whatIf is true if answers are given inside txn, which is nil while none is open; tried counts what was tried.
	whatIf bool
	txn    *cache.Txn
	tried  int
}

// New returns a scheduler that has the cluster in its cache and decides on a replica of it.
func New(c *conformance.Cluster) (*Scheduler, error) {
	converter, err := conformance.NewConverter(c)
	if err != nil {
		return nil, err
	}
	state, err := cache.New(cache.Config{})
	if err != nil {
		return nil, err
	}
	replica, err := state.NewReplica()
	if err != nil {
		return nil, err
	}
	s := &Scheduler{cache: state, replica: replica, converter: converter, waiting: map[berth.PodKey]*berth.Pod{}}
	for _, b := range c.Budgets {
		s.budgets = append(s.budgets, *convert.PodDisruptionBudget(b))
	}
	if s.pipeline, err = score.New(replica.Graph(), config(&c.Config)); err != nil {
		return nil, err
	}
	return s, conformance.Load(s, c)
}

// Apply tells the cache of a change.
func (s *Scheduler) Apply(c conformance.Change) error {
	if s.whatIf {
		if done, err := s.tryInside(&c); done {
			return err
		}
		if err := s.settle(); err != nil {
			return err
		}
	}
	switch {
	case c.AddNode != nil:
		return s.addNode(c.AddNode)
	case c.UpdateNode != nil:
		n, err := convert.Node(c.UpdateNode)
		if err != nil {
			return err
		}
		return s.cache.UpdateNode(n)
	case c.DeleteNode != "":
		return s.cache.RemoveNode(c.DeleteNode)
	case c.AddPod != nil:
		return s.setPod(c.AddPod)
	case c.UpdatePod != nil:
		return s.setPod(c.UpdatePod)
	case c.DeletePod != nil:
		return s.removePod(key(c.DeletePod))
	case c.AssumePod != nil:
		return s.assume(c.AssumePod)
	case c.ForgetPod != nil:
		return s.cache.Forget(key(c.ForgetPod))
	case c.SetNamespace != nil:
		return s.cache.SetNamespace(convert.Namespace(c.SetNamespace))
	}
	return fmt.Errorf("fast: empty change")
}

// addNode enters a node and nominates to it the pods that wait for it.
func (s *Scheduler) addNode(node *v1.Node) error {
	n, err := convert.Node(node)
	if err != nil {
		return err
	}
	if err := s.cache.AddNode(n); err != nil {
		return err
	}
	for _, p := range s.waiting {
		if p.NominatedNodeName == n.Name {
			if err := s.cache.Nominate(p, n.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// setPod enters or updates a pod, placed or waiting.
func (s *Scheduler) setPod(pod *v1.Pod) error {
	p, err := s.converter.Pod(pod)
	if err != nil {
		return err
	}
	s.cache.Denominate(p.Key())
	delete(s.waiting, p.Key())
	if p.NodeName != "" {
		err := s.cache.AddPod(p)
		if errors.Is(err, cache.ErrPodExists) {
			return s.cache.UpdatePod(p)
		}
		return err
	}
	s.waiting[p.Key()] = p
	if p.NominatedNodeName == "" || !s.knows(p.NominatedNodeName) {
		return nil
	}
	return s.cache.Nominate(p, p.NominatedNodeName)
}

func (s *Scheduler) knows(node string) bool {
	_, known := s.cache.Node(node)
	return known
}

func (s *Scheduler) assume(pod *v1.Pod) error {
	p, err := s.converter.Pod(pod)
	if err != nil {
		return err
	}
	return s.cache.Assume(p, p.NodeName)
}

func (s *Scheduler) removePod(k berth.PodKey) error {
	s.cache.Denominate(k)
	if s.waiting[k] != nil {
		delete(s.waiting, k)
		return nil
	}
	return s.cache.RemovePod(k)
}

func key(p *v1.Pod) berth.PodKey { return berth.PodKey{Namespace: p.Namespace, Name: p.Name} }
