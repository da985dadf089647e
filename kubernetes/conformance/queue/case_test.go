package queue

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

func open(t *testing.T) map[string]Queue {
	t.Helper()
	kube, err := NewKube()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kube.Close)
	berth, err := NewBerth()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Queue{"kube": kube, "berth": berth}
}

// TestFailedPodGoesBehindItsEquals is the question of kubernetes#83834, asked of both.
func TestFailedPodGoesBehindItsEquals(t *testing.T) {
	popped := func(name string) Step { return Step{Pop: &name} }
	gone := pod("gone", 0, 1, false)
	gone.Spec.NodeName = "n1"
	a, b, c, top := pod("a", 0, 1, false), pod("b", 0, 1, false), pod("c", 0, 1, false), pod("top", 100, 1, false)
	steps := []Step{
		{Add: a}, {Add: b}, {Add: top},
		popped("top"), {Fail: &Failure{Pod: "top", Plugins: []string{"NodeResourcesFit"}}},
		popped("a"), {Add: c}, {Fail: &Failure{Pod: "a", Plugins: []string{"NodeResourcesFit"}}},
		{Event: &Event{OldPod: gone}}, {Advance: 3 * time.Second},
		popped("top"), popped("b"), popped("c"), popped("a"), popped(""),
	}
	checks := []Check{
		{After: 5, Active: []string{"a", "b"}, Backoff: []string{}, Unschedulable: []string{"top"}},
		{After: 9, Active: []string{"b", "c"}, Backoff: []string{"a", "top"}, Unschedulable: []string{}},
		{After: 10, Active: []string{"a", "b", "c", "top"}},
	}
	for name, q := range open(t) {
		for _, failure := range RunCase(q, steps, checks) {
			t.Errorf("%s: %s", name, failure)
		}
	}
}

// TestCaseThatFailsSaysWhere: the runner can fail.
func TestCaseThatFailsSaysWhere(t *testing.T) {
	wrong := "b"
	steps := []Step{{Add: pod("a", 0, 1, false)}, {Pop: &wrong}}
	for name, q := range open(t) {
		failures := RunCase(q, steps, []Check{{After: 1, Active: []string{}}, {After: 1, Backoff: []string{"a"}}})
		if len(failures) != 3 {
			t.Errorf("%s: expected three failures, got %q", name, failures)
		}
		for _, step := range []Step{{}, {Fail: &Failure{Pod: "absent", Plugins: []string{"NodePorts"}}}} {
			if err := step.run(q); err == nil {
				t.Errorf("%s: %+v is accepted", name, step)
			}
		}
	}
}

// TestWakeUpsThatKubeSchedulerLoses are the cases in which a pod waits in v1.37.2 for the sweep, and not here.
func TestWakeUpsThatKubeSchedulerLoses(t *testing.T) {
	peer := pod("peer", 0, 1, false)
	peer.Spec.NodeName = "n1"
	waiting := pod("waiting", 0, 1, false)
	waiting.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term("1")}}}
	popped := "waiting"
	steps := []Step{
		{Add: waiting}, {Pop: &popped}, {Fail: &Failure{Pod: "waiting", Plugins: []string{"InterPodAffinity"}}},
		{Event: &Event{OldPod: peer}}, // kubernetes#141354: the last peer of a pod with affinity to itself
	}
	want := map[string]Check{
		"kube":  {After: 4, Backoff: []string{}, Unschedulable: []string{"waiting"}},
		"berth": {After: 4, Backoff: []string{"waiting"}, Unschedulable: []string{}},
	}
	for name, q := range open(t) {
		for _, failure := range RunCase(q, steps, []Check{want[name]}) {
			t.Errorf("%s: %s", name, failure)
		}
	}
}
