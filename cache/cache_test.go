package cache_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/topology"
)

func newCache(t *testing.T) *cache.Cache {
	t.Helper()
	c, err := cache.New(cache.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func node(name string, cores int64) *berth.Node {
	return &berth.Node{
		Name: name, Labels: map[string]string{berth.LabelHostname: name},
		Allocatable: berth.Resources{MilliCPU: 1000 * cores, Memory: 8 << 30, Pods: 110},
	}
}

func pod(name, on string, milli int64) *berth.Pod {
	return &berth.Pod{Namespace: "default", Name: name, NodeName: on, Requests: berth.Resources{MilliCPU: milli}}
}

func key(name string) berth.PodKey { return berth.PodKey{Namespace: "default", Name: name} }

// do calls f with the graph of a new replica.
func do(c *cache.Cache, f func(g *affinity.Graph) error) error {
	r, err := c.NewReplica()
	if err != nil {
		return err
	}
	return f(r.Graph())
}

// must fails the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

// feasible returns where a pod fits, sorted.
func feasible(t *testing.T, c *cache.Cache, p *berth.Pod) []string {
	t.Helper()
	names := []string{}
	must(t, do(c, func(g *affinity.Graph) error {
		profile, err := g.NewProfile(affinity.ProfileConfig{})
		if err != nil {
			return err
		}
		return profile.Verdicts(p, func(n topology.NodeID, v affinity.Verdict) {
			if v.Rule == affinity.Feasible {
				names = append(names, g.Topology().Name(n))
			}
		})
	}))
	slices.Sort(names)
	return names
}

// used returns what the pods of a node request in CPU, and their number.
func used(t *testing.T, c *cache.Cache, name string) (milli, pods int64) {
	t.Helper()
	must(t, do(c, func(g *affinity.Graph) error {
		n, ok := g.Topology().Lookup(name)
		if !ok {
			return fmt.Errorf("node %s is not there", name)
		}
		_, milli = g.Amount(n, berth.ResourceCPU)
		_, pods = g.Amount(n, berth.ResourcePods)
		return nil
	}))
	return milli, pods
}

func wantUsed(t *testing.T, c *cache.Cache, name string, milli, pods int64) {
	t.Helper()
	if m, p := used(t, c, name); m != milli || p != pods {
		t.Errorf("%s: %dm in %d pods, want %dm in %d", name, m, p, milli, pods)
	}
}

func wantFeasible(t *testing.T, c *cache.Cache, p *berth.Pod, names ...string) {
	t.Helper()
	if got := feasible(t, c, p); !slices.Equal(got, names) {
		t.Errorf("%s fits on %v, want %v", p.Name, got, names)
	}
}

func nodeNames(s *cache.Snapshot) []string {
	var names []string
	for n := range s.Nodes() {
		names = append(names, n.Name)
	}
	return names
}

// A node object vanishes and comes back under the same name before its pods are gone (kubernetes#93938): in between it is
// gone from every decision, its pods are only remembered, and come back with it.
func TestANodeThatComesBackHasItsPodsAgain(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)), c.AddNode(node("n2", 2)), c.AddPod(pod("d1", "n1", 1000)), c.AddPod(pod("d2", "n1", 2000)))
	p, q := pod("p", "", 2000), pod("q", "", 5000)
	wantUsed(t, c, "n1", 3000, 2)

	must(t, c.RemoveNode("n1"), c.AddPod(pod("d3", "n1", 500)))
	if got := nodeNames(c.Publish()); !slices.Equal(got, []string{"n2"}) {
		t.Errorf("snapshot has %v", got)
	}
	wantFeasible(t, c, p, "n2")

	must(t, c.RemovePod(key("d1")), c.AddNode(node("n1", 8)))
	wantUsed(t, c, "n1", 2500, 2)
	wantFeasible(t, c, q, "n1")

	must(t, c.RemovePod(key("d2")), c.RemovePod(key("d3")))
	wantUsed(t, c, "n1", 0, 0)
	must(t, c.RemoveNode("n1"), c.AddNode(node("n1", 1)))
	wantFeasible(t, c, p, "n2")
}

// Two replicas that keep apart wait for one node, and the bind call is slow (kubernetes#138546): a pod counts from the
// moment a node is chosen for it, and the observed node wins over the assumed one.
func TestAnAssumedPodCountsAtOnce(t *testing.T) {
	replica := func(name string) *berth.Pod {
		p := pod(name, "", 2000)
		p.Labels = map[string]string{"app": "web"}
		p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
				TopologyKey: berth.LabelHostname, LabelSelector: &berth.LabelSelector{MatchLabels: p.Labels},
			}},
		}}
		return p
	}
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)), c.AddNode(node("n2", 1)), c.AddPod(pod("old", "n1", 4000)))
	r1, r2 := replica("r1"), replica("r2")
	wantFeasible(t, c, r1)
	must(t, c.RemovePod(key("old")))
	wantFeasible(t, c, r1, "n1")

	must(t, c.Assume(r1, "n1"))
	wantUsed(t, c, "n1", 2000, 1)
	wantFeasible(t, c, r2)
	must(t, c.Forget(r1.Key()))
	wantUsed(t, c, "n1", 0, 0)
	wantFeasible(t, c, r2, "n1")

	must(t, c.Assume(r2, "n1"))
	r2.NodeName = "n2" // another scheduler had bound it there
	must(t, c.AddPod(r2))
	wantUsed(t, c, "n1", 0, 0)
	wantUsed(t, c, "n2", 2000, 1)
	wantFeasible(t, c, pod("r3", "", 1000), "n1")
}

// contents writes down what a snapshot holds.
func contents(s *cache.Snapshot) string {
	var out string
	for n := range s.Nodes() {
		out += fmt.Sprintf("node %+v\n", *n)
	}
	for p := range s.Pods() {
		out += fmt.Sprintf("pod %v on %s: %+v %v\n", p.Key(), p.NodeName, p.Requests, p.GPU.Devices)
	}
	return out
}

func TestEventsThatContradictTheStateChangeNothing(t *testing.T) {
	gpus := func(name string, devices ...int) *berth.Pod {
		p := pod(name, "gpus", 0)
		p.GPU = berth.GPURequest{Count: len(devices), Milli: berth.GPUMilli, Devices: devices}
		return p
	}
	for _, tc := range []struct {
		name string
		want error
		call func(c *cache.Cache) error
	}{
		{"duplicate node", cache.ErrNodeExists, func(c *cache.Cache) error { return c.AddNode(node("n1", 1)) }},
		{"invalid node", berth.ErrInvalid, func(c *cache.Cache) error { return c.AddNode(node("", 1)) }},
		{"update of an unknown node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.UpdateNode(node("x", 1)) }},
		{"update of a hidden node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.UpdateNode(node("hidden", 1)) }},
		{"invalid update of a node", berth.ErrInvalid, func(c *cache.Cache) error { return c.UpdateNode(node("n1", -1)) }},
		{"removal of an unknown node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.RemoveNode("x") }},
		{"removal of a hidden node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.RemoveNode("hidden") }},
		{"a hidden node whose pods claim GPUs that it lacks", affinity.ErrDevices, func(c *cache.Cache) error { return c.AddNode(node("hidden", 1)) }},
		{"a node that loses GPUs in use", affinity.ErrDevices, func(c *cache.Cache) error { return c.UpdateNode(node("gpus", 1)) }},
		{"assumption on an unknown node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.Assume(pod("x", "", 1), "x") }},
		{"assumption on a hidden node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.Assume(pod("x", "", 1), "hidden") }},
		{"assumption of a known pod", cache.ErrPodExists, func(c *cache.Cache) error { return c.Assume(pod("a", "", 1), "n1") }},
		{"assumption of an invalid pod", berth.ErrInvalid, func(c *cache.Cache) error { return c.Assume(pod("x", "", -1), "n1") }},
		{"forgetting an unknown pod", cache.ErrUnknownPod, func(c *cache.Cache) error { return c.Forget(key("x")) }},
		{"forgetting an observed pod", cache.ErrNotAssumed, func(c *cache.Cache) error { return c.Forget(key("a")) }},
		{"pod without a node", cache.ErrNoNode, func(c *cache.Cache) error { return c.AddPod(pod("x", "", 1)) }},
		{"pod observed twice", cache.ErrPodExists, func(c *cache.Cache) error { return c.AddPod(pod("a", "n1", 1)) }},
		{"invalid pod on a hidden node", berth.ErrInvalid, func(c *cache.Cache) error { return c.AddPod(pod("x", "hidden", -1)) }},
		{"GPUs held by another", affinity.ErrDevices, func(c *cache.Cache) error { return c.AddPod(gpus("x", 0)) }},
		{"invalid confirmation", berth.ErrInvalid, func(c *cache.Cache) error { return c.AddPod(pod("assumed", "n1", -1)) }},
		{"update of an assumed pod", cache.ErrUnknownPod, func(c *cache.Cache) error { return c.UpdatePod(pod("assumed", "n1", 1)) }},
		{"update without a node", cache.ErrNoNode, func(c *cache.Cache) error { return c.UpdatePod(pod("a", "", 1)) }},
		{"invalid update of a pod", berth.ErrInvalid, func(c *cache.Cache) error { return c.UpdatePod(pod("a", "n1", -1)) }},
		{"update to GPUs held by another", affinity.ErrDevices, func(c *cache.Cache) error { return c.UpdatePod(gpus("g2", 0)) }},
		{"removal of an unknown pod", cache.ErrUnknownPod, func(c *cache.Cache) error { return c.RemovePod(key("x")) }},
		{"nomination for a hidden node", cache.ErrUnknownNode, func(c *cache.Cache) error { return c.Nominate(pod("x", "", 1), "hidden") }},
		{"nomination of a placed pod", cache.ErrPodExists, func(c *cache.Cache) error { return c.Nominate(pod("a", "", 1), "n1") }},
		{"nomination of a pod on a hidden node", cache.ErrPodExists, func(c *cache.Cache) error { return c.Nominate(pod("h", "", 1), "n1") }},
		{"nomination of an invalid pod", berth.ErrInvalid, func(c *cache.Cache) error { return c.Nominate(pod("x", "", -1), "n1") }},
		{"namespace without a name", berth.ErrInvalid, func(c *cache.Cache) error { return c.SetNamespace(&berth.Namespace{}) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCache(t)
			withGPUs := node("gpus", 4)
			withGPUs.GPUs = berth.GPUs{Model: "T4", Count: 2}
			hidden := gpus("h", 0)
			hidden.NodeName = "hidden"
			must(t, c.AddNode(node("n1", 4)), c.AddNode(withGPUs), c.AddPod(pod("a", "n1", 100)), c.AddPod(hidden),
				c.Assume(pod("assumed", "", 100), "n1"), c.AddPod(gpus("g1", 0)), c.AddPod(gpus("g2", 1)))
			before := contents(c.Publish())
			if err := tc.call(c); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if after := contents(c.Publish()); after != before {
				t.Errorf("the cache changed from\n%s\nto\n%s", before, after)
			}
			wantUsed(t, c, "n1", 200, 2)
			must(t, c.Forget(key("assumed"))) // still assumed, still there
		})
	}
}

func TestASnapshotStaysAsItWas(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)), c.AddPod(pod("a", "n1", 100)), c.SetNamespace(&berth.Namespace{Name: "default"}),
		c.Nominate(pod("p", "", 3000), "n1"))
	s := c.Publish()
	if s != c.Publish() {
		t.Error("nothing changed, but there is another snapshot")
	}
	before := contents(s)
	bigger := node("n1", 9)
	must(t, c.UpdateNode(bigger), c.AddNode(node("n2", 1)), c.RemovePod(key("a")), c.Assume(pod("b", "", 1), "n2"))
	c.Denominate(key("p"))
	if after := contents(s); after != before {
		t.Errorf("the snapshot changed from\n%s\nto\n%s", before, after)
	}
	if s.Version() >= c.Publish().Version() {
		t.Error("the version did not grow")
	}
	g, err := s.Graph()
	must(t, err)
	n, _ := g.Topology().Lookup("n1")
	if free := g.FreeMilliCPU(n); free != 3900 || g.Pods() != 1 {
		t.Errorf("the graph of the snapshot has %dm free and %d pods", free, g.Pods())
	}
	profile, err := g.NewProfile(affinity.ProfileConfig{})
	must(t, err)
	v, err := profile.Verdict(pod("q", "", 1000), "n1", nil)
	if err != nil || v.Rule != affinity.NodeResourcesFit {
		t.Errorf("the promise of room is lost: %v %v", v, err)
	}
	must(t, g.Release(key("a")))
	if after := contents(s); after != before {
		t.Error("a change of the graph changed its snapshot")
	}
}

// TestUseFromManyGoroutines lets each goroutine tell of nodes and pods of its own while others read; at the end all is there.
func TestUseFromManyGoroutines(t *testing.T) {
	c := newCache(t)
	const writers, nodes, pods = 4, 5, 60
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			r, err := c.NewReplica()
			if err != nil {
				t.Error(err)
			}
			for i := range pods {
				name := fmt.Sprintf("w%d-n%d", w, i%nodes)
				if i < nodes && c.AddNode(node(name, 64)) != nil {
					t.Error("can't add", name)
				}
				p := pod(fmt.Sprintf("w%d-p%d", w, i), name, 10)
				var err error
				if i%2 == 0 {
					_, err = r.Decide(p, func(*berth.Pod) (string, error) { return name, nil })
				} else if w, bad := r.Prepare(p); bad != nil {
					err = bad
				} else {
					err = decideOn(r, w, name)
				}
				if err == nil {
					err = c.AddPod(p)
				}
				if err == nil && i%3 == 0 {
					err = c.RemovePod(p.Key())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range pods {
				for p := range c.Publish().Pods() {
					_ = p.Key()
				}
			}
		})
	}
	all.Wait()
	total := 0
	for range c.Publish().Pods() {
		total++
	}
	if want := writers * (pods - pods/3); total != want {
		t.Errorf("%d pods, want %d", total, want)
	}
	for w := range writers {
		for i := range nodes {
			wantUsed(t, c, fmt.Sprintf("w%d-n%d", w, i), 10*pods/nodes*2/3, pods/nodes*2/3)
		}
	}
}
