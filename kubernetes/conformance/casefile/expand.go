package casefile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// defaultPods is how many pods a node takes unless it says so.
const defaultPods = 110

// Cluster returns the cluster before the first step.
func (c *Case) Cluster() (*conformance.Cluster, error) {
	out := &conformance.Cluster{Config: c.Config}
	for i := range c.Nodes {
		nodes, err := c.Nodes[i].Expand()
		if err != nil {
			return nil, err
		}
		out.Nodes = append(out.Nodes, nodes...)
	}
	for i := range c.Pods {
		pods, err := c.Pods[i].Expand()
		if err != nil {
			return nil, err
		}
		out.Pods = append(out.Pods, pods...)
	}
	for _, n := range c.Namespaces {
		out.Namespaces = append(out.Namespaces, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	}
	for _, s := range c.Services {
		out.Services = append(out.Services, &v1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: orDefault(s.Namespace)},
			Spec:       v1.ServiceSpec{Selector: s.Selector},
		})
	}
	for _, b := range c.Budgets {
		budget := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: b.Name, Namespace: orDefault(b.Namespace)},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: b.Selector},
			Status: policyv1.PodDisruptionBudgetStatus{
				DisruptionsAllowed: b.DisruptionsAllowed, DisruptedPods: map[string]metav1.Time{},
			},
		}
		for _, name := range b.DisruptedPods {
			budget.Status.DisruptedPods[name] = metav1.Time{}
		}
		out.Budgets = append(out.Budgets, budget)
	}
	return out, nil
}

// Expand returns the node or its copies.
func (n *Node) Expand() ([]*v1.Node, error) {
	var out []*v1.Node
	for i := range max(n.Count, 1) {
		name := copyName(n.Name, n.Count, i)
		node := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
			Spec:       v1.NodeSpec{Taints: n.Taints, Unschedulable: n.Unschedulable},
			Status:     v1.NodeStatus{Allocatable: n.Allocatable.DeepCopy()},
		}
		for key, value := range n.Labels {
			var err error
			if node.Labels[key], err = fillIn(value, i, name); err != nil {
				return nil, fmt.Errorf("casefile: node %s: labels[%s]: %w", name, key, err)
			}
		}
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = v1.ResourceList{}
		}
		if _, found := node.Status.Allocatable[v1.ResourcePods]; !found {
			node.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(defaultPods, resource.DecimalSI)
		}
		for _, image := range n.Images {
			node.Status.Images = append(node.Status.Images, v1.ContainerImage{Names: []string{image.Name}, SizeBytes: image.Bytes})
		}
		out = append(out, node)
	}
	return out, nil
}

// Expand returns the pod or its copies, as the API server stores them.
func (p *Pod) Expand() ([]*v1.Pod, error) {
	var out []*v1.Pod
	for i := range max(p.Count, 1) {
		name := copyName(p.Name, p.Count, i)
		node, err := fillIn(p.Node, i, name)
		if err != nil {
			return nil, fmt.Errorf("casefile: pod %s: node: %w", name, err)
		}
		pod := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.Namespace, UID: types.UID(p.UID), Labels: p.Labels},
			Spec: v1.PodSpec{
				NodeName: node, NodeSelector: p.NodeSelector, Affinity: p.Affinity, Tolerations: p.Tolerations,
				TopologySpreadConstraints: p.TopologySpreadConstraints,
				InitContainers:            p.InitContainers, Containers: p.containers(), Volumes: p.volumes(),
				Resources: p.Resources, Overhead: p.Overhead, Priority: p.Priority, PreemptionPolicy: p.PreemptionPolicy,
			},
		}
		if p.Status != nil {
			pod.Status = *p.Status
		}
		if p.NominatedNode != "" {
			pod.Status.NominatedNodeName = p.NominatedNode
		}
		if p.StartTime != nil {
			pod.Status.StartTime = p.StartTime
		}
		if p.Terminating {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)} // when is of no consequence
		}
		out = append(out, conformance.Admit(pod))
	}
	return out, nil
}

func (p *Pod) containers() []v1.Container {
	if len(p.Containers) > 0 {
		return p.Containers
	}
	out := []v1.Container{{Name: "main", Image: p.Image, Resources: v1.ResourceRequirements{Requests: p.Requests}}}
	for i, image := range p.Images {
		out = append(out, v1.Container{Name: fmt.Sprintf("beside-%d", i), Image: image})
	}
	return out
}

func (p *Pod) volumes() []v1.Volume {
	var out []v1.Volume
	for i, reference := range p.ImageVolumes {
		source := v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: reference}}
		out = append(out, v1.Volume{Name: fmt.Sprintf("image-%d", i), VolumeSource: source})
	}
	return out
}

func copyName(name string, count, i int) string {
	if count == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(i)
}

// fillIn replaces {i}, {i%k} and {name}.
func fillIn(s string, i int, name string) (string, error) {
	s = strings.NewReplacer("{i}", strconv.Itoa(i), "{name}", name).Replace(s)
	for {
		before, rest, found := strings.Cut(s, "{i%")
		if !found {
			return s, nil
		}
		number, after, closed := strings.Cut(rest, "}")
		k, err := strconv.Atoi(number)
		if !closed || err != nil || k <= 0 {
			return "", fmt.Errorf("%q: want {i%%k} with a positive k", s)
		}
		s = before + strconv.Itoa(i%k) + after
	}
}

func orDefault(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}
