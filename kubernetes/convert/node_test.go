package convert

import (
	"errors"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
)

func TestNode(t *testing.T) {
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a"}},
		Spec: v1.NodeSpec{
			Unschedulable: true,
			Taints:        []v1.Taint{{Key: "k", Value: "v", Effect: v1.TaintEffectNoExecute, TimeAdded: &metav1.Time{}}},
		},
		Status: v1.NodeStatus{
			Capacity:    list("cpu", "9"),
			Allocatable: list("cpu", "3500m", "memory", "1Gi", "pods", "110", "ephemeral-storage", "1", "example.com/gpu", "4", "widgets", "1"),
			Images:      []v1.ContainerImage{{Names: []string{"app", "app@sha256:00"}, SizeBytes: 5}},
		},
	}
	want := &berth.Node{
		Name: "n", Labels: map[string]string{"zone": "a"}, Unschedulable: true,
		Taints: []berth.Taint{{Key: "k", Value: "v", Effect: berth.NoExecute}},
		Allocatable: berth.Resources{
			MilliCPU: 3500, Memory: 1024 * mi, EphemeralStorage: 1, Pods: 110, Scalar: map[string]int64{"example.com/gpu": 4},
		},
		Images: []berth.ContainerImage{{Names: []string{"app", "app@sha256:00"}, SizeBytes: 5}},
	}
	got, err := Node(n)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	there, err := ToNode(got)
	if err != nil {
		t.Fatal(err)
	}
	if back, _ := Node(there); !reflect.DeepEqual(back, got) {
		t.Errorf("got back %+v\nof       %+v", back, got)
	}
}

func TestNodeWithBadQuantityIsRefused(t *testing.T) {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: list("memory", "-1")}}
	got, err := Node(n)
	if got != nil {
		t.Errorf("got %+v beside the error", got)
	}
	checkError(t, err, berth.ErrInvalid, "node n", "status.allocatable[memory]")
}

func TestDevicesHaveNoFieldInKubernetes(t *testing.T) {
	n, err := ToNode(&berth.Node{Name: "n", GPUs: berth.GPUs{Count: 8}})
	if n == nil {
		t.Error("no node beside the error")
	}
	checkError(t, err, ErrUnsupported, "node n", "GPUs.Count")
	_, err = ToPod(&berth.Pod{Namespace: "ns", Name: "p", GPU: berth.GPURequest{Count: 1, Milli: 500}})
	checkError(t, err, ErrUnsupported, "pod ns/p", "GPU.Count")
}

func TestNilIsAnError(t *testing.T) {
	for name, f := range map[string]func() error{
		"Pod":    func() error { _, err := Pod(nil); return err },
		"ToPod":  func() error { _, err := ToPod(nil); return err },
		"Node":   func() error { _, err := Node(nil); return err },
		"ToNode": func() error { _, err := ToNode(nil); return err },
	} {
		if err := f(); !errors.Is(err, berth.ErrInvalid) {
			t.Errorf("%s(nil): %v", name, err)
		}
	}
}

func TestNamespace(t *testing.T) {
	want := &berth.Namespace{Name: "ns", Labels: map[string]string{"team": "a"}}
	if got := Namespace(ToNamespace(want)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPodDisruptionBudget(t *testing.T) {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
		Status: policyv1.PodDisruptionBudgetStatus{
			DisruptionsAllowed: 2, DisruptedPods: map[string]metav1.Time{"z": {}, "a": {}, "m": {}},
		},
	}
	want := &berth.PodDisruptionBudget{
		Namespace: "ns", Name: "b", DisruptionsAllowed: 2, DisruptedPods: []string{"a", "m", "z"},
		Selector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
	}
	got := PodDisruptionBudget(b)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if back := PodDisruptionBudget(ToPodDisruptionBudget(got)); !reflect.DeepEqual(back, want) {
		t.Errorf("got back %+v", back)
	}
}
