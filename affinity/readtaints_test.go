package affinity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

func TestTaintsAreReadAsTheyAreNow(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	gpu := berth.Taint{Key: "gpu", Value: "a100", Effect: berth.NoSchedule}
	spot := berth.Taint{Key: "spot", Effect: berth.PreferNoSchedule}
	for name, taints := range map[string][]berth.Taint{"both": {gpu, spot}, "spot": {spot}, "none": nil} {
		require.NoError(t, g.AddNode(&berth.Node{Name: name, Taints: taints, Unschedulable: name == "spot"}))
	}
	id := func(name string) topology.NodeID {
		n, ok := g.Topology().Lookup(name)
		require.True(t, ok)
		return n
	}
	tainted := func(key string) *topology.NodeSet {
		var s topology.NodeSet
		g.UnionTainted(&s, func(t *berth.Taint) bool { return t.Key == key })
		return &s
	}
	require.Equal(t, []berth.Taint{gpu, spot}, g.Taints(id("both")))
	require.Empty(t, g.Taints(id("none")))
	require.True(t, g.Unschedulable(id("spot")))
	require.False(t, g.Unschedulable(id("both")))
	require.True(t, tainted("gpu").Equal(topology.NewNodeSet(id("both"))))
	require.True(t, tainted("spot").Equal(topology.NewNodeSet(id("both"), id("spot"))))
	require.True(t, tainted("other").Empty())

	require.NoError(t, g.UpdateNode(&berth.Node{Name: "both", Taints: []berth.Taint{gpu}}))
	require.NoError(t, g.RemoveNode("spot"))
	require.Equal(t, []berth.Taint{gpu}, g.Taints(id("both")))
	require.True(t, tainted("spot").Empty())
}
