//go:build !race

package numa

import (
	"math/rand/v2"
	"testing"
)

// What a merge takes from a sync.Pool is dropped at random in race builds, so that this counts in others only.
func TestMergeHardlyAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	l := mustCompile(gridMachine(rng, firstIDs(8), 8, 2, 4))
	rs := busyResources(rng, l, 6, 2)
	cfg := MergeConfig{Policy: PolicyRestricted}
	if n := testing.AllocsPerRun(200, func() {
		if _, err := l.Merge(cfg, rs); err != nil {
			t.Fatal(err)
		}
	}); n > 24 {
		t.Errorf("%v allocations", n)
	}
}
