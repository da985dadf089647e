package cache_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
)

// everyKind makes events of all kinds.
func everyKind(t *testing.T) *cache.Cache {
	c := newCache(t)
	must(t, c.AddPod(pod("early", "n1", 1)), c.AddNode(node("n1", 4)), c.UpdateNode(node("n1", 5)), c.AddNode(node("n2", 1)), c.RemoveNode("n2"),
		c.AssumeUntil(pod("a", "", 1), "n1", time.Unix(10, 0)), c.AddPod(pod("a", "n1", 2)), c.UpdatePod(pod("a", "n1", 3)), c.RemovePod(key("a")),
		c.Assume(pod("b", "", 1), "n1"), c.Forget(key("b")), c.AssumeUntil(pod("c", "", 1), "n1", time.Unix(10, 0)))
	c.Advance(time.Unix(9, 0))
	c.Advance(time.Unix(11, 0))
	must(t, c.Nominate(pod("d", "", 1), "n1"))
	c.Denominate(key("d"))
	must(t, c.SetNamespace(&berth.Namespace{Name: "default"}))
	c.RemoveNamespace("default")
	return c
}

func TestEveryChangeIsAnEventWithAVersion(t *testing.T) {
	c := everyKind(t)
	events, ok := c.EventsSince(0)
	if !ok || c.Version() != uint64(len(events)) {
		t.Fatalf("%d events, version %d", len(events), c.Version())
	}
	want := []string{
		"1 PodAdded default/early on n1", "2 NodeAdded n1", "3 NodeUpdated n1", "4 NodeAdded n2", "5 NodeRemoved n2", "6 PodAssumed default/a on n1",
		"7 PodConfirmed default/a on n1", "8 PodUpdated default/a on n1", "9 PodRemoved default/a", "10 PodAssumed default/b on n1",
		"11 PodForgotten default/b", "12 PodAssumed default/c on n1", "13 PodExpired default/c", "14 PodNominated default/d to n1",
		"15 PodDenominated default/d", "16 NamespaceSet default", "17 NamespaceRemoved default",
	}
	for i := range events {
		if got := events[i].String(); got != want[i] {
			t.Errorf("event %d is %q, want %q", i, got, want[i])
		}
	}
	must(t, replays(events, c))
	if later, ok := c.EventsSince(12); !ok || len(later) != 5 || later[0].Version != 13 {
		t.Errorf("after 12 come %v", later)
	}
	if _, ok := c.EventsSince(18); ok {
		t.Error("events of the future")
	}
}

func TestCallsThatChangeNothingAreNoEvents(t *testing.T) {
	c := everyKind(t)
	before := c.Version()
	c.Denominate(key("d"))
	c.RemoveNamespace("default")
	c.Advance(time.Unix(99, 0))
	if c.Version() != before {
		t.Errorf("version %d, was %d", c.Version(), before)
	}
}

func TestWhoIsTooFarBehindStartsFromTheWholeState(t *testing.T) {
	c, err := cache.New(cache.Config{History: 2})
	must(t, err, c.AddNode(node("n1", 4)), c.SetNamespace(&berth.Namespace{Name: "default"}))
	r, err := c.NewReplica()
	must(t, err, c.AddPod(pod("hidden", "n9", 1)), c.Nominate(pod("w", "", 1), "n1"))
	for i := range 10 {
		must(t, c.AddPod(pod(fmt.Sprint("p", i), "n1", 100)))
	}
	c.RemoveNamespace("default")
	if _, ok := c.EventsSince(r.Version()); ok {
		t.Error("a history of 2 kept 12 events")
	}
	must(t, r.Sync())
	if r.Graph().Pods() != 10 || r.Version() != c.Version() {
		t.Errorf("%d pods at version %d", r.Graph().Pods(), r.Version())
	}
	must(t, c.AddNode(node("n9", 1)), r.Sync())
	if n, ok := r.Graph().NodeOf(key("hidden")); !ok || n != "n9" {
		t.Errorf("a hidden pod is on %q when its node appears", n)
	}
	if s := c.Publish(); s.Version() != c.Version() || c.Snapshot() != s {
		t.Errorf("snapshot of version %d", s.Version())
	}
}

func TestEventsThatMakeNoSenseChangeNothing(t *testing.T) {
	unnamed := pod("x", "", 1)
	for _, tc := range []struct {
		name  string
		event cache.Event
		want  error
	}{
		{"a gap", cache.Event{Version: 19, Kind: cache.NodeRemoved, Name: "n1"}, cache.ErrVersion},
		{"again", cache.Event{Version: 17, Kind: cache.NodeRemoved, Name: "n1"}, cache.ErrVersion},
		{"no kind", cache.Event{Version: 18}, cache.ErrEvent},
		{"unknown kind", cache.Event{Version: 18, Kind: 99}, cache.ErrEvent},
		{"node event without a node", cache.Event{Version: 18, Kind: cache.NodeAdded}, cache.ErrEvent},
		{"pod event without a pod", cache.Event{Version: 18, Kind: cache.PodUpdated}, cache.ErrEvent},
		{"namespace event without one", cache.Event{Version: 18, Kind: cache.NamespaceSet}, cache.ErrEvent},
		{"a confirmation of what was not assumed", cache.Event{Version: 18, Kind: cache.PodConfirmed, Pod: pod("early", "n1", 1)}, cache.ErrNotAssumed},
		{"an update without a node", cache.Event{Version: 18, Kind: cache.PodUpdated, Pod: unnamed}, cache.ErrNoNode},
		{"an expiry of what was not assumed", cache.Event{Version: 18, Kind: cache.PodExpired, Key: key("early")}, cache.ErrNotAssumed},
		{"the end of a promise that is none", cache.Event{Version: 18, Kind: cache.PodDenominated, Key: key("d")}, cache.ErrEvent},
		{"a namespace that is not known", cache.Event{Version: 18, Kind: cache.NamespaceRemoved, Name: "x"}, cache.ErrEvent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := everyKind(t)
			if err := c.Apply(&tc.event); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if c.Version() != 17 {
				t.Errorf("version %d", c.Version())
			}
		})
	}
}

func TestConfigOutOfRangeIsRefused(t *testing.T) {
	for _, cfg := range []cache.Config{{MaxShards: -1}, {MaxShards: 5000}, {History: -1}, {History: 1<<24 + 1}} {
		if _, err := cache.New(cfg); !errors.Is(err, cache.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestReads(t *testing.T) {
	c, err := cache.New(cache.Config{ProfilerLabels: true, MaxShards: 1})
	must(t, err)
	n := node("n1", 4)
	n.Labels[berth.LabelZone] = "a"
	p := pod("a", "n1", 100)
	p.Requests.EphemeralStorage = 5
	must(t, c.AddNode(n), c.AddPod(p), c.AddPod(pod("h", "n2", 1)))
	m, ok := c.Metrics("n1")
	if !ok || m.MilliCPU() != 100 || m.EphemeralStorage() != 5 || m.Pods() != 1 {
		t.Errorf("metrics %v: %d %d", ok, m.MilliCPU(), m.EphemeralStorage())
	}
	s := c.Publish()
	if got, ok := c.Node("n1"); !ok || got != n {
		t.Errorf("node %v", got)
	}
	if got, ok := s.Node("n1"); !ok || got != n {
		t.Errorf("node %v of the snapshot", got)
	}
	if _, ok := c.Node("n2"); ok {
		t.Error("a node that is not known")
	}
	if got, ok := c.Pod(key("h")); !ok || !got.Hidden {
		t.Errorf("hidden pod %+v", got)
	}
	if got, ok := s.Pod(key("a")); !ok || got.Spec != p || got.Hidden {
		t.Errorf("pod %+v of the snapshot", got)
	}
	if _, ok := s.Pod(key("x")); ok {
		t.Error("a pod that is not there")
	}
	moved := node("n1", 4)
	moved.Labels[berth.LabelZone] = "b" // there is no other shard
	must(t, c.UpdateNode(moved), c.RemovePod(key("a")))
	if m.Pods() != 0 {
		t.Errorf("%d pods", m.Pods())
	}
}
