package queue

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-go/berth/heap"
)

// rule is a filter, the events it listens to, and which of them may help a pod that it refused.
type rule struct {
	plugin string
	events []fwk.ClusterEvent
	helps  func(pod *v1.Pod, c change) bool
}

// rules returns kube-scheduler's default filters, and for each what may help a pod that it refused.
func rules() []rule {
	on := func(r fwk.EventResource, a fwk.ActionType) fwk.ClusterEvent {
		return fwk.ClusterEvent{Resource: r, ActionType: a}
	}
	return []rule{
		{"SchedulingGates", []fwk.ClusterEvent{on(fwk.TargetPod, fwk.UpdatePodSchedulingGatesEliminated)}, nil},
		{"NodeUnschedulable", []fwk.ClusterEvent{
			on(fwk.Node, fwk.Add|fwk.UpdateNodeTaint), on(fwk.TargetPod, fwk.UpdatePodToleration),
		}, nodeBecomes(func(_ *v1.Pod, n *v1.Node) bool { return !n.Spec.Unschedulable })},
		{"NodeName", []fwk.ClusterEvent{on(fwk.Node, fwk.Add)}, nil},
		{"TaintToleration", []fwk.ClusterEvent{
			on(fwk.Node, fwk.Add|fwk.UpdateNodeTaint), on(fwk.TargetPod, fwk.UpdatePodToleration),
		}, nodeBecomes(tolerates)},
		{"NodeAffinity", []fwk.ClusterEvent{on(fwk.Node, fwk.Add|fwk.UpdateNodeLabel)}, nodeBecomes(selects)},
		{"NodePorts", []fwk.ClusterEvent{on(fwk.AssignedPod, fwk.Delete), on(fwk.Node, fwk.Add)}, freesPort},
		{"NodeResourcesFit", []fwk.ClusterEvent{
			on(fwk.AssignedPod, fwk.Delete|fwk.UpdatePodScaleDown), on(fwk.Node, fwk.Add|fwk.UpdateNodeAllocatable),
			on(fwk.TargetPod, fwk.UpdatePodScaleDown),
		}, freesResource},
		{"PodTopologySpread", []fwk.ClusterEvent{
			on(fwk.AssignedPod, fwk.Add|fwk.UpdatePodLabel|fwk.Delete), on(fwk.TargetPod, fwk.UpdatePodToleration|fwk.UpdatePodLabel),
			on(fwk.Node, fwk.Add|fwk.Delete|fwk.UpdateNodeLabel|fwk.UpdateNodeTaint),
		}, changesSkew},
		{"InterPodAffinity", []fwk.ClusterEvent{
			on(fwk.AssignedPod, fwk.Add|fwk.UpdatePodLabel|fwk.Delete), on(fwk.TargetPod, fwk.UpdatePodLabel),
			on(fwk.Node, fwk.Add|fwk.UpdateNodeLabel),
		}, changesCompany},
	}
}

func (r *rule) kinds() (kinds heap.EventSet) {
	for _, e := range r.events {
		kinds |= kindsOf(e)
	}
	return kinds
}

// nodeBecomes helps if a node passes that is new or did not pass before. A pod that has changed itself is always worth a try.
func nodeBecomes(passes func(*v1.Pod, *v1.Node) bool) func(*v1.Pod, change) bool {
	return func(pod *v1.Pod, c change) bool {
		return c.target || c.node != nil && passes(pod, c.node) && (c.oldNode == nil || !passes(pod, c.oldNode))
	}
}

func tolerates(pod *v1.Pod, n *v1.Node) bool {
	_, untolerated := v1helper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, pod.Spec.Tolerations, func(t *v1.Taint) bool {
		return t.Effect != v1.TaintEffectPreferNoSchedule
	}, true)
	return !untolerated
}

func selects(pod *v1.Pod, n *v1.Node) bool {
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n)
	return matches || err != nil
}

func freesPort(pod *v1.Pod, c change) bool {
	if c.node != nil {
		return true
	}
	for _, mine := range hostPorts(pod) {
		for _, theirs := range hostPorts(c.oldPod) {
			if mine.HostPort == theirs.HostPort && mine.Protocol == theirs.Protocol && overlap(mine.HostIP, theirs.HostIP) {
				return true
			}
		}
	}
	return false
}

func hostPorts(pod *v1.Pod) (ports []v1.ContainerPort) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, p := range c.Ports {
			if p.HostPort == 0 {
				continue
			}
			if p.Protocol == "" {
				p.Protocol = v1.ProtocolTCP
			}
			ports = append(ports, p)
		}
	}
	return ports
}

func overlap(a, b string) bool {
	anywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a == b || anywhere(a) || anywhere(b)
}

func freesResource(pod *v1.Pod, c change) bool {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	switch {
	case c.target:
		return true
	case c.node != nil:
		return fitsAlone(requests, c.node) && (c.oldNode == nil || grows(requests, c.oldNode.Status.Allocatable, c.node.Status.Allocatable))
	case c.pod == nil:
		return true
	}
	return grows(requests, resource.PodRequests(c.pod, resource.PodResourcesOptions{}), resource.PodRequests(c.oldPod, resource.PodResourcesOptions{}))
}

// fitsAlone says whether a pod with these requests fits a node that has no other.
func fitsAlone(requests v1.ResourceList, n *v1.Node) bool {
	if pods := n.Status.Allocatable[v1.ResourcePods]; pods.Value() < 1 {
		return false
	}
	for name, q := range requests {
		if free := n.Status.Allocatable[name]; q.Sign() > 0 && q.Cmp(free) > 0 {
			return false
		}
	}
	return true
}

// grows says whether there is more of something that is requested, or room for more pods.
func grows(requests, before, after v1.ResourceList) bool {
	for name, q := range requests {
		if b, a := before[name], after[name]; q.Sign() > 0 && a.Cmp(b) > 0 {
			return true
		}
	}
	b, a := before[v1.ResourcePods], after[v1.ResourcePods]
	return a.Cmp(b) > 0
}

func changesSkew(pod *v1.Pod, c change) bool {
	var hard []v1.TopologySpreadConstraint
	honor := false
	for _, t := range pod.Spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == v1.DoNotSchedule {
			hard = append(hard, t)
			honor = honor || t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor
		}
	}
	counted := func(p *v1.Pod) (by []bool) { // by which constraints
		for _, t := range hard {
			by = append(by, p != nil && spreadSelector(pod, t).Matches(labels.Set(p.Labels)))
		}
		return by
	}
	switch {
	case c.target:
		return honor && !equality.Semantic.DeepEqual(c.oldPod.Spec.Tolerations, c.pod.Spec.Tolerations) ||
			!slices.Equal(counted(c.oldPod), counted(c.pod))
	case c.oldPod != nil || c.pod != nil:
		return samePlace(pod, c) && !slices.Equal(counted(c.oldPod), counted(c.pod))
	}
	before, after := carriesAll(c.oldNode, hard), carriesAll(c.node, hard)
	if before == nil || after == nil {
		return before != nil || after != nil
	}
	return !slices.Equal(before, after) || !equality.Semantic.DeepEqual(c.oldNode.Spec.Taints, c.node.Spec.Taints)
}

func samePlace(pod *v1.Pod, c change) bool {
	return (c.pod == nil || c.pod.Namespace == pod.Namespace) && (c.oldPod == nil || c.oldPod.Namespace == pod.Namespace)
}

// carriesAll returns the values of a node under the keys of all constraints, or nil if it lacks one.
func carriesAll(n *v1.Node, hard []v1.TopologySpreadConstraint) []string {
	if n == nil {
		return nil
	}
	values := []string{}
	for _, t := range hard {
		v, ok := n.Labels[t.TopologyKey]
		if !ok {
			return nil
		}
		values = append(values, v)
	}
	return values
}

func spreadSelector(pod *v1.Pod, t v1.TopologySpreadConstraint) labels.Selector {
	s, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return labels.Everything() // it refuses all pods: whatever happens is worth a try
	}
	for _, key := range t.MatchLabelKeys {
		if v, ok := pod.Labels[key]; ok {
			s = s.DeepCopySelector()
			if r, err := labels.NewRequirement(key, "in", []string{v}); err == nil {
				s = s.Add(*r)
			}
		}
	}
	return s
}

// changesCompany helps a pod with affinity if a pod came that it wants, or if the last of those went and it wants itself: it
// is then the first of a series, and fits anywhere (kubernetes#141354). It helps a pod that a pod which went had hated
// (kubernetes#134393), or that hated it.
func changesCompany(pod *v1.Pod, c change) bool {
	wanted, hated := affinityTerms(pod), antiAffinityTerms(pod)
	switch {
	case c.target:
		return true
	case c.node != nil:
		return movesDomain(wanted, hated, c)
	}
	wants := func(p *v1.Pod) bool { return p != nil && len(wanted) > 0 && all(wanted, pod, p) }
	hates := func(p *v1.Pod) bool { return p != nil && some(hated, pod, p) }
	hatedBy := func(p *v1.Pod) bool { return p != nil && some(antiAffinityTerms(p), p, pod) }
	came := wants(c.pod) && !wants(c.oldPod)
	left := wants(c.oldPod) && !wants(c.pod)
	return came || left && all(wanted, pod, pod) || hates(c.oldPod) && !hates(c.pod) || hatedBy(c.oldPod) && !hatedBy(c.pod)
}

func movesDomain(wanted, hated []v1.PodAffinityTerm, c change) bool {
	if c.oldNode == nil {
		carries := func(t v1.PodAffinityTerm) bool { _, ok := c.node.Labels[t.TopologyKey]; return ok }
		return len(hated) > 0 || slices.ContainsFunc(wanted, carries)
	}
	if maps.Equal(c.oldNode.Labels, c.node.Labels) {
		return false
	}
	differs := func(t v1.PodAffinityTerm, gone bool) bool {
		before, had := c.oldNode.Labels[t.TopologyKey]
		after, has := c.node.Labels[t.TopologyKey]
		return had && has && before != after || had != has && had == gone
	}
	return slices.ContainsFunc(wanted, func(t v1.PodAffinityTerm) bool { return differs(t, false) }) ||
		slices.ContainsFunc(hated, func(t v1.PodAffinityTerm) bool { return differs(t, true) })
}

func affinityTerms(p *v1.Pod) []v1.PodAffinityTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	return p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func antiAffinityTerms(p *v1.Pod) []v1.PodAffinityTerm {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func all(terms []v1.PodAffinityTerm, owner, p *v1.Pod) bool {
	return !slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool { return !meant(t, owner, p) })
}

func some(terms []v1.PodAffinityTerm, owner, p *v1.Pod) bool {
	return slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool { return meant(t, owner, p) })
}

// meant says whether a term of the owner may mean a pod. The labels of namespaces are not known here, so a selector of
// namespaces that selects anything may mean any.
func meant(t v1.PodAffinityTerm, owner, p *v1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return true
	}
	namespace := t.NamespaceSelector != nil || slices.Contains(t.Namespaces, p.Namespace) ||
		len(t.Namespaces) == 0 && owner.Namespace == p.Namespace
	return namespace && selector.Matches(labels.Set(p.Labels))
}
