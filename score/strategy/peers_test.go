package strategy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
	"github.com/berth-go/berth/topology"
)

type topologyID = topology.NodeID

func app(name string) strategy.PodSelection {
	return strategy.PodSelection{Labels: map[string]string{"app": name}}
}

func TestPeersPrefersTheNodeNearestToTheTraffic(t *testing.T) {
	g := graphOf(t, node("a1", "zone", "a", "rack", "1"), node("a1 too", "zone", "a", "rack", "1"), node("a2", "zone", "a", "rack", "2"),
		node("b1", "zone", "b", "rack", "1"), node("nowhere"))
	s := must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone", "rack"}, Flows: []strategy.Flow{
		{From: app("web"), To: app("db"), Rate: 30}, {From: app("web"), To: app("log"), Rate: 10},
	}}))
	require.Equal(t, int64(100), scores(t, s, g, pod("p", 1, "app", "web"))["b1"], "there are no peers yet")
	require.NoError(t, g.Bind(pod("db", 1, "app", "db"), "a1"))
	require.NoError(t, g.Bind(pod("log", 1, "app", "log"), "b1"))
	require.Equal(t, map[string]int64{
		"a1": 75, "a1 too": 75, // 10 over two levels, of 40
		"a2":      38, // and 30 over one
		"b1":      25,
		"nowhere": 0,
	}, scores(t, s, g, pod("p", 1, "app", "web")))
	require.Equal(t, int64(100), scores(t, s, g, pod("p", 1, "app", "other"))["nowhere"], "it exchanges nothing")

	require.NoError(t, g.Bind(pod("web", 1, "app", "web"), "nowhere"))
	require.Equal(t, map[string]int64{"a1": 0, "a1 too": 0, "a2": 0, "b1": 0, "nowhere": 100}, scores(t, s, g, pod("p", 1, "app", "db")),
		"traffic has two ends, and a node is near to itself without any label")
}

// TestPeersIsTheObviousSum compares with topology.Tree's distances, pair by pair, while pods and nodes come, change and go.
func TestPeersIsTheObviousSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	apps := []string{"a", "b", "c"}
	for round := range 10 {
		w := &peerWorld{rng: rng, g: graphOf(t), pods: map[berth.PodKey]placedAt{}}
		levels := []string{"zone", "rack", "host"}[:1+rng.IntN(3)]
		cfg := strategy.PeersConfig{Levels: levels, Flows: []strategy.Flow{
			{From: app("a"), To: app("b"), Rate: 0.5 + rng.Float64()},
			{From: app("b"), To: strategy.PodSelection{Namespace: "e"}, Rate: 3},
			{From: app("a"), To: app("a"), Rate: 7},
		}}
		s := must(strategy.NewPeers(cfg))
		for step := range 150 {
			w.change(t)
			if step%5 > 0 {
				continue
			}
			p := pod("p", 1, "app", apps[rng.IntN(3)])
			for name, got := range scores(t, s, w.g, p) {
				require.InDelta(t, w.score(t, cfg, p, name), got, 0.5+1e-9, "round %d, step %d, pod %s on %s", round, step, p.Labels["app"], name)
			}
		}
	}
}

// peerWorld is a random cluster.
type peerWorld struct {
	rng  *rand.Rand
	g    *affinity.Graph
	next int
	pods map[berth.PodKey]placedAt
}

type placedAt struct {
	pod  *berth.Pod
	node string
}

func (w *peerWorld) change(t *testing.T) {
	i := w.rng.IntN(12)
	n := node(fmt.Sprint("n", i))
	for _, key := range []string{"zone", "rack", "host"} {
		if v := w.rng.IntN(4); v < 3 {
			n.Labels[key] = fmt.Sprint(v + w.next/40) // values come and go
		}
	}
	_, exists := w.g.Topology().Lookup(n.Name)
	w.next++
	switch k := w.rng.IntN(8); {
	case !exists:
		require.NoError(t, w.g.AddNode(n))
	case k == 0:
		require.NoError(t, w.g.UpdateNode(n))
	case k == 1:
		_ = w.g.RemoveNode(n.Name) // one with pods stays
	case k < 5:
		p := pod(fmt.Sprint("q", w.next), 1, "app", []string{"a", "b", "c"}[w.rng.IntN(3)])
		p.Namespace = []string{"d", "e"}[w.rng.IntN(2)]
		require.NoError(t, w.g.Bind(p, n.Name))
		w.pods[p.Key()] = placedAt{p, n.Name}
	default:
		for _, ns := range []string{"d", "e"} {
			key := berth.PodKey{Namespace: ns, Name: fmt.Sprint("q", w.rng.IntN(w.next))}
			if _, ok := w.pods[key]; ok {
				require.NoError(t, w.g.Release(key))
				delete(w.pods, key)
			}
		}
	}
}

func (w *peerWorld) score(t *testing.T, cfg strategy.PeersConfig, p *berth.Pod, name string) float64 {
	tree, err := topology.NewTree(w.g.Topology(), cfg.Levels...)
	require.NoError(t, err)
	is := func(s strategy.PodSelection, p *berth.Pod) bool {
		return (s.Namespace == "" || s.Namespace == p.Namespace) && (s.Labels == nil || s.Labels["app"] == p.Labels["app"])
	}
	n, _ := w.g.Topology().Lookup(name)
	sum, most := 0.0, 0.0
	for _, q := range w.pods {
		at, _ := w.g.Topology().Lookup(q.node)
		for _, f := range cfg.Flows {
			for _, ends := range [][2]strategy.PodSelection{{f.From, f.To}, {f.To, f.From}} {
				if is(ends[0], p) && is(ends[1], q.pod) {
					sum += f.Rate * float64(tree.Distance(n, at))
					most += f.Rate * float64(tree.Levels())
				}
			}
		}
	}
	if most == 0 {
		return 100
	}
	return 100 * (1 - sum/most)
}

func TestPeersFollowsOneGraphAfterAnother(t *testing.T) {
	s := must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone"}, Flows: []strategy.Flow{{From: app("a"), To: app("a"), Rate: 1}}}))
	one, two := graphOf(t, node("n", "zone", "a"), node("m", "zone", "b")), graphOf(t, node("n", "zone", "b"), node("m", "zone", "a"))
	require.NoError(t, one.Bind(pod("q", 1, "app", "a"), "n"))
	require.NoError(t, two.Bind(pod("q", 1, "app", "a"), "m"))
	for range 2 {
		require.Equal(t, map[string]int64{"n": 100, "m": 0}, scores(t, s, one, pod("p", 1, "app", "a")))
		require.Equal(t, map[string]int64{"n": 0, "m": 100}, scores(t, s, two, pod("p", 1, "app", "a")))
	}
}

// TestPeersMakesUpForALongAbsence: the graph forgets changes that are long ago.
func TestPeersMakesUpForALongAbsence(t *testing.T) {
	g := graphOf(t, node("n", "zone", "a"), node("m", "zone", "b"))
	s := must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone"}, Flows: []strategy.Flow{{From: app("a"), To: app("a"), Rate: 1}}}))
	require.NoError(t, g.Bind(pod("q", 1, "app", "a"), "n"))
	require.Equal(t, map[string]int64{"n": 100, "m": 0}, scores(t, s, g, pod("p", 1, "app", "a")))
	_, start, _ := g.Changes(0)
	require.NoError(t, g.Release(berth.PodKey{Namespace: "d", Name: "q"}))
	for i := 0; ; i++ {
		require.Less(t, i, 1<<20)
		key := berth.PodKey{Namespace: "d", Name: fmt.Sprint("x", i)}
		require.NoError(t, g.Bind(pod(key.Name, 1, "app", "a"), "m"))
		if _, _, ok := g.Changes(start); !ok {
			break
		}
		require.NoError(t, g.Release(key))
	}
	require.Equal(t, map[string]int64{"n": 0, "m": 100}, scores(t, s, g, pod("p", 1, "app", "a")))
}

func TestPeersRefusesBadInput(t *testing.T) {
	good := []strategy.Flow{{From: app("a"), To: app("a"), Rate: 1}}
	for want, cfg := range map[string]strategy.PeersConfig{
		"0 Levels":           {Flows: good},
		"9 Levels":           {Levels: make([]string, 9), Flows: good},
		`Levels[1] = ""`:     {Levels: []string{"a", ""}, Flows: good},
		`Levels[1] = "zone"`: {Levels: []string{"zone", "zone"}, Flows: good},
		"0 Flows":            {Levels: []string{"zone"}},
		"101 Flows":          {Levels: []string{"zone"}, Flows: make([]strategy.Flow, 101)},
	} {
		_, err := strategy.NewPeers(cfg)
		refused(t, err, score.ErrConfig, want)
	}
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1), 1e9 + 1} {
		_, err := strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone"}, Flows: []strategy.Flow{{Rate: rate}}})
		refused(t, err, score.ErrConfig, "Flows[0].Rate", fmt.Sprint(rate))
	}
	s := must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone"}, Flows: good}))
	err := s.Score(input(t, graphOf(t, node("n")), pod("p", 1)), []topologyID{0}, make([]int64, 1))
	refused(t, err, strategy.ErrData, "Prepare was not called", "d/p")
}

func TestPeersKeepsTheContract(t *testing.T) {
	suite().Scorer(t, func() score.Scorer {
		return must(strategy.NewPeers(strategy.PeersConfig{Levels: []string{"zone", "rack"}, Flows: []strategy.Flow{
			{From: app("web"), To: app("db"), Rate: 30}, {From: app("batch"), To: app("batch"), Rate: 0.5}, {To: app("db"), Rate: 1},
		}}))
	})
}
