package topology_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/topology"
)

var treeLevels = []string{"region", "zone", "rack", "host"}

// forest is an index of nodes in the order of their labels, each a value for every level; "" is no label.
func forest(t *testing.T, nodes ...[]string) *topology.Index {
	var x topology.Index
	for i, values := range nodes {
		labels := map[string]string{}
		for l, v := range values {
			if v != "" {
				labels[treeLevels[l]] = v
			}
		}
		n, err := x.Add(fmt.Sprint("n", i), labels)
		require.NoError(t, err)
		require.Equal(t, topology.NodeID(i), n)
	}
	return &x
}

func TestTreeCommonAndDistance(t *testing.T) {
	x := forest(t,
		[]string{"eu", "a", "r1", "h0"}, // 0
		[]string{"eu", "a", "r1", "h1"}, // 1
		[]string{"eu", "a", "r2", "h2"}, // 2
		[]string{"eu", "b", "r1", "h3"}, // 3: a rack r1 of another zone
		[]string{"us", "a", "r1", "h4"}, // 4: a zone a of another region
		[]string{"eu", "a", "", "h5"},   // 5: no rack
		[]string{"eu", "a", "r1", "h0"}, // 6: the hostname of node 0
		[]string{"", "a", "r1", "h7"},   // 7: no region
		[]string{"eu", "a", "", "h8"},   // 8: no rack either
	)
	tree, err := topology.NewTree(x, treeLevels...)
	require.NoError(t, err)
	assert.Equal(t, 4, tree.Levels())
	for _, c := range []struct {
		name     string
		a, b     topology.NodeID
		common   string
		level    int
		distance int
	}{
		{"a node and itself", 1, 1, "host=h1", 3, 0},
		{"one hostname is one host", 0, 6, "host=h0", 3, 0},
		{"one rack", 0, 1, "rack=r1", 2, 1},
		{"one zone", 0, 2, "zone=a", 1, 2},
		{"one region: racks of one name in two zones are two", 0, 3, "region=eu", 0, 3},
		{"nothing: zones of one name in two regions are two", 0, 4, "", -1, 4},
		{"without a rack the host does not count", 0, 5, "zone=a", 1, 2},
		{"two without a rack share the zone", 5, 8, "zone=a", 1, 2},
		{"without a region nothing counts", 0, 7, "", -1, 4},
		{"without a region a node is still at distance 0 from itself", 7, 7, "", -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pair := range [][2]topology.NodeID{{c.a, c.b}, {c.b, c.a}} {
				d, level := tree.Common(pair[0], pair[1])
				assert.Equal(t, c.level, level)
				if level >= 0 {
					assert.Equal(t, c.common, x.KeyName(d.Key)+"="+x.ValueName(d))
				}
				assert.Equal(t, c.distance, tree.Distance(pair[0], pair[1]))
			}
		})
	}
}

// TestTreeEqualsPaths compares random trees with the definition: the number of leading values that two nodes share.
func TestTreeEqualsPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		var nodes [][]string
		for range 25 {
			var values []string
			for range treeLevels {
				values = append(values, []string{"a", "b", "c", ""}[min(rng.IntN(10)/3, 3)])
			}
			nodes = append(nodes, values)
		}
		tree, err := topology.NewTree(forest(t, nodes...), treeLevels...)
		require.NoError(t, err)
		for a := range nodes {
			for b := range nodes {
				shared := 0
				for shared < len(treeLevels) && nodes[a][shared] != "" && nodes[a][shared] == nodes[b][shared] {
					shared++
				}
				_, level := tree.Common(topology.NodeID(a), topology.NodeID(b))
				require.Equal(t, shared-1, level, "%v and %v", nodes[a], nodes[b])
			}
		}
	}
}

// TestDistanceIsAnUltrametric: of three nodes with all labels, the two largest distances are equal.
func TestDistanceIsAnUltrametric(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var nodes [][]string
	for range 30 {
		nodes = append(nodes, []string{fmt.Sprint(rng.IntN(2)), fmt.Sprint(rng.IntN(2)), fmt.Sprint(rng.IntN(3)), fmt.Sprint(rng.IntN(3))})
	}
	tree, err := topology.NewTree(forest(t, nodes...), treeLevels...)
	require.NoError(t, err)
	for a := range topology.NodeID(30) {
		for b := range topology.NodeID(30) {
			ab := tree.Distance(a, b)
			require.Equal(t, ab, tree.Distance(b, a))
			for c := range topology.NodeID(30) {
				if tree.Distance(a, c) > max(ab, tree.Distance(b, c)) {
					t.Fatalf("%v, %v, %v", nodes[a], nodes[b], nodes[c])
				}
			}
		}
	}
}

func TestTreeOfBadLevelsIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		levels []string
		says   string
	}{
		"an empty key":    {[]string{"zone", ""}, `topology: tree level 1: key "" is empty or given twice`},
		"a key twice":     {[]string{"zone", "rack", "zone"}, `topology: tree level 2: key "zone" is empty or given twice`},
		"a key, repeated": {[]string{"zone", "zone"}, `topology: tree level 1: key "zone" is empty or given twice`},
	} {
		t.Run(name, func(t *testing.T) {
			var x topology.Index
			tree, err := topology.NewTree(&x, c.levels...)
			assert.Nil(t, tree)
			assert.EqualError(t, err, c.says)
			assert.Equal(t, topology.KeyID(0), x.Key("other"), "no key was interned")
		})
	}
}

// TestTreeIsAViewOfThen: later nodes and labels are not in it.
func TestTreeIsAViewOfThen(t *testing.T) {
	x := forest(t, []string{"eu", "a", "r1", "h0"}, []string{"eu", "a", "r1", "h1"})
	tree, err := topology.NewTree(x, treeLevels...)
	require.NoError(t, err)
	x.Relabel(1, map[string]string{"region": "us"})
	assert.Equal(t, 1, tree.Distance(0, 1))
}

func TestDistanceIsFree(t *testing.T) {
	tree, err := topology.NewTree(forest(t, []string{"eu", "a", "r1", "h0"}, []string{"us", "a", "r1", "h1"}), treeLevels...)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if tree.Distance(0, 1) != 4 {
			panic("wrong")
		}
	}))
}

// TestTreeWithoutLevels: all nodes are in one place.
func TestTreeWithoutLevels(t *testing.T) {
	tree, err := topology.NewTree(forest(t, []string{"eu"}, []string{"us"}))
	require.NoError(t, err)
	_, level := tree.Common(0, 1)
	assert.Equal(t, -1, level)
	assert.Zero(t, tree.Distance(0, 1))
}
