package cache_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

var steps = flag.Int("berth.steps", 1, "how many times longer the random tests run")

// model is the obvious cache: it finds out everything by looking through its maps.
type model struct {
	nodes     map[string]int64 // allocatable CPU
	pods      map[string]placed
	nominated map[string]string // node by pod
}

type placed struct {
	node    string
	milli   int64
	assumed bool
}

// used returns what the pods of a node request.
func (m *model) used(node string) (milli, pods int64) {
	for _, p := range m.pods {
		if p.node == node {
			milli += p.milli
			pods++
		}
	}
	return milli, pods
}

// event is a random event and what the model makes of it.
func (m *model) event(rng *rand.Rand, c *cache.Cache) (what string, got, want error) {
	on, name := fmt.Sprint("n", rng.IntN(4)), fmt.Sprint("p", rng.IntN(12))
	_, known := m.nodes[on]
	p, exists := m.pods[name]
	milli := int64(rng.IntN(500))
	cores := int64(1 + rng.IntN(8))
	expect := func(fails ...error) error {
		for _, err := range fails {
			if err != nil {
				return err
			}
		}
		return nil
	}
	when := func(cond bool, err error) error {
		if cond {
			return err
		}
		return nil
	}
	place := func(assumed bool) {
		m.pods[name] = placed{on, milli, assumed}
		delete(m.nominated, name)
	}
	switch rng.IntN(11) {
	case 0:
		if want = when(known, cache.ErrNodeExists); want == nil {
			m.nodes[on] = 1000 * cores
		}
		return "add " + on, c.AddNode(node(on, cores)), want
	case 1:
		if want = when(!known, cache.ErrUnknownNode); want == nil {
			m.nodes[on] = 1000 * cores
		}
		return "update " + on, c.UpdateNode(node(on, cores)), want
	case 2:
		if want = when(!known, cache.ErrUnknownNode); want == nil {
			delete(m.nodes, on)
			maps.DeleteFunc(m.nominated, func(_, node string) bool { return node == on })
		}
		return "remove " + on, c.RemoveNode(on), want
	case 3, 4:
		if want = expect(when(!known, cache.ErrUnknownNode), when(exists, cache.ErrPodExists)); want == nil {
			place(true)
		}
		return "assume " + name, c.Assume(pod(name, "", milli), on), want
	case 5:
		if want = expect(when(!exists, cache.ErrUnknownPod), when(!p.assumed, cache.ErrNotAssumed)); want == nil {
			delete(m.pods, name)
		}
		return "forget " + name, c.Forget(key(name)), want
	case 6, 7:
		if want = when(exists && !p.assumed, cache.ErrPodExists); want == nil {
			place(false)
		}
		return "add " + name, c.AddPod(pod(name, on, milli)), want
	case 8:
		if want = when(!exists || p.assumed, cache.ErrUnknownPod); want == nil {
			place(false)
		}
		return "update " + name, c.UpdatePod(pod(name, on, milli)), want
	case 9:
		if want = expect(when(!known, cache.ErrUnknownNode), when(exists, cache.ErrPodExists)); want == nil {
			m.nominated[name] = on
		}
		return "nominate " + name, c.Nominate(pod(name, "", 100), on), want
	}
	if want = when(!exists, cache.ErrUnknownPod); want == nil {
		delete(m.pods, name)
	}
	return "remove " + name, c.RemovePod(key(name)), want
}

// check compares the snapshot, the graph under it and the live graph with the model.
func (m *model) check(c *cache.Cache) error {
	s := c.Publish()
	if got, want := nodeNames(s), slices.Sorted(maps.Keys(m.nodes)); !slices.Equal(got, want) {
		return fmt.Errorf("nodes %v, want %v", got, want)
	}
	shown := 0
	for p := range s.Pods() {
		shown++
		if o, ok := m.pods[p.Name]; !ok || o.node != p.NodeName || o.milli != p.Requests.MilliCPU {
			return fmt.Errorf("pod %s is on %s with %dm, want %+v", p.Name, p.NodeName, p.Requests.MilliCPU, o)
		}
	}
	for _, p := range m.pods {
		if _, ok := m.nodes[p.node]; ok {
			shown--
		}
	}
	if shown != 0 {
		return fmt.Errorf("%d pods more than there should be", shown)
	}
	own, err := s.Graph()
	if err != nil {
		return err
	}
	if err := m.checkGraph(own); err != nil {
		return fmt.Errorf("graph of the snapshot: %w", err)
	}
	return do(c, m.checkGraph)
}

func (m *model) checkGraph(g *affinity.Graph) error {
	promised := make(map[string]int64)
	for _, node := range m.nominated {
		promised[node] += 100
	}
	profile, err := g.NewProfile(affinity.ProfileConfig{NoScores: true})
	if err != nil {
		return err
	}
	for name, alloc := range m.nodes {
		n, ok := g.Topology().Lookup(name)
		if !ok {
			return fmt.Errorf("no node %s", name)
		}
		milli, pods := m.used(name)
		haveAlloc, haveMilli := g.Amount(n, berth.ResourceCPU)
		_, havePods := g.Amount(n, berth.ResourcePods)
		if haveAlloc != alloc || haveMilli != milli || havePods != pods {
			return fmt.Errorf("%s has %dm, %dm in use by %d pods; want %dm, %dm, %d", name, haveAlloc, haveMilli, havePods, alloc, milli, pods)
		}
		for _, over := range []int64{0, 1} { // what is left fits, one more does not
			probe := pod("probe", "", max(alloc-milli-promised[name]+over, 1))
			v, err := profile.Verdict(probe, name, nil)
			if fits := probe.Requests.MilliCPU <= alloc-milli-promised[name]; err != nil || fits != (v.Rule == affinity.Feasible) {
				return fmt.Errorf("%dm on %s: %v %v, want it to fit: %v", probe.Requests.MilliCPU, name, v, err, fits)
			}
		}
	}
	return nil
}

// TestEventsInAnyOrder sends random events, most of which make sense, and compares with the model after each.
func TestEventsInAnyOrder(t *testing.T) {
	for seed := range uint64(20 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := newCache(t)
		m := &model{nodes: make(map[string]int64), pods: make(map[string]placed), nominated: make(map[string]string)}
		for i := range 150 {
			what, got, want := m.event(rng, c)
			if !errors.Is(got, want) || want == nil && got != nil {
				t.Fatalf("seed %d, event %d, %s: %v, want %v", seed, i, what, got, want)
			}
			if err := m.check(c); err != nil {
				t.Fatalf("seed %d, event %d, %s: %v", seed, i, what, err)
			}
		}
	}
}
