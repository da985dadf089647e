package numa

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestScoresOrderWhatTheyAreNamedFor(t *testing.T) {
	m := gridMachine(rand.New(rand.NewPCG(1, 1)), firstIDs(2), 4, 2, 1)
	m.Distances = [][]int{{10, 20}, {20, 10}}
	m.Nodes[0].Bandwidth, m.Nodes[1].Bandwidth = 100, 100
	m.Devices = []Device{{Name: "g0", Resource: "gpu", Nodes: MaskOf(0)}, {Name: "g1", Resource: "gpu", Nodes: MaskOf(0)}, {Name: "g2", Resource: "gpu", Nodes: MaskOf(1)}}
	m.Links = []Link{{A: 0, B: 1, Kind: LinkNV, Count: 2}}
	l := mustCompile(m)
	s, err := NewState(l, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(&Placement{Name: "busy", Containers: []ContainerPlacement{{CPUs: CPUs(8, 9, 10, 11)}}}); err != nil {
		t.Fatal(err)
	}
	on := func(nodes Mask, cpus CPUSet, devices ...string) *Placement {
		return &Placement{Name: "p", Containers: []ContainerPlacement{{Hint: Hint{Nodes: nodes}, CPUs: cpus, Devices: devices}}}
	}
	for _, c := range []struct {
		name          string
		score         Score
		better, worse *Placement
		want          float64 // of better
	}{
		{"fewest nodes", ScoreFewestNodes, on(MaskOf(0), CPUs(0, 1)), on(MaskOf(0, 1), CPUs(0, 12)), 1},
		{"distance", ScoreDistance, on(MaskOf(0), CPUs(0)), on(MaskOf(0, 1), CPUs(0, 12)), 1},
		{"least allocated", ScoreLeastAllocated, on(MaskOf(0), CPUs(0, 1)), on(MaskOf(1), CPUs(12, 13)), (0.75 + 1) / 2},
		{"most allocated", ScoreMostAllocated, on(MaskOf(1), CPUs(12, 13)), on(MaskOf(0), CPUs(0, 1)), 0.75 / 2},
		{"balanced", ScoreBalancedAllocated, on(MaskOf(0), CPUs(0)), on(MaskOf(0), CPUs(0, 1, 2, 3)), 1 - 0.125/2},
		{"bandwidth", ScoreBandwidth, on(MaskOf(0), CPUs(0)), on(MaskOf(1), CPUs(12)), 1},
		{"links", ScoreLinks, on(MaskOf(0), CPUSet{}, "g0", "g1"), on(MaskOf(0), CPUSet{}, "g0", "g2"), 1},
		{"fragmentation", ScoreFragmentation, on(MaskOf(1), CPUs(12, 13)), on(MaskOf(0), CPUs(0, 2)), (10.0 + 8) / 20},
	} {
		better, worse := c.score(s, c.better), c.score(s, c.worse)
		if better <= worse || math.Abs(better-c.want) > 1e-9 {
			t.Errorf("%s: %v (want %v) and %v", c.name, better, c.want, worse)
		}
	}
}

func TestScoresAreShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	scores := []Score{ScoreFewestNodes, ScoreDistance, ScoreLeastAllocated, ScoreMostAllocated, ScoreBalancedAllocated, ScoreBandwidth, ScoreLinks, ScoreFragmentation}
	for range 300 {
		s, err := NewState(mustCompile(randomMachine(rng)), randomConfig(rng))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			p, err := s.Plan(randomRequest(rng, fmt.Sprint("pod", i)))
			if err != nil {
				continue
			}
			for k, score := range scores {
				if v := score(s, p); !(v >= 0 && v <= 1) {
					t.Fatalf("score %d is %v for %+v", k, v, p)
				}
			}
			if err := s.Apply(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}
