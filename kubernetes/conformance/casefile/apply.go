package casefile

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// step does one step.
func (r *run) step(s *Step) error {
	switch {
	case s.AddNode != nil:
		return r.eachNode(s.AddNode, func(n *v1.Node) conformance.Change { return conformance.Change{AddNode: n} })
	case s.UpdateNode != nil:
		return r.eachNode(s.UpdateNode, func(n *v1.Node) conformance.Change { return conformance.Change{UpdateNode: n} })
	case s.DeleteNode != "":
		return r.scheduler.Apply(conformance.Change{DeleteNode: s.DeleteNode})
	case s.AddPod != nil:
		return r.eachPod(s.AddPod, func(p *v1.Pod) conformance.Change { return conformance.Change{AddPod: p} })
	case s.UpdatePod != nil:
		return r.eachPod(s.UpdatePod, func(p *v1.Pod) conformance.Change { return conformance.Change{UpdatePod: p} })
	case s.DeletePod != "":
		pod, err := r.find(s.DeletePod)
		if err != nil {
			return err
		}
		delete(r.placed, conformance.Key(pod))
		return r.scheduler.Apply(conformance.Change{DeletePod: pod})
	case s.Assume != nil:
		pod, err := r.onNode(s.Assume)
		if err != nil {
			return err
		}
		return r.scheduler.Apply(conformance.Change{AssumePod: pod})
	case s.Forget != "":
		pod := r.incoming[s.Forget]
		if pod == nil {
			return fmt.Errorf("forget: no pod %q is incoming", s.Forget)
		}
		return r.scheduler.Apply(conformance.Change{ForgetPod: pod})
	case s.Confirm != nil:
		pod, err := r.onNode(s.Confirm)
		if err != nil {
			return err
		}
		return r.add(pod)
	}
	return fmt.Errorf("nothing that a case of kind %s can do", r.Kind)
}

func (r *run) eachNode(n *Node, change func(*v1.Node) conformance.Change) error {
	nodes, err := n.Expand()
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := r.scheduler.Apply(change(node)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) eachPod(p *Pod, change func(*v1.Pod) conformance.Change) error {
	pods, err := p.Expand()
	if err != nil {
		return err
	}
	for _, pod := range pods {
		r.placed[conformance.Key(pod)] = pod
		if err := r.scheduler.Apply(change(pod)); err != nil {
			return err
		}
	}
	return nil
}

// find returns the placed pod of the name, or namespace/name.
func (r *run) find(name string) (*v1.Pod, error) {
	if !strings.Contains(name, "/") {
		name = metav1.NamespaceDefault + "/" + name
	}
	pod := r.placed[name]
	if pod == nil {
		return nil, fmt.Errorf("no pod %q is placed", name)
	}
	return pod, nil
}

// onNode returns an incoming pod with a node.
func (r *run) onNode(a *Assignment) (*v1.Pod, error) {
	pod := r.incoming[a.Pod]
	if pod == nil {
		return nil, fmt.Errorf("no pod %q is incoming", a.Pod)
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = a.Node
	return pod, nil
}

// bind places an incoming pod: the scheduler assumes it, and then sees it bound.
func (r *run) bind(pod *v1.Pod, node string) error {
	pod, err := r.onNode(&Assignment{Pod: pod.Name, Node: node})
	if err != nil {
		return err
	}
	if err := r.scheduler.Apply(conformance.Change{AssumePod: pod}); err != nil {
		return err
	}
	return r.add(pod)
}

func (r *run) add(pod *v1.Pod) error {
	r.placed[conformance.Key(pod)] = pod
	return r.scheduler.Apply(conformance.Change{AddPod: pod})
}
