package kube

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Apply tells the scheduler's cache and nominator of a change, as its event handlers would.
func (s *Scheduler) Apply(c conformance.Change) error {
	s.nodesChanged = s.nodesChanged || c.AddNode != nil || c.UpdateNode != nil || c.DeleteNode != ""
	switch {
	case c.AddNode != nil:
		s.nodes[c.AddNode.Name] = c.AddNode
		s.inner.Cache.AddNode(s.logger, c.AddNode)
	case c.UpdateNode != nil:
		old := s.nodes[c.UpdateNode.Name]
		if old == nil {
			return fmt.Errorf("kube: %v: no such node", c)
		}
		s.nodes[c.UpdateNode.Name] = c.UpdateNode
		s.inner.Cache.UpdateNode(s.logger, old, c.UpdateNode)
	case c.DeleteNode != "":
		old := s.nodes[c.DeleteNode]
		if old == nil {
			return fmt.Errorf("kube: %v: no such node", c)
		}
		delete(s.nodes, c.DeleteNode)
		return s.inner.Cache.RemoveNode(s.logger, old)
	case c.SetNamespace != nil:
		return s.informers.Core().V1().Namespaces().Informer().GetIndexer().Add(c.SetNamespace)
	case c.AddPod != nil:
		return s.addPod(c.AddPod)
	case c.UpdatePod != nil:
		return s.updatePod(c, c.UpdatePod)
	case c.DeletePod != nil:
		return s.deletePod(c, c.DeletePod)
	case c.AssumePod != nil:
		s.assumed[conformance.Key(c.AssumePod)] = c.AssumePod
		return s.inner.Cache.AssumePod(s.logger, c.AssumePod)
	case c.ForgetPod != nil:
		assumed := s.assumed[conformance.Key(c.ForgetPod)]
		if assumed == nil {
			return fmt.Errorf("kube: %v: not assumed", c)
		}
		delete(s.assumed, conformance.Key(c.ForgetPod))
		return s.inner.Cache.ForgetPod(s.logger, assumed)
	default:
		return fmt.Errorf("kube: empty change")
	}
	return nil
}

// addPod puts a placed pod into the cache and a nominated one into the queue, which is also the nominator. The nominator
// looks its pods up in their lister.
func (s *Scheduler) addPod(p *v1.Pod) error {
	s.pods[conformance.Key(p)] = p
	if err := s.informers.Core().V1().Pods().Informer().GetIndexer().Add(p); err != nil {
		return err
	}
	if p.Spec.NodeName != "" {
		delete(s.assumed, conformance.Key(p))
		return s.inner.Cache.AddPod(s.logger, p)
	}
	if p.Status.NominatedNodeName != "" {
		s.inner.SchedulingQueue.Add(s.ctx, p)
	}
	return nil
}

func (s *Scheduler) updatePod(c conformance.Change, p *v1.Pod) error {
	old := s.pods[conformance.Key(p)]
	if old == nil {
		return fmt.Errorf("kube: %v: no such pod", c)
	}
	if old.Spec.NodeName == "" || p.Spec.NodeName == "" {
		if err := s.deletePod(c, old); err != nil {
			return err
		}
		return s.addPod(p)
	}
	s.pods[conformance.Key(p)] = p
	if err := s.informers.Core().V1().Pods().Informer().GetIndexer().Add(p); err != nil {
		return err
	}
	return s.inner.Cache.UpdatePod(s.logger, old, p)
}

func (s *Scheduler) deletePod(c conformance.Change, p *v1.Pod) error {
	old := s.pods[conformance.Key(p)]
	if old == nil {
		return fmt.Errorf("kube: %v: no such pod", c)
	}
	delete(s.pods, conformance.Key(p))
	if err := s.informers.Core().V1().Pods().Informer().GetIndexer().Delete(old); err != nil {
		return err
	}
	if old.Spec.NodeName != "" {
		return s.inner.Cache.RemovePod(s.logger, old)
	}
	s.inner.SchedulingQueue.Delete(s.logger, old)
	return nil
}
