package hashtable

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTableEqualsAMap adds and removes at random, with hashes that collide.
func TestTableEqualsAMap(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var table Table[int]
		want := make(map[int]bool)
		hash := func(item int) uint32 { return Fold(uint64(item) % (1 + seed*3)) }
		find := func(item int) int {
			if table.Len() == 0 {
				return -1
			}
			for i := table.At(hash(item)); table.Entries[i].Hash != 0; i = table.After(i) {
				if table.Entries[i].Item == item {
					return i
				}
			}
			return -1
		}
		for range 1000 {
			item := rng.IntN(200)
			if at := find(item); at >= 0 != want[item] {
				t.Fatalf("seed %d: item %d is at %d, want it there: %v", seed, item, at, want[item])
			} else if want[item] {
				table.Remove(at)
				delete(want, item)
			} else {
				table.Add(hash(item), item)
				want[item] = true
			}
		}
		var got []int
		for _, e := range table.Entries {
			if e.Hash != 0 {
				got = append(got, e.Item)
			}
		}
		slices.Sort(got)
		if items := slices.Sorted(maps.Keys(want)); !slices.Equal(got, items) || table.Len() != len(items) {
			t.Fatalf("seed %d: %v, want %v", seed, got, items)
		}
	}
}
