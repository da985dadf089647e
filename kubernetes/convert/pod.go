package convert

import (
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-go/berth"
)

// Pod converts a pod, pending or placed. DefaultSpreadSelector stays nil: it takes the pod's services and controllers,
// see [Owners]. The cost is linear in the size of the spec.
//
// If the error is only about unsupported fields, the pod is returned beside it; see the package documentation.
func Pod(p *v1.Pod) (*berth.Pod, error) {
	r := &report{object: "pod"}
	if p == nil {
		r.invalid("", "the pod is nil", "metadata")
		return nil, r.err()
	}
	r.object += " " + p.Namespace + "/" + p.Name
	out := &berth.Pod{
		Namespace:         p.Namespace,
		Name:              p.Name,
		UID:               string(p.UID),
		Labels:            p.Labels,
		Owner:             owner(p),
		NodeName:          p.Spec.NodeName,
		NominatedNodeName: p.Status.NominatedNodeName,
		Terminating:       p.DeletionTimestamp != nil,
		Preempted:         preempted(p),
		HostPorts:         hostPorts(p),
		Images:            images(p),
		NodeSelector:      p.Spec.NodeSelector,
		Affinity:          affinity(p.Spec.Affinity),
		Tolerations:       tolerations(p),
		PreemptNever:      p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == v1.PreemptNever,
	}
	out.Requests, out.NonZeroRequests = requests(p, r)
	out.TopologySpreadConstraints = spread(p)
	if p.Spec.Priority != nil {
		out.Priority = *p.Spec.Priority
	}
	if p.Status.StartTime != nil {
		out.StartTime = p.Status.StartTime.Time
	}
	reportUnsupported(p, r)
	if r.refused() {
		return nil, r.err()
	}
	return out, r.err()
}

// preempted says whether the scheduler has asked for the pod to go (PodTerminatingByPreemption in
// pkg/scheduler/framework/preemption/util.go). The first condition of the type decides.
func preempted(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.DisruptionTarget {
			return p.DeletionTimestamp != nil && c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
		}
	}
	return false
}

// spread converts the spread constraints with their matchLabelKeys folded, as the plugin PodTopologySpread does at each
// decision. (The gate that lets the API server do it is off by default.)
func spread(p *v1.Pod) []berth.TopologySpreadConstraint {
	part := berth.Pod{
		Labels:                    p.Labels,
		TopologySpreadConstraints: each(p.Spec.TopologySpreadConstraints, spreadConstraint),
	}
	return berth.Fold(&part).TopologySpreadConstraints
}

func owner(p *v1.Pod) berth.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil {
		return berth.OwnerReference{}
	}
	return berth.OwnerReference{Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID)}
}

// hostPorts are the ports of all containers that run as long as the pod does (GetHostPorts in
// pkg/scheduler/util/utils.go).
func hostPorts(p *v1.Pod) []berth.HostPort {
	var out []berth.HostPort
	add := func(c *v1.Container) {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				out = append(out, berth.HostPort{HostIP: port.HostIP, Protocol: berth.Protocol(port.Protocol), Port: port.HostPort})
			}
		}
	}
	for i := range p.Spec.InitContainers {
		if restartable(&p.Spec.InitContainers[i]) {
			add(&p.Spec.InitContainers[i])
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return out
}

func restartable(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

// images are the normalised names of the pod's images, one for each container even where it names none, because the
// score of image locality depends on their number (pkg/scheduler/framework/plugins/imagelocality). A pod that names no
// image at all has none: its score is 0 either way.
func images(p *v1.Pod) []string {
	named := false
	var out []string
	add := func(image string) {
		named = named || image != ""
		out = append(out, normalisedImage(image))
	}
	for i := range p.Spec.InitContainers {
		add(p.Spec.InitContainers[i].Image)
	}
	for i := range p.Spec.Containers {
		add(p.Spec.Containers[i].Image)
	}
	for i := range p.Spec.Volumes {
		if source := p.Spec.Volumes[i].Image; source != nil {
			add(source.Reference)
		}
	}
	if !named {
		return nil
	}
	return out
}

func normalisedImage(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		return name + ":latest"
	}
	return name
}

// tolerations leaves out comparing ones: kube-scheduler lets them tolerate nothing.
func tolerations(p *v1.Pod) []berth.Toleration {
	var out []berth.Toleration
	for _, t := range p.Spec.Tolerations {
		if !comparing(&t) {
			out = append(out, berth.Toleration{
				Key:      t.Key,
				Operator: berth.TolerationOperator(t.Operator),
				Value:    t.Value,
				Effect:   berth.TaintEffect(t.Effect),
			})
		}
	}
	return out
}

func comparing(t *v1.Toleration) bool {
	return t.Operator == v1.TolerationOpGt || t.Operator == v1.TolerationOpLt
}

// ToPod converts a pod back. Its containers are made up so that the pod has the same effective requests, the same
// requests in resource scores, the same host ports and the same images.
//
// DefaultSpreadSelector has no field in a pod: it comes back if the controller that [ToOwner] makes of the pod exists. GPU
// has none either and is reported as unsupported, as is an Owner of a kind whose API group isn't known.
func ToPod(p *berth.Pod) (*v1.Pod, error) {
	r := &report{object: "pod"}
	if p == nil {
		r.invalid("", "the pod is nil", "metadata")
		return nil, r.err()
	}
	r.object += " " + p.Namespace + "/" + p.Name
	if p.GPU.Count != 0 {
		r.unsupported(strconv.Itoa(p.GPU.Count), "shareable devices have no field in Kubernetes", "GPU.Count")
	}
	out := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID), Labels: p.Labels,
			OwnerReferences: toOwnerReferences(p, r),
		},
		Spec: v1.PodSpec{
			NodeName:                  p.NodeName,
			NodeSelector:              p.NodeSelector,
			Affinity:                  toAffinity(p.Affinity),
			TopologySpreadConstraints: each(p.TopologySpreadConstraints, toSpreadConstraint),
			Priority:                  &p.Priority,
			Tolerations: each(p.Tolerations, func(t *berth.Toleration) v1.Toleration {
				return v1.Toleration{Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value, Effect: v1.TaintEffect(t.Effect)}
			}),
		},
		Status: v1.PodStatus{NominatedNodeName: p.NominatedNodeName},
	}
	if p.PreemptNever {
		never := v1.PreemptNever
		out.Spec.PreemptionPolicy = &never
	}
	if p.Preempted {
		out.Status.Conditions = []v1.PodCondition{{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
		}}
	}
	if p.Terminating {
		out.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)} // when is of no consequence
	}
	if !p.StartTime.IsZero() {
		out.Status.StartTime = &metav1.Time{Time: p.StartTime}
	}
	makeContainers(p, out, r)
	return out, r.err()
}
