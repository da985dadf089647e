package affinity_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

func TestAPlacedPodIsReadBackAsItWasBound(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		t.Fatal(err)
	}
	n := &berth.Node{Name: "n", GPUs: berth.GPUs{Model: "T4", Count: 4}, Allocatable: berth.Resources{Pods: 10}}
	if err := g.AddNode(n); err != nil {
		t.Fatal(err)
	}
	named := berth.Pod{
		Namespace: "a", Name: "b", Labels: map[string]string{"k": "v"}, Requests: berth.Resources{MilliCPU: 5}, Priority: 3,
		GPU: berth.GPURequest{Count: 2, Milli: berth.GPUMilli, Devices: []int{1, 3}}, StartTime: time.Unix(7, 9),
	}
	unnamed := named // of the same class
	unnamed.Name, unnamed.StartTime, unnamed.GPU.Devices = "c", time.Time{}, nil
	for _, p := range []*berth.Pod{&named, &unnamed} {
		if err := g.Bind(p, "n"); err != nil {
			t.Fatal(err)
		}
	}
	unnamed.GPU.Devices = []int{0, 2}
	for _, want := range []*berth.Pod{&named, &unnamed} {
		want.NodeName = "n"
		if got, ok := g.Pod(want.Key()); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if got, ok := g.Pod(berth.PodKey{Namespace: "a", Name: "x"}); ok {
		t.Errorf("a pod that is not there: %+v", got)
	}
}
