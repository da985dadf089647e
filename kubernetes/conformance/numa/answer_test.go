package numa

import (
	"reflect"
	"testing"
)

func TestAnswerSpeaksTheCasesTerms(t *testing.T) {
	pinned := Machine{Nodes: []Node{{ID: 0, CPUs: 32, Free: 5}, {ID: 1, CPUs: 32, Reserved: 1, Free: 31}}}
	twoStep := Pod{
		Name:           "two-step",
		InitContainers: []Container{{Name: "init", MilliCPU: 1000, Memory: 1024}},
		Apps:           []Container{{Name: "main", MilliCPU: 26_000, Memory: 32_768}},
	}
	remote := Machine{Nodes: []Node{
		{ID: 0, CPUs: 40, Reserved: 2, Free: 6, Devices: map[string]Count{"example.com/nic": {2, 1}}},
		{ID: 1, CPUs: 40, Reserved: 2, Free: 38},
	}}
	nics := Pod{Name: "two-nics", Apps: []Container{{Name: "main", Devices: []DeviceCount{{"example.com/nic", 2}}}}}
	fraction := Pod{Name: "fraction", Apps: []Container{{Name: "main", MilliCPU: 3500, Memory: 1024}}}
	for _, c := range []struct {
		name          string
		m             Machine
		pod           Pod
		policy, scope string
		want          Outcome
	}{
		{"container scope", pinned, twoStep, "single-numa-node", "container", Outcome{false, map[string]Result{
			"init": {[]int{0}, true, map[int]int{0: 1}}, "main": {[]int{}, false, map[int]int{}}}}},
		{"pod scope", pinned, twoStep, "single-numa-node", "pod", Outcome{true, map[string]Result{
			"init": {[]int{1}, true, map[int]int{1: 1}}, "main": {[]int{1}, true, map[int]int{1: 26}}}}},
		{"devices that lack", remote, nics, "best-effort", "container", Outcome{true, map[string]Result{
			"main": {[]int{0, 1}, false, map[int]int{}}}}},
		{"part of a CPU", remote, fraction, "single-numa-node", "container", Outcome{true, map[string]Result{
			"main": {[]int{}, true, map[int]int{}}}}},
	} {
		got, err := Answer(c.m, c.pod, c.policy, c.scope)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v %v, want %+v", c.name, got, err, c.want)
		}
	}
	if _, err := Answer(pinned, twoStep, "loose", "pod"); err == nil {
		t.Error("no error for an unknown policy")
	}
}
