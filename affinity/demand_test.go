package affinity

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
)

// zonedNodes adds nodes from..to, round robin in so many zones.
func zonedNodes(t *testing.T, g *Graph, from, to, zones int) {
	t.Helper()
	for i := from; i < to; i++ {
		name := fmt.Sprint("node-", i)
		err := g.AddNode(&berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 1000, Memory: 1 << 30, Pods: 10},
			Labels: map[string]string{berth.LabelHostname: name, berth.LabelZone: fmt.Sprint("zone-", i%zones)}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// columnsOf decides on a pod that keeps apart by the given keys, and returns the columns that it was decided by.
func columnsOf(t *testing.T, p *Profile, name string, keys ...string) *columns {
	t.Helper()
	pod := &berth.Pod{Namespace: "shop", Name: name, Labels: map[string]string{"app": name}, Affinity: &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{}}}
	for _, key := range keys {
		pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			berth.PodAffinityTerm{TopologyKey: key, LabelSelector: &berth.LabelSelector{MatchLabels: pod.Labels}})
	}
	if _, ok, err := p.Best(pod); err != nil || !ok {
		t.Fatal(name, ok, err)
	}
	if err := p.g.CheckInvariants(p); err != nil {
		t.Fatal(err)
	}
	return p.eval.c
}

func newProfile(t *testing.T) (*Graph, *Profile) {
	t.Helper()
	g, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.NewProfile(ProfileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

func TestPlansOfOneDemandShareColumnsWhateverKeysTheyFollow(t *testing.T) {
	g, p := newProfile(t)
	zonedNodes(t, g, 0, 100, 3)
	columnsOf(t, p, "plain")
	columnsOf(t, p, "zone", berth.LabelZone)
	both := columnsOf(t, p, "both", berth.LabelHostname, berth.LabelZone)
	for name, keys := range map[string][]string{"plain": nil, "zone": {berth.LabelZone}, "host": {berth.LabelHostname}} {
		if columnsOf(t, p, name, keys...) != both {
			t.Errorf("%s has other columns", name)
		}
	}
	if len(both.active) != 3 {
		t.Errorf("%d groups", len(both.active))
	}
}

func TestAKeyOfManyDomainsIsNotForcedOnOthers(t *testing.T) {
	g, p := newProfile(t)
	zonedNodes(t, g, 0, 100, 10)
	plain, zone := columnsOf(t, p, "plain"), columnsOf(t, p, "zone", berth.LabelZone)
	if plain == zone || columnsOf(t, p, "plain") != plain || len(plain.active) != 1 {
		t.Errorf("a pod without rules looks at %d groups", len(plain.active))
	}
}

// TestAKeyThatCameToHaveManyDomainsIsNotForcedOnNewPlans: it had few when it was shared.
func TestAKeyThatCameToHaveManyDomainsIsNotForcedOnNewPlans(t *testing.T) {
	g, p := newProfile(t)
	zonedNodes(t, g, 0, 100, 3)
	columnsOf(t, p, "zone", berth.LabelZone)
	zonedNodes(t, g, 100, 200, 40)
	if c := columnsOf(t, p, "plain"); len(c.active) != 1 {
		t.Errorf("a pod without rules looks at %d groups", len(c.active))
	}
}

func TestABindingBringsTheColumnsThatLedToItUpToDate(t *testing.T) {
	for _, led := range []bool{true, false} {
		g, p := newProfile(t)
		zonedNodes(t, g, 0, 100, 3)
		c := columnsOf(t, p, "plain")
		on := g.chosen
		if !led {
			on = (on + 1) % 100
		}
		pod := &berth.Pod{Namespace: "shop", Name: "pod", Requests: berth.Resources{MilliCPU: 100}}
		if err := g.Bind(pod, g.x.Name(on)); err != nil {
			t.Fatal(err)
		}
		if upToDate := c.seen == g.log.end(); upToDate != led {
			t.Errorf("led to the binding: %v, up to date: %v", led, upToDate)
		}
		if err := g.CheckInvariants(p); err != nil {
			t.Fatal(err)
		}
	}
}
