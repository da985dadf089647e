package affinity

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/topology"
)

// TestCountsEqualAMap adds to counts and to a map, sparsely and densely in turns, while the number of domains grows.
func TestCountsEqualAMap(t *testing.T) {
	for _, bound := range []int{1, smallBound, smallBound + 1, 1000} {
		rng := rand.New(rand.NewPCG(uint64(bound), 1))
		var c counts
		want := make(map[topology.ValueID]int32)
		var added []topology.ValueID
		for round := range 6 {
			for range 2000 {
				v, d := topology.ValueID(rng.IntN(bound)), int32(1)
				if round%2 == 1 { // take away what was added
					v, d = added[len(added)-1], -1
					added = added[:len(added)-1]
				} else {
					added = append(added, v)
				}
				if want[v] += d; want[v] == 0 {
					delete(want, v)
				}
				if got := c.add(v, d, bound); got != want[v] {
					t.Fatalf("bound %d: domain %d has %d, want %d", bound, v, got, want[v])
				}
				if c.used != len(want) {
					t.Fatalf("bound %d: %d domains are used, want %d", bound, c.used, len(want))
				}
			}
			each := 0
			c.each(func(v topology.ValueID) {
				each++
				if c.at(v) != want[v] || want[v] == 0 {
					t.Fatalf("bound %d: domain %d has %d, want %d", bound, v, c.at(v), want[v])
				}
			})
			if each != len(want) || c.at(topology.ValueID(bound)) != 0 {
				t.Fatalf("bound %d: %d domains, want %d", bound, each, len(want))
			}
			bound += bound / 2
		}
	}
}
