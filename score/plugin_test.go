package score_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// constant gives every node the same score.
type constant struct{ score int64 }

func (constant) Name() string { return "constant" }

func (c constant) Score(_ *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		column[n] = c.score
	}
	return nil
}

// byName scores nodes from a table.
type byName map[string]int64

func (byName) Name() string { return "byName" }

func (s byName) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		column[n] = s[in.Graph.Topology().Name(n)]
	}
	return nil
}

// three returns a graph of three like nodes a, b, c, which win ties in this order.
func three(t *testing.T) *affinity.Graph {
	g, err := affinity.New(affinity.Config{Order: func(name string) uint32 { return uint32(name[0]) }})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, g.AddNode(&berth.Node{
			Name: name, Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}, GPUs: berth.GPUs{Model: "T4", Count: 4},
		}))
	}
	return g
}

func plainPod(name string) *berth.Pod {
	return &berth.Pod{Namespace: "d", Name: name, Requests: berth.Resources{MilliCPU: 1000, Memory: 1 << 30}}
}

func TestScoresAreWeighed(t *testing.T) {
	g := three(t)
	require.NoError(t, g.Bind(plainPod("old"), "c"))
	for _, c := range []struct {
		name   string
		weight int64
		table  byName
		want   string
		own    int64
	}{
		{"no weight is weight 1", 0, byName{"c": 1000}, "c", 1000},
		{"a weight multiplies", 1000, byName{"c": 1}, "c", 1000},
		{"a small score does not outweigh the built-in ones", 1, byName{"c": 1}, "a", 0},
		{"scores may be negative", 1, byName{"a": -1000, "b": -10}, "b", -10},
		{"equal totals go by the graph's order", 1, byName{"a": 7, "b": 7, "c": -1}, "a", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := score.New(g, score.Config{Scorers: []score.Weighted{{Scorer: c.table, Weight: c.weight}}})
			require.NoError(t, err)
			d, err := p.Decide(plainPod("p"))
			require.NoError(t, err)
			assert.Equal(t, c.want, d.Node)
			var sum int64
			for s, w := range affinity.DefaultWeights() {
				sum += w * d.Builtin[s]
			}
			assert.Equal(t, sum+c.own, d.Score)
			assert.Equal(t, c.own, max(c.weight, 1)*d.Own[0])
		})
	}
}

func TestOnlyLeavesOutBuiltinScores(t *testing.T) {
	p, err := score.New(three(t), score.Only(byName{"b": 1}))
	require.NoError(t, err)
	d, err := p.Decide(plainPod("p"))
	require.NoError(t, err)
	assert.Equal(t, score.Decision{Node: "b", Score: 1, Own: []int64{1}, Feasible: 3}, d)
}

// reversed is a scorer that is normalised to 0..100, the lowest score first.
type reversed struct {
	byName
	seen *[]topology.NodeID
}

func (r reversed) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	*r.seen = slices.Clone(feasible)
	var most int64
	for _, n := range feasible {
		most = max(most, column[n])
	}
	for _, n := range feasible {
		column[n] = 100 - 100*column[n]/most
	}
	return nil
}

// localReversed is the same with a kept column, which normalising must not touch.
type localReversed struct{ reversed }

func (localReversed) Local() {}

func TestNormalizerSeesTheFeasibleNodesAlone(t *testing.T) {
	var seen []topology.NodeID
	plain := reversed{byName{"a": 40, "b": 20, "c": 1 << 40}, &seen}
	for name, s := range map[string]score.Scorer{"kept column": localReversed{plain}, "new column": plain} {
		t.Run(name, func(t *testing.T) {
			g := three(t)
			full := plainPod("full")
			full.Requests.MilliCPU = 4000
			require.NoError(t, g.Bind(full, "c"))
			p, err := score.New(g, score.Only(s))
			require.NoError(t, err)
			for range 3 { // the same however often it is asked
				d, err := p.Decide(plainPod("p"))
				require.NoError(t, err)
				assert.Equal(t, score.Decision{Node: "b", Score: 50, Own: []int64{50}, Feasible: 2}, d)
				assert.Equal(t, []topology.NodeID{0, 1}, seen)
			}
		})
	}
}

// picker takes the GPUs that it is told.
type picker struct {
	constant
	devices []int
}

func (p picker) PickDevices(*score.Input, topology.NodeID) []int { return p.devices }

func TestDevicePicker(t *testing.T) {
	for _, c := range []struct {
		name  string
		picks []int
		count int
		held  []int
		err   string
	}{
		{"what it picks is held", []int{1, 3}, 2, []int{1, 3}, ""},
		{"nil leaves it to the graph", nil, 2, []int{0, 1}, ""},
		{"a pod without GPUs does not ask", []int{1}, 0, nil, ""},
		{"devices that are not there are refused", []int{1, 9}, 2, nil, "9"},
		{"one device too few is refused", []int{1}, 2, nil, "devices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := three(t)
			p, err := score.New(g, score.Only(picker{devices: c.picks}))
			require.NoError(t, err)
			pod := plainPod("p")
			if c.count > 0 {
				pod.GPU = berth.GPURequest{Count: c.count, Milli: berth.GPUMilli}
			}
			d, err := p.Place(pod)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.Zero(t, g.Pods())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "a", d.Node)
			assert.Equal(t, c.held, g.Devices(pod.Key()))
			assert.Nil(t, pod.GPU.Devices, "the caller's pod is not changed")
		})
	}
}

var errBroken = errors.New("broken")

// broken fails, after it wrote nonsense, as long as it is told to.
type broken struct {
	byName
	fail *bool
}

func (b broken) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	if *b.fail {
		for _, n := range nodes {
			column[n] = 1 << 40
		}
		return errBroken
	}
	return b.byName.Score(in, nodes, column)
}

type localBroken struct{ broken }

func (localBroken) Local() {}

type brokenNormalizer struct{ broken }

func (b brokenNormalizer) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	return b.byName.Score(in, nodes, column)
}

func (b brokenNormalizer) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	if *b.fail {
		column[feasible[0]] = 1 << 40
		return errBroken
	}
	return nil
}

func TestErrorsOfPluginsAreNamedAndLeaveNoTrace(t *testing.T) {
	fail := true
	b := broken{byName{"b": 1}, &fail}
	for name, s := range map[string]score.Scorer{"scorer": b, "local scorer": localBroken{b}, "normalizer": brokenNormalizer{b}} {
		t.Run(name, func(t *testing.T) {
			g := three(t)
			p, err := score.New(g, score.Only(s))
			require.NoError(t, err)
			fail = true
			_, err = p.Place(plainPod("p"))
			require.ErrorIs(t, err, errBroken)
			assert.Equal(t, "score: byName: broken", err.Error())
			assert.Zero(t, g.Pods())
			fail = false
			d, err := p.Place(plainPod("p"))
			require.NoError(t, err)
			assert.Equal(t, "b", d.Node)
			assert.Equal(t, int64(1), d.Score)
		})
	}
}

// use scores a node by what its pods use and by a label, and counts how often it is asked.
type use struct {
	name  string
	asked *int
}

func (u use) Name() string { return u.name }

func (u use) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	x := in.Graph.Topology()
	*u.asked += len(nodes)
	for _, n := range nodes {
		allocatable, used := in.Graph.Amount(n, berth.ResourceCPU)
		column[n] = allocatable - 3*used + int64(len(x.Labels(n))) + int64(in.Pod.Priority%7)
		for _, free := range in.Graph.GPUFree(n) {
			column[n] += free
		}
		for key := range in.Graph.PodsOn(n) {
			column[n] += int64(len(key.Name))
		}
	}
	return nil
}

type localUse struct{ use }

func (localUse) Local() {}

// TestKeptColumnsEqualRecomputed holds decisions with kept columns equal to decisions with columns made anew, while
// pods and nodes come, change and go; with room for all columns, for few, and for one.
func TestKeptColumnsEqualRecomputed(t *testing.T) {
	for _, limit := range []int{0, 2000, 1} {
		for seed, preset := range []gen.Options{gen.Everything(), gen.Plain(), gen.Affine()} {
			w := newWorld(t, uint64(seed), small(preset))
			var kept, made int
			cfg := score.Config{MaxColumnBytes: limit, Scorers: []score.Weighted{{Scorer: localUse{use{"use", &kept}}}, {Scorer: localUse{use{"again", &kept}}, Weight: 2}}}
			local := w.pipeline(cfg)
			cfg.Scorers = []score.Weighted{{Scorer: use{"use", &made}}, {Scorer: use{"again", &made}, Weight: 2}}
			fresh := w.pipeline(cfg)
			regulars := []*berth.Pod{w.pod(), w.pod(), w.pod(), w.pod()}
			for step := range 200 {
				pod := *regulars[w.rng.IntN(len(regulars))]
				pod.Name += string(rune('a'+step%26)) + string(rune('a'+step/26))
				want, wantErr := fresh.Decide(&pod)
				got, err := local.Decide(&pod)
				require.Equal(t, wantErr, err)
				require.Equal(t, want, got, "limit %d, seed %d, step %d", limit, seed, step)
				if err == nil && w.rng.IntN(2) == 0 {
					require.NoError(t, w.graph.Bind(&pod, got.Node))
					w.placed = append(w.placed, pod.Key())
				} else {
					w.change()
				}
			}
			if limit == 0 {
				assert.Less(t, kept, made/2, "kept columns save work")
			}
		}
	}
}

// TestLocalIsAskedForChangedNodesOnly counts the nodes that a Local scorer is asked for.
func TestLocalIsAskedForChangedNodesOnly(t *testing.T) {
	g := three(t)
	asked := 0
	p, err := score.New(g, score.Only(localUse{use{"use", &asked}}))
	require.NoError(t, err)
	for _, c := range []struct {
		what string
		do   func() error
		want int
	}{
		{"all nodes at first", func() error { return nil }, 3},
		{"none if nothing happened", func() error { return nil }, 0},
		{"the node of a new pod", func() error { return g.Bind(plainPod("new"), "b") }, 1},
		{"the node of a pod that goes", func() error { return g.Release(plainPod("new").Key()) }, 1},
		{"a new node", func() error {
			return g.AddNode(&berth.Node{Name: "d", Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}})
		}, 1},
	} {
		require.NoError(t, c.do())
		asked = 0
		_, err := p.Decide(plainPod("p"))
		require.NoError(t, err)
		assert.Equal(t, c.want, asked, c.what)
	}
}
