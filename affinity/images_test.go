package affinity

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
)

// A cluster sees new tags every day, for years.
func TestNamesOfImagesThatNobodyUsesAreForgotten(t *testing.T) {
	g, err := New(Config{MaxIdleClasses: 2, MaxPlans: 4, MaxColumnBytes: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.NewProfile(ProfileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	node := &berth.Node{Name: "n", Allocatable: berth.Resources{MilliCPU: 1000, Pods: 9}}
	if err := g.AddNode(node); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		tag := fmt.Sprint("app:v", i)
		next := *node
		next.Images = []berth.ContainerImage{{Names: []string{tag, tag, "mirror/" + tag}, SizeBytes: 1 << 30}}
		pod := &berth.Pod{Namespace: "a", Name: "p", Images: []string{tag, "init:" + tag[4:]}}
		if err := g.UpdateNode(&next); err != nil {
			t.Fatal(err)
		}
		c, ok, err := p.Best(pod)
		if err != nil || !ok || c.Scores[ScoreImageLocality] == 0 {
			t.Fatalf("%+v %v %v", c, ok, err)
		}
		if err := g.Bind(pod, "n"); err != nil {
			t.Fatal(err)
		}
		if err := g.Release(pod.Key()); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.images) > 30 {
		t.Errorf("%d names are kept", len(g.images))
	}
}
