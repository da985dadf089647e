package peerbench

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Shape is a workload.
type Shape struct {
	Name string
	// templates are the kinds of pods to place, in turn.
	templates []template
}

// template is a kind of pod.
type template struct {
	color string
	rules func(*v1.PodSpec)
	// placed says whether the pods that are placed at the start are of this kind too; otherwise they are plain ones.
	placed bool
	// exclusive pods are alone on a node among their kind, so only a part of the placed ones are of it.
	exclusive bool
	// zones are those that placed pods may be in; none means all.
	zones []int
}

// Zones is the number of zones that nodes are in, round robin.
const Zones = 3

// exclusiveShare is one of how many placed pods is of an exclusive kind.
const exclusiveShare = 5

// Shapes returns the workloads, in the order of their columns in docs/PERFORMANCE.md.
func Shapes() []Shape {
	basic := template{placed: true, rules: func(*v1.PodSpec) {}}
	antiAffinity := template{color: "green", placed: true, exclusive: true, rules: func(s *v1.PodSpec) {
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term("green", v1.LabelHostname)},
		}}
	}}
	affinity := template{color: "blue", placed: true, zones: []int{0}, rules: func(s *v1.PodSpec) {
		s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term("blue", v1.LabelTopologyZone)},
		}}
	}}
	preferredAffinity := template{color: "red", placed: true, rules: func(s *v1.PodSpec) {
		s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term("red", v1.LabelHostname)}},
		}}
	}}
	preferredAntiAffinity := template{color: "yellow", placed: true, rules: func(s *v1.PodSpec) {
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term("yellow", v1.LabelHostname)}},
		}}
	}}
	hardSpread := template{color: "purple", rules: spread("purple", v1.DoNotSchedule)}
	softSpread := template{color: "orange", rules: spread("orange", v1.ScheduleAnyway)}
	nodeAffinity := template{color: "grey", placed: true, zones: []int{0, 1}, rules: func(s *v1.PodSpec) {
		s.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{
					Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{zone(0), zone(1)},
				}},
			}}},
		}}
	}}
	all := []template{basic, antiAffinity, affinity, preferredAffinity, preferredAntiAffinity, hardSpread, softSpread, nodeAffinity}
	return []Shape{
		{"basic", []template{basic}},
		{"anti-affinity", []template{antiAffinity}},
		{"affinity", []template{affinity}},
		{"preferred-affinity", []template{preferredAffinity}},
		{"preferred-anti-affinity", []template{preferredAntiAffinity}},
		{"hard-spread", []template{hardSpread}},
		{"soft-spread", []template{softSpread}},
		{"node-affinity", []template{nodeAffinity}},
		{"mixed", all},
	}
}

func term(color, topologyKey string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}},
		Namespaces:    []string{placedNamespace, waitingNamespace},
		TopologyKey:   topologyKey,
	}
}

func spread(color string, action v1.UnsatisfiableConstraintAction) func(*v1.PodSpec) {
	return func(s *v1.PodSpec) {
		s.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 5, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: action,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}},
		}}
	}
}

// Namespaces of the pods.
const (
	placedNamespace  = "sched-0"
	waitingNamespace = "sched-1"
)

func zone(i int) string { return fmt.Sprintf("zone-%d", i) }

// node returns node number i.
func node(i int) *v1.Node {
	name := fmt.Sprintf("node-%d", i)
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelTopologyZone: zone(i % Zones),
		}},
		Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("32Gi"), v1.ResourcePods: resource.MustParse("110"),
		}},
	}
}

// pod returns a pod of the kind.
func (t *template) pod(namespace string, i int) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("pod-%d", i)}}
	p.UID = types.UID(namespace + "/" + p.Name)
	if t.color != "" {
		p.Labels = map[string]string{"color": t.color}
	}
	p.Spec = v1.PodSpec{
		SchedulerName: v1.DefaultSchedulerName,
		Containers: []v1.Container{{
			Name: "pause", Image: "registry.k8s.io/pause:3.10.2",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("500Mi"),
			}},
		}},
	}
	t.rules(&p.Spec)
	return p
}

// placed returns placed pod number i: its kind in turn, on a node in turn that its rules allow.
func (s *Shape) placed(i, nodes int) *v1.Pod {
	t, turn := &s.templates[i%len(s.templates)], i/len(s.templates)
	on := i % nodes
	if t.exclusive {
		on = turn / exclusiveShare
	}
	if !t.placed || t.exclusive && (turn%exclusiveShare != 0 || on >= nodes) {
		t, on = &template{rules: func(*v1.PodSpec) {}}, i%nodes
	}
	for len(t.zones) > 0 && !slices.Contains(t.zones, on%Zones) {
		on = (on + 1) % nodes
	}
	p := t.pod(placedNamespace, i)
	p.Spec.NodeName = fmt.Sprintf("node-%d", on)
	return p
}

// waiting returns pod number i to place.
func (s *Shape) waiting(i int) *v1.Pod {
	return s.templates[i%len(s.templates)].pod(waitingNamespace, i)
}
