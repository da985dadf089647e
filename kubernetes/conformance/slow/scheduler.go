package slow

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/convert"
)

// Scheduler is a cluster that the reference decides on. Make one with [New].
type Scheduler struct {
	cluster   reference.Cluster
	converter *conformance.Converter
	// unconfirmed are the pods that were assumed and not yet added.
	unconfirmed map[berth.PodKey]bool
}

// New returns a scheduler for the cluster.
func New(c *conformance.Cluster) (*Scheduler, error) {
	converter, err := conformance.NewConverter(c)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		cluster:     reference.Cluster{Config: config(&c.Config)},
		converter:   converter,
		unconfirmed: map[berth.PodKey]bool{},
	}
	for _, b := range c.Budgets {
		s.cluster.Budgets = append(s.cluster.Budgets, *convert.PodDisruptionBudget(b))
	}
	return s, conformance.Load(s, c)
}

// Apply changes the cluster.
func (s *Scheduler) Apply(c conformance.Change) error {
	switch {
	case c.AddNode != nil:
		return s.setNode(c.AddNode)
	case c.UpdateNode != nil:
		return s.setNode(c.UpdateNode)
	case c.DeleteNode != "":
		return remove(&s.cluster.Nodes, func(n *berth.Node) bool { return n.Name == c.DeleteNode }, c)
	case c.AddPod != nil:
		return s.setPod(c.AddPod, false)
	case c.UpdatePod != nil:
		return s.setPod(c.UpdatePod, false)
	case c.DeletePod != nil:
		return s.removePod(c.DeletePod, c)
	case c.AssumePod != nil:
		return s.setPod(c.AssumePod, true)
	case c.ForgetPod != nil:
		if !s.unconfirmed[key(c.ForgetPod)] {
			return fmt.Errorf("slow: %v: not assumed", c)
		}
		return s.removePod(c.ForgetPod, c)
	case c.SetNamespace != nil:
		n := convert.Namespace(c.SetNamespace)
		set(&s.cluster.Namespaces, *n, func(o *berth.Namespace) bool { return o.Name == n.Name })
		return nil
	}
	return fmt.Errorf("slow: empty change")
}

func (s *Scheduler) setNode(n *v1.Node) error {
	node, err := convert.Node(n)
	if err != nil {
		return err
	}
	set(&s.cluster.Nodes, *node, func(o *berth.Node) bool { return o.Name == node.Name })
	return nil
}

func (s *Scheduler) setPod(p *v1.Pod, assumed bool) error {
	pod, err := s.converter.Pod(p)
	if err != nil {
		return err
	}
	set(&s.cluster.Pods, *pod, func(o *berth.Pod) bool { return o.Key() == pod.Key() })
	s.unconfirmed[pod.Key()] = assumed
	return nil
}

func (s *Scheduler) removePod(p *v1.Pod, c conformance.Change) error {
	delete(s.unconfirmed, key(p))
	return remove(&s.cluster.Pods, func(o *berth.Pod) bool { return o.Key() == key(p) }, c)
}

func key(p *v1.Pod) berth.PodKey { return berth.PodKey{Namespace: p.Namespace, Name: p.Name} }

// set replaces the first element that matches, or appends.
func set[T any](list *[]T, value T, matches func(*T) bool) {
	for i := range *list {
		if matches(&(*list)[i]) {
			(*list)[i] = value
			return
		}
	}
	*list = append(*list, value)
}

func remove[T any](list *[]T, matches func(*T) bool, c conformance.Change) error {
	for i := range *list {
		if matches(&(*list)[i]) {
			*list = slices.Delete(*list, i, i+1)
			return nil
		}
	}
	return fmt.Errorf("slow: %v: not there", c)
}
