package affinity_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/topology"
)

// TestWhatIfsEqualReference supposes random changes, compares the verdict for every node with what the reference says
// of a cluster that is so, goes back some of the way, compares again, and in the end finds the graph as it was.
func TestWhatIfsEqualReference(t *testing.T) {
	for seed := range uint64(150 * *steps) {
		if err := whatIfs(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func whatIfs(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 31))
	opts := presets()[seed%uint64(len(presets()))]
	opts.Nodes, opts.Pods = 1+rng.IntN(20), rng.IntN(50)
	gn := gen.New(rng, opts)
	t, err := newTwin(gn.Cluster(), []affinity.Config{{Seed: 1}, tight}[rng.IntN(2)], configs()...)
	if err != nil {
		return err
	}
	for range 4 {
		t.use(rng.IntN(len(t.configs)))
		pod := gn.Pod()
		pod = *berth.Fold(&pod)
		if rng.IntN(2) == 0 { // one whose columns are kept meanwhile
			if _, _, err := t.profile.Best(&pod); err != nil {
				return err
			}
		}
		before := trace(t)
		if err := t.whatIf(&pod, gn, rng); err != nil {
			return err
		}
		if err := t.graph.CheckInvariants(t.profiles...); err != nil {
			return fmt.Errorf("after the end: %w", err)
		}
		if after := trace(t); before != after {
			return fmt.Errorf("the graph was\n%s and is\n%s", before, after)
		}
		if _, err := t.check(&pod); err != nil {
			return fmt.Errorf("after the end: %w", err)
		}
	}
	return nil
}

// trace is what must not be changed by a what-if: the specs of nodes and the order of their pods.
func trace(t *twin) string {
	var s string
	for n := range t.graph.Topology().Live().All() {
		s += fmt.Sprintf("%+v", t.graph.Node(n))
		for key := range t.graph.PodsOn(n) {
			s += fmt.Sprint(" ", key)
		}
		for key := range t.graph.NominatedTo(n) {
			s += fmt.Sprint(" <-", key)
		}
		s += "\n"
	}
	return s
}

func (t *twin) whatIf(pod *berth.Pod, gn *gen.Generator, rng *rand.Rand) error {
	w, err := t.profile.WhatIf(pod)
	if err != nil {
		return err
	}
	defer w.End()
	changed := t.Cluster
	var saved []reference.Cluster
	var points []int
	for step := range 6 {
		if rng.IntN(4) == 0 && len(saved) > 0 {
			i := rng.IntN(len(saved))
			changed = saved[i]
			w.Restore(points[i])
			saved, points = saved[:i], points[:i]
		} else {
			saved, points = append(saved, changed), append(points, w.Save())
			if err := suppose(w, &changed, t.graph, gn, rng); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
		}
		if err := compareWhatIf(w, &changed, pod); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return nil
}

// suppose makes one random change on both sides.
func suppose(w *affinity.WhatIf, c *reference.Cluster, g *affinity.Graph, gn *gen.Generator, rng *rand.Rand) error {
	c.Nodes, c.Pods = slices.Clone(c.Nodes), slices.Clone(c.Pods)
	placed := func(p *berth.Pod) bool { _, ok := g.Topology().Lookup(p.NodeName); return ok && p.NodeName != "" }
	switch i := rng.IntN(max(1, len(c.Pods))); rng.IntN(4) {
	case 0, 1:
		if i >= len(c.Pods) {
			return nil
		}
		p := c.Pods[i]
		if _, bound := g.NodeOf(p.Key()); placed(&p) && bound {
			c.Pods = slices.Delete(c.Pods, i, i+1)
			return w.Release(p.Key())
		}
		if _, ok := g.Topology().Lookup(p.NominatedNodeName); ok && p.NodeName == "" {
			c.Pods = slices.Delete(c.Pods, i, i+1)
			return w.Denominate(p.Key())
		}
	case 2:
		p := gn.Pod()
		p = *berth.Fold(&p)
		p.GPU, p.NodeName = berth.GPURequest{}, c.Nodes[rng.IntN(len(c.Nodes))].Name
		c.Pods = append(c.Pods, p)
		return w.Bind(&p, p.NodeName)
	case 3:
		k := rng.IntN(len(c.Nodes))
		n := gn.Node()
		n.Name, n.GPUs.Model = c.Nodes[k].Name, c.Nodes[k].GPUs.Model
		n.GPUs.Count = c.Nodes[k].GPUs.Count + rng.IntN(2)
		c.Nodes[k] = n
		return w.UpdateNode(&n)
	}
	return nil
}

func compareWhatIf(w *affinity.WhatIf, c *reference.Cluster, pod *berth.Pod) error {
	for i, want := range c.Filter(pod) {
		name := c.Nodes[i].Name
		got, err := w.Verdict(name, nil)
		if err != nil || got.Rule.String() != want.Plugin || got.Resolvable != want.Resolvable {
			return fmt.Errorf("node %s: %v %v, reference %+v: %w", name, got.Rule, got.Resolvable, want, err)
		}
		blockers, err := w.Blockers(name)
		if err != nil {
			return err
		}
		if err := checkBlockers(blockers, got); err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
	}
	return nil
}

// checkBlockers: there are blockers where a rule refuses, and that rule is among them.
func checkBlockers(bs []affinity.Blocker, v affinity.Verdict) error {
	if (len(bs) == 0) != (v.Rule == affinity.Feasible) {
		return fmt.Errorf("verdict %v, blockers %+v", v.Rule, bs)
	}
	if len(bs) > 0 && !slices.ContainsFunc(bs, func(b affinity.Blocker) bool { return b.Rule == v.Rule }) {
		return fmt.Errorf("%v is not among the blockers %+v", v.Rule, bs)
	}
	if !slices.IsSortedFunc(bs, func(a, b affinity.Blocker) int { return int(a.Rule) - int(b.Rule) }) {
		return errors.New("blockers are not in the order of the rules")
	}
	return nil
}

// TestBlockersAreAllThatBlocks: a node that is rid of the pods that ports and anti-affinity name has no such blocker left.
func TestBlockersAreAllThatBlocks(t *testing.T) {
	cleared := 0
	for seed := range uint64(40 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 37))
		opts := presets()[seed%uint64(len(presets()))]
		opts.Nodes, opts.Pods, opts.HostPort = 12, 60, 0.3
		gn := gen.New(rng, opts)
		tw, err := newTwin(gn.Cluster(), affinity.Config{}, pair{})
		require.NoError(t, err)
		for range 5 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			for i := range tw.Nodes {
				name := tw.Nodes[i].Name
				w, err := tw.profile.WhatIf(&pod)
				require.NoError(t, err)
				blockers, err := w.Blockers(name)
				require.NoError(t, err)
				var named [][]affinity.BlockingPod // before anything is changed
				for _, b := range blockers {
					named = append(named, b.Pods())
				}
				for i, b := range blockers {
					excludes := b.Rule == affinity.NodePorts || b.Rule == affinity.InterPodAffinity && b.Side != affinity.OwnAffinity
					if excludes {
						assert.NotEmpty(t, named[i], "seed %d: %+v", seed, b)
						assert.GreaterOrEqual(t, b.PodCount, len(named[i]), "seed %d: %+v", seed, b)
					}
					for _, p := range named[i] {
						switch {
						case !excludes:
						case p.Nominated:
							_ = w.Denominate(p.Pod) // perhaps named by another blocker before
						default:
							_ = w.Release(p.Pod)
						}
						cleared++
					}
				}
				left, err := w.Blockers(name)
				require.NoError(t, err)
				for _, b := range left {
					assert.NotEqual(t, affinity.NodePorts, b.Rule, "seed %d", seed)
					assert.False(t, b.Side == affinity.OwnAntiAffinity || b.Side == affinity.ExistingAntiAffinity, "seed %d: %+v", seed, b)
				}
				w.End()
			}
		}
	}
	assert.Greater(t, cleared, 100)
}

func TestBlockersNameWhatIsInTheWay(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for _, n := range []struct{ name, zone string }{{"n1", "a"}, {"n2", "a"}, {"n3", "b"}} {
		require.NoError(t, g.AddNode(&berth.Node{Name: n.name, Labels: map[string]string{berth.LabelZone: n.zone},
			Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}, GPUs: berth.GPUs{Model: "T4", Count: 1}}))
	}
	web := map[string]string{"app": "web"}
	other := &berth.Pod{Namespace: "d", Name: "other", Labels: web, Requests: berth.Resources{MilliCPU: 3000},
		HostPorts: []berth.HostPort{{Port: 80}}}
	other.Affinity = anti(map[string]string{"app": "db"})
	require.NoError(t, g.Bind(other, "n2"))
	p, err := g.NewProfile(affinity.ProfileConfig{})
	require.NoError(t, err)
	inTheWay := []affinity.BlockingPod{{Pod: other.Key(), Node: "n2"}}

	for _, c := range []struct {
		name string
		node string
		pod  berth.Pod
		want affinity.Blocker
	}{
		{"the node that the pod asks for", "n1", berth.Pod{NodeName: "n9"}, affinity.Blocker{Rule: affinity.NodeName, Index: -1, Value: "n9"}},
		{"the label that a nodeSelector asks for", "n1", berth.Pod{NodeSelector: map[string]string{"disk": "ssd"}},
			affinity.Blocker{Rule: affinity.NodeAffinity, Index: -1, Unmet: berth.Requirement{Key: "disk", Operator: berth.In, Values: []string{"ssd"}}}},
		{"the pod that holds the port", "n2", berth.Pod{HostPorts: []berth.HostPort{{Port: 80}}},
			affinity.Blocker{Rule: affinity.NodePorts, Index: -1, Port: berth.HostPort{HostIP: "0.0.0.0", Protocol: berth.TCP, Port: 80}, PodCount: 1}},
		{"the resource that is short", "n2", berth.Pod{Requests: berth.Resources{MilliCPU: 2000}},
			affinity.Blocker{Rule: affinity.NodeResourcesFit, Index: -1, Shortfall: affinity.Shortfall{Resource: "cpu", Requested: 2000, Used: 3000, Allocatable: 4000}}},
		{"the GPUs that are too few", "n1", berth.Pod{GPU: berth.GPURequest{Count: 2, Milli: 1000}},
			affinity.Blocker{Rule: affinity.GPU, Index: -1, GPU: affinity.GPUShortfall{Model: "T4", Devices: 1, Room: 1}}},
		{"the pod in the domain that the pod's anti-affinity excludes", "n1", berth.Pod{Affinity: anti(web)},
			affinity.Blocker{Rule: affinity.InterPodAffinity, Side: affinity.OwnAntiAffinity, Key: berth.LabelZone, Value: "a", PodCount: 1}},
		{"the pod in the domain whose anti-affinity excludes the pod", "n1", berth.Pod{Labels: map[string]string{"app": "db"}},
			affinity.Blocker{Rule: affinity.InterPodAffinity, Side: affinity.ExistingAntiAffinity, Key: berth.LabelZone, Value: "a", PodCount: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pod.Namespace, c.pod.Name = "d", "p"
			got, err := p.Blockers(&c.pod, c.node)
			require.NoError(t, err)
			require.Len(t, got, 1)
			if c.want.PodCount > 0 {
				assert.Equal(t, inTheWay, got[0].Pods())
			} else {
				assert.Empty(t, got[0].Pods())
			}
			b := &got[0]
			assert.Equal(t, c.want, affinity.Blocker{Rule: b.Rule, Side: b.Side, Index: b.Index, Taint: b.Taint, Unmet: b.Unmet, Port: b.Port,
				Shortfall: b.Shortfall, GPU: b.GPU, Key: b.Key, Value: b.Value, PodCount: b.PodCount})
		})
	}
}

func anti(labels map[string]string) *berth.Affinity {
	return &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
		LabelSelector: &berth.LabelSelector{MatchLabels: labels}, TopologyKey: berth.LabelZone,
	}}}}
}

func TestWhatIfErrors(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	node := berth.Node{Name: "n", Allocatable: berth.Resources{Pods: 1}, GPUs: berth.GPUs{Count: 1}}
	require.NoError(t, g.AddNode(&node))
	old := &berth.Pod{Namespace: "d", Name: "old"}
	require.NoError(t, g.Bind(old, "n"))
	p, err := g.NewProfile(affinity.ProfileConfig{})
	require.NoError(t, err)
	w, err := p.WhatIf(&berth.Pod{Namespace: "d", Name: "p"})
	require.NoError(t, err)
	fewer := node
	fewer.GPUs.Count = 0
	greedy := &berth.Pod{Namespace: "d", Name: "greedy", GPU: berth.GPURequest{Count: 2, Milli: berth.GPUMilli}}
	for name, c := range map[string]struct{ got, want error }{
		"a pod that is not placed cannot go":        {w.Release(berth.PodKey{Namespace: "d", Name: "x"}), affinity.ErrUnknownPod},
		"a pod that is placed cannot be placed":     {w.Bind(old, "n"), affinity.ErrPodExists},
		"a pod needs a node":                        {w.Bind(greedy, "x"), affinity.ErrUnknownNode},
		"a pod needs its GPUs":                      {w.Bind(greedy, "n"), affinity.ErrDevices},
		"a nomination that is not cannot end":       {w.Denominate(old.Key()), affinity.ErrUnknownPod},
		"a node that is not cannot change":          {w.UpdateNode(&berth.Node{Name: "x"}), affinity.ErrUnknownNode},
		"a node must be valid":                      {w.UpdateNode(&berth.Node{}), berth.ErrInvalid},
		"GPUs that pods may hold cannot be removed": {w.UpdateNode(&fewer), affinity.ErrDevices},
	} {
		assert.ErrorIs(t, c.got, c.want, name)
	}
	require.NoError(t, w.Release(old.Key()))
	assert.ErrorIs(t, w.Release(old.Key()), affinity.ErrUnknownPod, "a pod goes once")
	require.NoError(t, w.Bind(old, "n"), "and may come back")
	assert.ErrorIs(t, w.Bind(old, "n"), affinity.ErrPodExists)
	w.End()
	assert.NoError(t, g.CheckInvariants(p))
	_, err = p.WhatIf(&berth.Pod{})
	assert.ErrorIs(t, err, berth.ErrInvalid)
	_, err = p.Blockers(old, "x")
	assert.ErrorIs(t, err, affinity.ErrUnknownNode)
	assert.Equal(t, node.Name, g.Node(topology.NodeID(0)).Name)
}
