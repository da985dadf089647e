package convert

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
)

// Node converts a node. Allocatable is what counts, not capacity. The names of images stay as they are: kube-scheduler
// compares them with the normalised names of pods and normalises only those.
//
// The time when a taint was added is left out: it matters for evictions, not for placement.
func Node(n *v1.Node) (*berth.Node, error) {
	r := &report{object: "node"}
	if n == nil {
		r.invalid("", "the node is nil", "metadata")
		return nil, r.err()
	}
	r.object += " " + n.Name
	checkQuantities(n.Status.Allocatable, r, "status.allocatable")
	if r.refused() {
		return nil, r.err()
	}
	return &berth.Node{
		Name:          n.Name,
		Labels:        n.Labels,
		Taints:        each(n.Spec.Taints, taint),
		Unschedulable: n.Spec.Unschedulable,
		Allocatable:   resources(n.Status.Allocatable, r, "status.allocatable"),
		Images: each(n.Status.Images, func(i *v1.ContainerImage) berth.ContainerImage {
			return berth.ContainerImage{Names: i.Names, SizeBytes: i.SizeBytes}
		}),
	}, r.err()
}

// ToNode converts a node back. GPUs have no field in Kubernetes and are reported as unsupported: name whole devices in
// Allocatable.Scalar instead.
func ToNode(n *berth.Node) (*v1.Node, error) {
	r := &report{object: "node"}
	if n == nil {
		r.invalid("", "the node is nil", "metadata")
		return nil, r.err()
	}
	r.object += " " + n.Name
	if n.GPUs.Count != 0 {
		r.unsupported(strconv.Itoa(n.GPUs.Count), "shareable devices have no field in Kubernetes", "GPUs.Count")
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
		Spec:       v1.NodeSpec{Taints: each(n.Taints, toTaint), Unschedulable: n.Unschedulable},
		Status: v1.NodeStatus{
			Allocatable: toResources(&n.Allocatable),
			Capacity:    toResources(&n.Allocatable),
			Images: each(n.Images, func(i *berth.ContainerImage) v1.ContainerImage {
				return v1.ContainerImage{Names: i.Names, SizeBytes: i.SizeBytes}
			}),
		},
	}, r.err()
}

func taint(t *v1.Taint) berth.Taint {
	return berth.Taint{Key: t.Key, Value: t.Value, Effect: berth.TaintEffect(t.Effect)}
}

func toTaint(t *berth.Taint) v1.Taint {
	return v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect)}
}

// Namespace converts a namespace.
func Namespace(n *v1.Namespace) *berth.Namespace {
	return &berth.Namespace{Name: n.Name, Labels: n.Labels}
}

// ToNamespace converts a namespace back.
func ToNamespace(n *berth.Namespace) *v1.Namespace {
	return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
}
