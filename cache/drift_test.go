package cache_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
)

func driftNode(name string, change func(*berth.Node)) *berth.Node {
	n := &berth.Node{Name: name, Allocatable: berth.Resources{MilliCPU: 4000, Pods: 10}, GPUs: berth.GPUs{Count: 2}}
	if change != nil {
		change(n)
	}
	return n
}

func driftPod(name, node string, change func(*berth.Pod)) *berth.Pod {
	p := &berth.Pod{Namespace: "default", Name: name, NodeName: node, Requests: berth.Resources{MilliCPU: 100}}
	if change != nil {
		change(p)
	}
	return p
}

func gpus(devices ...int) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.GPU = berth.GPURequest{Count: len(devices), Milli: berth.GPUMilli, Devices: devices}
	}
}

// driftState has a namespace, a node and three pods, one of which is assumed until second 100.
func driftState(t *testing.T) (*cache.Cache, cache.Observed) {
	t.Helper()
	c, err := cache.New(cache.Config{})
	require.NoError(t, err)
	list := cache.Observed{
		Namespaces: []*berth.Namespace{{Name: "default"}},
		Nodes:      []*berth.Node{driftNode("n1", nil)},
		Pods:       []*berth.Pod{driftPod("a", "n1", gpus(0)), driftPod("b", "n1", gpus(1))},
	}
	require.NoError(t, c.SetNamespace(list.Namespaces[0]))
	require.NoError(t, c.AddNode(list.Nodes[0]))
	for _, p := range list.Pods {
		require.NoError(t, c.AddPod(p))
	}
	require.NoError(t, c.AssumeUntil(driftPod("c", "", nil), "n1", time.Unix(100, 0)))
	return c, list
}

func TestDrift(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cache.Observed)
		config cache.DriftConfig
		want   []string
		// did is what Repair does about each of want; nil if it brings the state in line.
		did []cache.RepairAction
	}{
		{name: "nothing", change: func(*cache.Observed) {}},
		{
			name: "missing objects, by name whatever the order of the list",
			change: func(o *cache.Observed) {
				o.Namespaces = append(o.Namespaces, &berth.Namespace{Name: "web"}, &berth.Namespace{Name: "db"})
				o.Nodes = append([]*berth.Node{driftNode("n3", nil), driftNode("n2", nil)}, o.Nodes...)
				o.Pods = append(o.Pods, driftPod("z", "n2", nil), driftPod("y", "unknown", nil))
			},
			want: []string{
				"namespace db: missing", "namespace web: missing", "node n2: missing", "node n3: missing",
				"pod default/y on unknown: missing", "pod default/z on n2: missing",
			},
			did: []cache.RepairAction{cache.Added, cache.Added, cache.Added, cache.Added, cache.Added, cache.Added},
		},
		{
			name:   "extra objects",
			change: func(o *cache.Observed) { *o = cache.Observed{} },
			want:   []string{"namespace default: extra", "node n1: extra", "pod default/a on n1: extra", "pod default/b on n1: extra"},
			did:    []cache.RepairAction{cache.Removed, cache.Removed, cache.Removed, cache.Removed},
		},
		{
			name: "older specs, and which fields",
			change: func(o *cache.Observed) {
				o.Namespaces[0] = &berth.Namespace{Name: "default", Labels: map[string]string{"a": "b"}}
				o.Nodes[0] = driftNode("n1", func(n *berth.Node) { n.Unschedulable, n.Labels = true, map[string]string{"a": "b"} })
				o.Pods[0] = driftPod("a", "n1", func(p *berth.Pod) { gpus(0)(p); p.Terminating = true })
			},
			want: []string{
				"namespace default: stale, differs in labels", "node n1: stale, differs in labels, unschedulable",
				"pod default/a on n1: stale, differs in terminating",
			},
			did: []cache.RepairAction{cache.Updated, cache.Updated, cache.Updated},
		},
		{
			name: "resources, and which amounts",
			change: func(o *cache.Observed) {
				o.Nodes[0] = driftNode("n1", func(n *berth.Node) {
					n.Allocatable.MilliCPU, n.GPUs.Count, n.Unschedulable = 8000, 4, true
					n.Allocatable.Scalar = map[string]int64{"x/y": 1, "x/a": 2}
				})
				o.Pods[0] = driftPod("a", "n1", func(p *berth.Pod) { p.Requests.Memory = 1 << 20 })
			},
			want: []string{
				"node n1: resource mismatch, differs in unschedulable, allocatable, gpus; cpu is 8000, not 4000; x/a is 2, not 0; x/y is 1, not 0; gpus is 4, not 2",
				"pod default/a on n1: resource mismatch, differs in requests, gpu; memory is 1048576, not 0; gpu is 0, not 1000",
			},
			did: []cache.RepairAction{cache.Updated, cache.Updated},
		},
		{
			name:   "a pod on another node",
			change: func(o *cache.Observed) { o.Pods[0] = driftPod("a", "n2", gpus(0)) },
			want:   []string{"pod default/a on n2: stale, differs in nodeName"},
			did:    []cache.RepairAction{cache.Updated},
		},
		{
			name: "an assumed pod that was bound elsewhere, or here",
			change: func(o *cache.Observed) {
				o.Pods = append(o.Pods, driftPod("c", "n2", nil))
			},
			want: []string{"pod default/c on n2: stale, assumed, differs in nodeName, assumed"},
			did:  []cache.RepairAction{cache.Confirmed},
		},
		{
			name:   "pods that are not placed are none",
			change: func(o *cache.Observed) { o.Pods = append(o.Pods, driftPod("d", "", nil), driftPod("b", "", gpus(1))) },
			want:   []string{"pod default/b on n1: extra"},
			did:    []cache.RepairAction{cache.Removed},
		},
		{
			name:   "an assumed pod before its deadline",
			change: func(o *cache.Observed) { o.StateTime = time.Unix(99, 0) },
		},
		{
			name:   "an assumed pod at its deadline",
			change: func(o *cache.Observed) { o.StateTime = time.Unix(100, 0) },
			want:   []string{"pod default/c on n1: extra, assumed"},
			did:    []cache.RepairAction{cache.Forgotten},
		},
		{
			name:   "an assumed pod as old as is allowed",
			change: func(o *cache.Observed) { o.StateTime = time.Unix(60, 0) },
			config: cache.DriftConfig{MaxAssumed: time.Minute, AssumedAt: func(berth.PodKey) time.Time { return time.Unix(0, 0) }},
		},
		{
			name:   "an assumed pod that is too old",
			change: func(o *cache.Observed) { o.StateTime = time.Unix(60, 1) },
			config: cache.DriftConfig{MaxAssumed: time.Minute, AssumedAt: func(berth.PodKey) time.Time { return time.Unix(0, 0) }},
			want:   []string{"pod default/c on n1: extra, assumed"},
			did:    []cache.RepairAction{cache.Forgotten},
		},
		{
			name: "GPUs that the list does not name",
			change: func(o *cache.Observed) {
				o.Pods[0] = driftPod("a", "n1", func(p *berth.Pod) { gpus(0)(p); p.GPU.Devices = nil })
			},
		},
		{
			name: "a pod that names its GPU comes before one that takes any",
			change: func(o *cache.Observed) {
				o.Pods = []*berth.Pod{
					driftPod("a", "n1", nil), driftPod("b", "n2", gpus(1)),
					driftPod("d", "n1", func(p *berth.Pod) { gpus(0)(p); p.GPU.Devices = nil }), driftPod("f", "n1", gpus(0)),
				}
			},
			want: []string{
				"pod default/a on n1: resource mismatch, differs in gpu; gpu is 0, not 1000",
				"pod default/b on n2: stale, differs in nodeName",
				"pod default/d on n1: missing", "pod default/f on n1: missing",
			},
			did: []cache.RepairAction{cache.Updated, cache.Updated, cache.Added, cache.Added},
		},
		{
			name: "a pod that has to wait for its GPU still comes before one that takes any",
			change: func(o *cache.Observed) {
				o.Pods = []*berth.Pod{
					driftPod("a", "n1", gpus(1)), driftPod("b", "n2", gpus(1)),
					driftPod("d", "n1", func(p *berth.Pod) { gpus(0)(p); p.GPU.Devices = nil }),
				}
			},
			want: []string{
				"pod default/a on n1: stale, differs in gpu", "pod default/b on n2: stale, differs in nodeName",
				"pod default/d on n1: missing",
			},
			did: []cache.RepairAction{cache.Updated, cache.Updated, cache.Added},
		},
		{
			name: "a pod whose GPU was chosen on another node",
			change: func(o *cache.Observed) {
				o.Pods[0] = driftPod("a", "n2", func(p *berth.Pod) { gpus(0)(p); p.GPU.Devices = nil })
			},
			want: []string{"pod default/a on n2: stale, differs in nodeName"},
			did:  []cache.RepairAction{cache.Updated},
		},
		{
			name: "two pods that exchange their GPUs",
			change: func(o *cache.Observed) {
				o.Pods = []*berth.Pod{driftPod("a", "n1", gpus(1)), driftPod("b", "n1", gpus(0))}
			},
			want: []string{"pod default/a on n1: stale, differs in gpu", "pod default/b on n1: stale, differs in gpu"},
			did:  []cache.RepairAction{cache.Updated, cache.Updated},
		},
		{
			name: "a node that loses the GPU which a pod leaves",
			change: func(o *cache.Observed) {
				o.Nodes[0] = driftNode("n1", func(n *berth.Node) { n.GPUs.Count = 1 })
				o.Pods = []*berth.Pod{driftPod("a", "n1", nil), driftPod("b", "n1", gpus(0))}
			},
			want: []string{
				"node n1: resource mismatch, differs in gpus; gpus is 1, not 2",
				"pod default/a on n1: resource mismatch, differs in gpu; gpu is 0, not 1000",
				"pod default/b on n1: stale, differs in gpu",
			},
			did: []cache.RepairAction{cache.Updated, cache.Updated, cache.Updated},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, list := driftState(t)
			test.change(&list)
			drifts := cache.Diff(c.Publish(), list, test.config)
			var got []string
			for i := range drifts {
				got = append(got, drifts[i].String())
			}
			require.Equal(t, test.want, got)
			var did []cache.RepairAction
			for _, r := range cache.Repair(c, drifts) {
				require.NoError(t, r.Err)
				did = append(did, r.Action)
			}
			require.Equal(t, test.did, did)
			require.Empty(t, cache.Diff(c.Publish(), list, test.config))
		})
	}
}

func TestClockDrift(t *testing.T) {
	c, list := driftState(t)
	for _, test := range []struct {
		name               string
		time, state, bound time.Duration
		want               time.Duration
	}{
		{"within a second", 10 * time.Second, 9 * time.Second, 0, 0},
		{"ahead by more", 10*time.Second + 1, 9 * time.Second, 0, time.Second + 1},
		{"behind by more", 9 * time.Second, 11 * time.Second, 0, -2 * time.Second},
		{"within the bound", 9 * time.Second, 11 * time.Second, 2 * time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			list.Time, list.StateTime = time.Unix(0, int64(test.time)), time.Unix(0, int64(test.state))
			drifts := cache.Diff(c.Publish(), list, cache.DriftConfig{MaxClockDrift: test.bound})
			if test.want == 0 {
				require.Empty(t, drifts)
				return
			}
			require.Equal(t, []cache.Drift{{Kind: cache.ClockDrift, Clock: test.want}}, drifts)
			done := cache.Repair(c, drifts)
			require.Equal(t, []cache.Repaired{{Drift: drifts[0], Err: cache.ErrClock}}, done)
		})
	}
	list.Time, list.StateTime = time.Unix(1e6, 0), time.Time{}
	require.Empty(t, cache.Diff(c.Publish(), list, cache.DriftConfig{}), "a clock that is not known is not compared")
}

// TestWhatCannotBeRepairedStays, and the reason is told.
func TestWhatCannotBeRepairedStays(t *testing.T) {
	c, list := driftState(t)
	list.Nodes = append(list.Nodes, &berth.Node{Name: "n2", Taints: []berth.Taint{{Key: "a", Effect: "Perhaps"}}})
	list.Pods = append(list.Pods, driftPod("d", "n1", gpus(1))) // which b has
	list.Pods[0] = driftPod("a", "n1", gpus(7))                 // which is not there
	list.Pods = append(list.Pods, driftPod("c", "n1", gpus(1))) // which was assumed without
	list.Pods = append(list.Pods, driftPod("e", "n1", nil))     // which is fine
	drifts := cache.Diff(c.Publish(), list, cache.DriftConfig{})
	done := cache.Repair(c, drifts)
	require.Len(t, done, 5)
	var fault *berth.Fault
	require.True(t, errors.As(done[0].Err, &fault))
	for i, want := range []error{berth.ErrInvalid, affinity.ErrDevices, affinity.ErrDevices, affinity.ErrDevices, nil} {
		require.ErrorIs(t, done[i].Err, want, "%v", &done[i].Drift)
		if want != nil {
			require.Equal(t, cache.NotRepaired, done[i].Action)
		}
	}
	require.Equal(t, drifts[:4], cache.Diff(c.Publish(), list, cache.DriftConfig{}))
	a, _ := c.Pod(berth.PodKey{Namespace: "default", Name: "a"})
	require.Equal(t, []int{0}, a.Spec.GPU.Devices)
	p, _ := c.Pod(berth.PodKey{Namespace: "default", Name: "c"})
	require.True(t, p.Assumed)
	require.True(t, p.Deadline.Equal(time.Unix(100, 0)))
}

// TestRepairOfRandomStates: whatever a state missed, it is afterwards that of a cache which was filled from the list.
func TestRepairOfRandomStates(t *testing.T) {
	kinds := make(map[cache.DriftKind]int)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		o := gen.Everything()
		o.OmitDevices, o.Nodes, o.Pods, o.GPU = 0, 12, 60, 0.4
		g := gen.New(rng, o)
		before := g.Cluster()
		state, _ := fill(t, before, rng)
		after := before.Clone()
		for range rng.IntN(30) {
			g.Change(after)
		}
		disturb(rng, g, after)
		truth, list := fill(t, after, nil)
		list.StateTime = time.Unix(1, 0)

		drifts := cache.Diff(state.Publish(), list, cache.DriftConfig{})
		require.Equal(t, drifts, cache.Diff(state.Publish(), list, cache.DriftConfig{}))
		for _, r := range cache.Repair(state, drifts) {
			require.NoError(t, r.Err, "seed %d: %v", seed, &r.Drift)
			require.NotEqual(t, cache.NotRepaired, r.Action)
			kinds[r.Drift.Kind]++
		}
		require.Empty(t, cache.Diff(state.Publish(), list, cache.DriftConfig{}), "seed %d", seed)
		require.Equal(t, truth.Publish().Digest(), state.Publish().Digest(), "seed %d", seed)
	}
	for _, kind := range []cache.DriftKind{cache.Missing, cache.Stale, cache.ResourceMismatch, cache.Extra} {
		require.Greater(t, kinds[kind], 50, "%v", kind)
	}
}

// fill makes a cache of what it accepts of a cluster, and the list of that. With rng some pods are only assumed, until
// second 1.
func fill(t *testing.T, cluster *gen.Cluster, rng *rand.Rand) (*cache.Cache, cache.Observed) {
	t.Helper()
	c, err := cache.New(cache.Config{})
	require.NoError(t, err)
	var list cache.Observed
	for _, ns := range cluster.Namespaces {
		require.NoError(t, c.SetNamespace(&ns))
		list.Namespaces = append(list.Namespaces, &ns)
	}
	for _, n := range cluster.Nodes {
		require.NoError(t, c.AddNode(&n))
		list.Nodes = append(list.Nodes, &n)
	}
	for _, p := range cluster.Pods {
		if p.GPU.Count != len(p.GPU.Devices) { // its GPUs would depend on the order
			continue
		}
		if rng != nil && rng.IntN(4) == 0 {
			_ = c.AssumeUntil(&p, p.NodeName, time.Unix(1, 0))
		} else if c.AddPod(&p) == nil {
			list.Pods = append(list.Pods, &p)
		}
	}
	return c, list
}

// disturb adds and removes objects, moves pods, and gives pods and nodes other GPUs.
func disturb(rng *rand.Rand, g *gen.Generator, c *gen.Cluster) {
	for range rng.IntN(3) {
		c.Nodes = append(c.Nodes, g.Node())
	}
	if len(c.Nodes) > 1 && rng.IntN(2) == 0 {
		c.Nodes = c.Nodes[1:]
	}
	for i := range c.Nodes {
		if rng.IntN(3) == 0 {
			c.Nodes[i].GPUs = berth.GPUs{Model: c.Nodes[i].GPUs.Model, Count: rng.IntN(5)}
		}
	}
	c.Namespaces = c.Namespaces[rng.IntN(2):]
	c.Pods = c.Pods[rng.IntN(len(c.Pods)+1)/4:]
	for range rng.IntN(10) {
		g.Place(c, g.Pod())
	}
	for i := range c.Pods {
		p := &c.Pods[i]
		if p.NodeName != "" && rng.IntN(5) == 0 {
			p.NodeName = c.Nodes[rng.IntN(len(c.Nodes))].Name
		}
		if n := p.GPU.Count; n > 0 && rng.IntN(2) == 0 {
			p.GPU.Devices = rng.Perm(4)[:n]
		}
	}
}
