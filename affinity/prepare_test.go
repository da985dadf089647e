package affinity_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// smallWorld is a graph with two nodes, of which one is labelled, and a profile of it.
func smallWorld(t *testing.T, cfg affinity.Config) (*affinity.Graph, *affinity.Profile) {
	t.Helper()
	g, err := affinity.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, labels := range []map[string]string{{"disk": "ssd"}, nil} {
		n := berth.Node{Name: fmt.Sprint("n", i), Labels: labels, Allocatable: berth.Resources{MilliCPU: 1000, Memory: 1 << 30, Pods: 10}}
		if err := g.AddNode(&n); err != nil {
			t.Fatal(err)
		}
	}
	p, err := g.NewProfile(affinity.ProfileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

func onSSD(name string) *berth.Pod {
	return &berth.Pod{Namespace: "shop", Name: name, NodeSelector: map[string]string{"disk": "ssd"}, Requests: berth.Resources{MilliCPU: 100}}
}

func TestAPreparedPodOutlivesItsClass(t *testing.T) {
	g, p := smallWorld(t, affinity.Config{MaxIdleClasses: 1})
	w, err := g.Prepare(onSSD("p"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // other classes, which take the place of the one that nobody uses
		if _, err := g.Prepare(&berth.Pod{Namespace: "shop", Name: "q", Priority: int32(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if choice, ok, err := p.BestPrepared(w); !ok || err != nil || g.Topology().Name(choice.Node) != "n0" {
		t.Errorf("chose %+v, %v, %v", choice, ok, err)
	}
	if err := g.BindPrepared(w, "n0"); err != nil {
		t.Error(err)
	}
	if on, _ := g.NodeOf(w.Pod().Key()); on != "n0" {
		t.Errorf("pod is on %q", on)
	}
}

func TestAPodPreparedForOneGraphIsAtHomeInAnother(t *testing.T) {
	one, q := smallWorld(t, affinity.Config{})
	other, p := smallWorld(t, affinity.Config{})
	if err := other.Bind(&berth.Pod{Namespace: "bank", Name: "first"}, "n1"); err != nil { // ids differ
		t.Fatal(err)
	}
	w, err := one.Prepare(onSSD("p"))
	if err != nil {
		t.Fatal(err)
	}
	if choice, ok, err := p.BestPrepared(w); !ok || err != nil || other.Topology().Name(choice.Node) != "n0" {
		t.Errorf("chose %+v, %v, %v", choice, ok, err)
	}
	for range 2 { // there and back again
		for _, g := range []*affinity.Graph{one, other} {
			if err := g.BindPrepared(w, "n0"); err != nil {
				t.Fatal(err)
			}
			if err := g.BindPrepared(w, "n0"); !errors.Is(err, affinity.ErrPodExists) {
				t.Errorf("bound twice: %v", err)
			}
			if err := g.Release(w.Pod().Key()); err != nil {
				t.Fatal(err)
			}
			if err := g.CheckInvariants(map[*affinity.Graph]*affinity.Profile{one: q, other: p}[g]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPrepareRefusesABadSpec(t *testing.T) {
	g, _ := smallWorld(t, affinity.Config{})
	var fault *berth.Fault
	if _, err := g.Prepare(&berth.Pod{Namespace: "shop"}); !errors.As(err, &fault) {
		t.Errorf("a pod without a name: %v", err)
	}
	w, err := g.Prepare(onSSD("p"))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.BindPrepared(w, "nowhere"); !errors.Is(err, affinity.ErrUnknownNode) {
		t.Errorf("an unknown node: %v", err)
	}
}
