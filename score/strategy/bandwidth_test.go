package strategy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

const mbps = "example.com/memory-mbps"

func drawing(name string, v int64) *berth.Pod {
	p := pod(name, 100)
	p.Requests.Scalar = map[string]int64{mbps: v}
	return p
}

func TestBandwidthPrefersTheLargestPartLeft(t *testing.T) {
	g := graphOf(t, node("half"), node("idle"), node("small"), node("over"), node("unknown"), node("never set"))
	b := must(strategy.NewBandwidth(strategy.BandwidthConfig{Resource: mbps}))
	require.NoError(t, b.Set("half", strategy.NodeBandwidth{Capacity: 200_000, Used: 100_000}))
	require.NoError(t, b.Set("idle", strategy.NodeBandwidth{Capacity: 200_000}))
	require.NoError(t, b.Set("small", strategy.NodeBandwidth{Capacity: 50_000, Used: 10_000}))
	require.NoError(t, b.Set("over", strategy.NodeBandwidth{Capacity: 1000, Used: 5000}))
	require.NoError(t, b.Set("unknown", strategy.NodeBandwidth{Used: 7}))
	require.Equal(t, map[string]int64{"half": 40, "idle": 90, "small": 40, "over": 0, "unknown": 0, "never set": 0},
		scores(t, b, g, drawing("p", 20_000)))
	require.Equal(t, int64(100), scores(t, b, g, pod("asks for none", 1))["idle"])
	b.Forget("idle")
	require.Equal(t, int64(0), scores(t, b, g, drawing("p", 20_000))["idle"])
}

// TestBandwidthTellsANodeFromOneThatHadItsNumber: nodes take the numbers of others; data goes by their names.
func TestBandwidthTellsANodeFromOneThatHadItsNumber(t *testing.T) {
	g := graphOf(t, node("a"), node("b"))
	b := must(strategy.NewBandwidth(strategy.BandwidthConfig{}))
	require.NoError(t, b.Set("a", strategy.NodeBandwidth{Capacity: 100, Used: 10}))
	require.NoError(t, b.Set("b", strategy.NodeBandwidth{Capacity: 100, Used: 20}))
	require.Equal(t, map[string]int64{"a": 90, "b": 80}, scores(t, b, g, pod("p", 0)))
	require.NoError(t, g.RemoveNode("a"))
	require.NoError(t, g.RemoveNode("b"))
	require.NoError(t, g.AddNode(node("b")))
	require.NoError(t, g.AddNode(node("a")))
	require.NoError(t, b.Set("a", strategy.NodeBandwidth{Capacity: 100, Used: 30}))
	require.Equal(t, map[string]int64{"a": 70, "b": 80}, scores(t, b, g, pod("p", 0)))
	b.Forget("a")
	require.NoError(t, b.Set("a", strategy.NodeBandwidth{Capacity: 100, Used: 40}))
	require.Equal(t, map[string]int64{"a": 60, "b": 80}, scores(t, b, g, pod("p", 0)))
}

func TestBandwidthRegardsPodsPlacedSinceItWasSet(t *testing.T) {
	g := graphOf(t, node("a"))
	b := must(strategy.NewBandwidth(strategy.BandwidthConfig{Resource: mbps}))
	require.NoError(t, b.Set("a", strategy.NodeBandwidth{Capacity: 100}))
	one, two := input(t, g, drawing("one", 30)), input(t, g, drawing("two", 20))
	now := func() int64 { return scores(t, b, g, pod("p", 0))["a"] }
	require.NoError(t, b.Reserve(one, 0))
	require.NoError(t, b.Reserve(two, 0))
	require.Equal(t, int64(50), now())
	require.NoError(t, b.Reserve(two, 0), "once more is not twice")
	require.Equal(t, int64(50), now())
	b.Unreserve(one, 0)
	b.Unreserve(one, 0)
	require.Equal(t, int64(80), now())
	require.NoError(t, b.Set("a", strategy.NodeBandwidth{Capacity: 100, Used: 25}))
	require.Equal(t, int64(75), now())
	b.Unreserve(two, 0)
	require.Equal(t, int64(75), now(), "it was measured; the next measurement will tell")
}

func TestBandwidthRefusesBadData(t *testing.T) {
	_, err := strategy.NewBandwidth(strategy.BandwidthConfig{Resource: mbps, Use: func(*berth.Pod) float64 { return 0 }})
	refused(t, err, score.ErrConfig, "Use", mbps)

	g := graphOf(t, node("n"))
	b := must(strategy.NewBandwidth(strategy.BandwidthConfig{}))
	require.NoError(t, b.Set("n", strategy.NodeBandwidth{Capacity: 10, Used: 1}))
	for _, v := range badAmounts {
		refused(t, b.Set("n", strategy.NodeBandwidth{Capacity: v}), strategy.ErrData, `Capacity of node "n"`, fmt.Sprint(v))
		refused(t, b.Set("n", strategy.NodeBandwidth{Capacity: 1, Used: v}), strategy.ErrData, `Used of node "n"`, fmt.Sprint(v))
		bad := must(strategy.NewBandwidth(strategy.BandwidthConfig{Use: func(*berth.Pod) float64 { return v }}))
		_, err := try(t, bad, g, pod("p", 0))
		refused(t, err, strategy.ErrData, "Use of pod d/p", fmt.Sprint(v))
	}
	require.Equal(t, int64(90), scores(t, b, g, pod("p", 0))["n"], "nothing was half applied")
}

// TestMachineBandwidthGoesByCPUs: of two nodes with 4 CPUs, one has 3 given out.
func TestMachineBandwidthGoesByCPUs(t *testing.T) {
	m := machineOf(2, 4)
	m.Nodes[0].Bandwidth, m.Nodes[1].Bandwidth = 40_000, 60_000
	m.Nodes = append(m.Nodes, numa.Node{ID: 2, Bandwidth: 1_000_000, Generic: true}, numa.Node{ID: 3})
	require.Equal(t, strategy.NodeBandwidth{Capacity: 100_000}, strategy.MachineBandwidth(m, nil))

	s := must(numa.NewState(must(numa.Compile(m)), numa.Config{Policy: numa.PolicySingleNode}))
	require.Equal(t, strategy.NodeBandwidth{Capacity: 100_000}, strategy.MachineBandwidth(m, s))
	p := must(s.Plan(&numa.Request{Name: "p", Containers: []numa.Container{{Name: "c", CPUs: 3}}}))
	require.NoError(t, s.Apply(p))
	require.Equal(t, strategy.NodeBandwidth{Capacity: 100_000, Used: 30_000}, strategy.MachineBandwidth(m, s))
}

func TestBandwidthKeepsTheContract(t *testing.T) {
	newBandwidth := func() *strategy.Bandwidth {
		b := must(strategy.NewBandwidth(strategy.BandwidthConfig{Use: func(p *berth.Pod) float64 { return float64(p.Requests.MilliCPU) }}))
		for i, name := range nodes {
			must(0, b.Set(name, strategy.NodeBandwidth{Capacity: 20_000, Used: float64(i * 400)}))
		}
		return b
	}
	suite().Scorer(t, func() score.Scorer { return newBandwidth() })
	suite().Reserver(t, func() score.Reserver { return newBandwidth() })
}
