package convert

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
)

func list(pairs ...string) v1.ResourceList {
	out := make(v1.ResourceList)
	for i := 0; i < len(pairs); i += 2 {
		out[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func container(pairs ...string) v1.Container {
	return v1.Container{Name: "c", Image: "app", Resources: v1.ResourceRequirements{Requests: list(pairs...)}}
}

func sidecar(pairs ...string) v1.Container {
	c := container(pairs...)
	always := v1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

const mi = 1 << 20

func TestEffectiveRequests(t *testing.T) {
	tests := []struct {
		rule   string
		pod    v1.Pod
		want   berth.Resources
		scored berth.NonZeroRequests
	}{
		{
			rule:   "containers add up",
			pod:    v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{container("cpu", "1", "memory", "10Mi"), container("cpu", "250m", "memory", "1Mi")}}},
			want:   berth.Resources{MilliCPU: 1250, Memory: 11 * mi},
			scored: berth.NonZeroRequests{MilliCPU: 1250, Memory: 11 * mi},
		},
		{
			rule:   "a container without a request counts in scores with 100m and 200Mi, each on its own",
			pod:    v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{container("cpu", "1"), container("memory", "10Mi"), container()}}},
			want:   berth.Resources{MilliCPU: 1000, Memory: 10 * mi},
			scored: berth.NonZeroRequests{MilliCPU: 1200, Memory: 410 * mi},
		},
		{
			rule:   "an explicit 0 stays 0 in scores",
			pod:    v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{container("cpu", "0", "memory", "0")}}},
			scored: berth.NonZeroRequests{},
		},
		{
			rule: "the largest init container counts if it is more than the containers",
			pod: v1.Pod{Spec: v1.PodSpec{
				InitContainers: []v1.Container{container("cpu", "2", "memory", "1Mi"), container("cpu", "3", "memory", "1Mi")},
				Containers:     []v1.Container{container("cpu", "1", "memory", "5Mi")},
			}},
			want:   berth.Resources{MilliCPU: 3000, Memory: 5 * mi},
			scored: berth.NonZeroRequests{MilliCPU: 3000, Memory: 5 * mi},
		},
		{
			rule: "a sidecar runs beside the init containers after it",
			pod: v1.Pod{Spec: v1.PodSpec{
				InitContainers: []v1.Container{sidecar("cpu", "500m", "memory", "0"), container("cpu", "3", "memory", "0")},
				Containers:     []v1.Container{container("cpu", "1", "memory", "0")},
			}},
			want:   berth.Resources{MilliCPU: 3500},
			scored: berth.NonZeroRequests{MilliCPU: 3500},
		},
		{
			rule: "a sidecar does not run beside the init containers before it",
			pod: v1.Pod{Spec: v1.PodSpec{
				InitContainers: []v1.Container{container("cpu", "3", "memory", "0"), sidecar("cpu", "500m", "memory", "0")},
				Containers:     []v1.Container{container("cpu", "1", "memory", "0")},
			}},
			want:   berth.Resources{MilliCPU: 3000},
			scored: berth.NonZeroRequests{MilliCPU: 3000},
		},
		{
			rule: "overhead is added on top",
			pod: v1.Pod{Spec: v1.PodSpec{
				InitContainers: []v1.Container{container("cpu", "2", "memory", "0")},
				Containers:     []v1.Container{container("cpu", "1", "memory", "0")},
				Overhead:       list("cpu", "500m"),
			}},
			want:   berth.Resources{MilliCPU: 2500},
			scored: berth.NonZeroRequests{MilliCPU: 2500},
		},
		{
			rule: "pod-level requests take the place of the sum",
			pod: v1.Pod{Spec: v1.PodSpec{
				Containers: []v1.Container{container("cpu", "1"), container("memory", "1Gi")},
				Resources:  &v1.ResourceRequirements{Requests: list("cpu", "4", "memory", "2Gi")},
				Overhead:   list("cpu", "1"),
			}},
			want:   berth.Resources{MilliCPU: 5000, Memory: 2048 * mi},
			scored: berth.NonZeroRequests{MilliCPU: 2100, Memory: 1224 * mi},
		},
		{
			rule: "pod-level requests count in scores once the pod is placed",
			pod: v1.Pod{Spec: v1.PodSpec{
				NodeName:   "n",
				Containers: []v1.Container{container("cpu", "1"), container("memory", "1Gi")},
				Resources:  &v1.ResourceRequirements{Requests: list("cpu", "4", "memory", "2Gi")},
				Overhead:   list("cpu", "1"),
			}},
			want:   berth.Resources{MilliCPU: 5000, Memory: 2048 * mi},
			scored: berth.NonZeroRequests{MilliCPU: 5000, Memory: 2048 * mi},
		},
		{
			rule: "resources with a domain and hugepages count, other names are ignored",
			pod: v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{
				container("cpu", "1", "memory", "1Mi", "example.com/gpu", "2", "hugepages-2Mi", "4Mi", "widgets", "3", "requests.example.com/x", "1"),
			}}},
			want: berth.Resources{MilliCPU: 1000, Memory: mi, Scalar: map[string]int64{
				"example.com/gpu": 2, "hugepages-2Mi": 4 * mi,
			}},
			scored: berth.NonZeroRequests{MilliCPU: 1000, Memory: mi},
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			got, err := Pod(&test.pod)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Requests, test.want) {
				t.Errorf("requests %+v, want %+v", got.Requests, test.want)
			}
			if scored := got.ScoreRequests(); scored != test.scored {
				t.Errorf("scored requests %+v, want %+v", scored, test.scored)
			}
			checkRoundTrip(t, got)
		})
	}
}

func TestPodLeavesItsArgumentAsItWas(t *testing.T) {
	p := &v1.Pod{Spec: v1.PodSpec{
		Containers: []v1.Container{container("memory", "0.5Gi"), container("memory", "0.5Gi")},
		Resources:  &v1.ResourceRequirements{Requests: list("memory", "0.5Gi")},
		Overhead:   list("memory", "0.5Gi"),
	}}
	for range 3 {
		got, err := Pod(p)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(1024 * mi); got.Requests.Memory != want {
			t.Fatalf("requests %d, want %d", got.Requests.Memory, want)
		}
	}
}

func TestRequestsDuringResize(t *testing.T) {
	pod := func(node, reason, desired, allocated, actual string) *v1.Pod {
		requested, used := list("cpu", allocated, "memory", "0"), list("cpu", actual, "memory", "0")
		p := &v1.Pod{
			Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{container("cpu", desired, "memory", "0")}},
			Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{
				Name: "c", AllocatedResources: requested, Resources: &v1.ResourceRequirements{Requests: used},
			}}},
		}
		if reason != "" {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: reason}}
		}
		return p
	}
	tests := []struct {
		rule string
		pod  *v1.Pod
		want int64
	}{
		{"the wish counts while it is deferred", pod("n", v1.PodReasonDeferred, "3", "1", "1"), 3000},
		{"an infeasible wish does not count", pod("n", v1.PodReasonInfeasible, "3", "1", "1"), 1000},
		{"what is still in use counts", pod("n", "", "1", "1", "3"), 3000},
		{"what was allocated counts", pod("n", "", "1", "2", "1"), 2000},
		{"nothing can have been resized before the pod is placed", pod("", "", "1", "2", "3"), 1000},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			got, err := Pod(test.pod)
			if err != nil {
				t.Fatal(err)
			}
			if got.Requests.MilliCPU != test.want {
				t.Errorf("requests %dm CPU, want %dm", got.Requests.MilliCPU, test.want)
			}
		})
	}
}

func TestPodFields(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	never, honor, priority, yes := v1.PreemptNever, v1.NodeInclusionPolicyHonor, int32(7), true
	minDomains := int32(2)
	port := func(p int32) []v1.ContainerPort {
		return []v1.ContainerPort{{ContainerPort: 1, HostPort: p, Protocol: v1.ProtocolTCP}}
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	init, side, main := container("cpu", "1", "memory", "1"), sidecar("cpu", "1", "memory", "1"), container("cpu", "1", "memory", "1")
	init.Ports, side.Ports, main.Ports = port(1), port(2), port(3)
	side.Image, main.Image = "host:5000/side", "main@sha256:00"
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "u", Labels: map[string]string{"app": "web", "rev": "2"},
			DeletionTimestamp: &metav1.Time{Time: start},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: "no controller"},
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "ru", Controller: &yes},
			},
		},
		Spec: v1.PodSpec{
			NodeName: "n", NodeSelector: map[string]string{"disk": "ssd"}, Priority: &priority, PreemptionPolicy: &never,
			InitContainers: []v1.Container{init, side}, Containers: []v1.Container{main},
			Volumes: []v1.Volume{
				{Name: "i", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: "model:3"}}},
				{Name: "e", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
			},
			Tolerations: []v1.Toleration{{Key: "k", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}},
			TopologySpreadConstraints: []v1.TopologySpreadConstraint{{
				MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector,
				MinDomains: &minDomains, NodeTaintsPolicy: &honor, MatchLabelKeys: []string{"rev", "absent"},
			}},
			Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 3, PodAffinityTerm: v1.PodAffinityTerm{
					TopologyKey: "zone", LabelSelector: selector, MatchLabelKeys: []string{"rev"}, NamespaceSelector: &metav1.LabelSelector{},
				}}},
			}},
		},
		Status: v1.PodStatus{
			NominatedNodeName: "m", StartTime: &metav1.Time{Time: start},
			Conditions: []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}},
		},
	}
	want := &berth.Pod{
		Namespace: "ns", Name: "p", UID: "u", Labels: map[string]string{"app": "web", "rev": "2"},
		Owner:    berth.OwnerReference{Kind: "ReplicaSet", Name: "rs", UID: "ru"},
		NodeName: "n", NominatedNodeName: "m", Terminating: true, Preempted: true,
		Requests:     berth.Resources{MilliCPU: 2000, Memory: 2},
		HostPorts:    []berth.HostPort{{Protocol: berth.TCP, Port: 2}, {Protocol: berth.TCP, Port: 3}},
		Images:       []string{"app:latest", "host:5000/side:latest", "main@sha256:00", "model:3"},
		NodeSelector: map[string]string{"disk": "ssd"}, Priority: 7, PreemptNever: true, StartTime: start,
		Tolerations: []berth.Toleration{{Key: "k", Operator: berth.TolerationExists, Effect: berth.NoSchedule}},
		TopologySpreadConstraints: []berth.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: berth.DoNotSchedule, MinDomains: &minDomains,
			NodeTaintsPolicy: berth.Honor, MatchLabelKeys: []string{"rev", "absent"},
			LabelSelector: &berth.LabelSelector{
				MatchLabels:      map[string]string{"app": "web"},
				MatchExpressions: []berth.Requirement{{Key: "rev", Operator: berth.In, Values: []string{"2"}}},
			},
		}},
		Affinity: &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []berth.WeightedPodAffinityTerm{{Weight: 3, PodAffinityTerm: berth.PodAffinityTerm{
				TopologyKey: "zone", LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				MatchLabelKeys: []string{"rev"}, NamespaceSelector: &berth.LabelSelector{},
			}}},
		}},
	}
	got, err := Pod(p)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkRoundTrip(t, got)
}

func TestUnsupportedFieldsAreReportedBesideThePod(t *testing.T) {
	group, no := "g", false
	tests := []struct {
		path string
		set  func(*v1.Pod)
	}{
		{"spec.volumes[1].persistentVolumeClaim", func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{Name: "a"}, {Name: "b", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}}}}
		}},
		{"spec.volumes[0].ephemeral", func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{Name: "a", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}}}
		}},
		{"spec.resourceClaims[0]", func(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu"}} }},
		{"spec.schedulingGates[0]", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} }},
		{"spec.schedulingGroup", func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group} }},
		{"spec.tolerations[0].operator", func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Key: "sla", Operator: v1.TolerationOpGt, Value: "1"}}
		}},
		{"spec.containers[0].resources.requests[deviceclass.resource.kubernetes.io/gpu]", func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{container("deviceclass.resource.kubernetes.io/gpu", "1")}
		}},
		{"status.phase", func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }},
		{"spec", func(p *v1.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, &no }},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
			test.set(p)
			got, err := Pod(p)
			if got == nil {
				t.Fatalf("no pod beside the error %v", err)
			}
			checkError(t, err, ErrUnsupported, "pod ns/p", test.path)
		})
	}
}

func TestInvalidFieldsRefuseTheObject(t *testing.T) {
	tests := []struct {
		path string
		set  func(*v1.Pod)
	}{
		{"spec.containers[0].resources.requests[cpu]", func(p *v1.Pod) { p.Spec.Containers = []v1.Container{container("cpu", "-1")} }},
		{"spec.initContainers[0].resources.requests[memory]", func(p *v1.Pod) { p.Spec.InitContainers = []v1.Container{container("memory", "-1")} }},
		{"spec.containers[1].resources.requests[cpu]", func(p *v1.Pod) { p.Spec.Containers = []v1.Container{container(), container("cpu", "9E")} }},
		{"spec.overhead[memory]", func(p *v1.Pod) { p.Spec.Overhead = list("memory", "-1") }},
		{"spec.resources.requests[memory]", func(p *v1.Pod) {
			p.Spec.Resources = &v1.ResourceRequirements{Requests: list("memory", "-1")}
		}},
		{"status.containerStatuses[0].allocatedResources[cpu]", func(p *v1.Pod) {
			p.Spec.NodeName = "n"
			p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: list("cpu", "-1")}}
		}},
		{"spec.containers[*].resources.requests[memory]", func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{container("memory", "5E"), container("memory", "5E")}
		}},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
			test.set(p)
			got, err := Pod(p)
			if got != nil {
				t.Errorf("got %+v beside the error", got)
			}
			checkError(t, err, berth.ErrInvalid, "pod ns/p", test.path)
		})
	}
}

// checkError checks that one of the errors is the wanted one, and that the text says so.
func checkError(t *testing.T, err, kind error, object, path string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v is not %v", err, kind)
	}
	if !strings.Contains(err.Error(), object+": "+path+": ") {
		t.Errorf("error %q does not name %s: %s", err, object, path)
	}
}

// checkRoundTrip checks that the pod survives the way there and back.
func checkRoundTrip(t *testing.T, p *berth.Pod) {
	t.Helper()
	there, err := ToPod(p)
	if err != nil {
		t.Errorf("there: %v", err)
	}
	back, err := Pod(there)
	if err != nil {
		t.Errorf("back: %v", err)
	}
	if !reflect.DeepEqual(back, p) {
		t.Errorf("got back %+v\nof       %+v\nvia      %+v", back, p, there)
	}
}
