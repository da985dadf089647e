package numa

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/internal/invariants"
)

var steps = flag.Int("berth.steps", 1, "multiplies the number of random steps of the long tests")

// rounds scales a number of random steps: by the flag, and down in race
// builds, which are several times slower.
func rounds(n int) int {
	if invariants.Enabled {
		n /= 5
	}
	return n * *steps
}

func randomIDs(rng *rand.Rand, n int) []int {
	ids := make([]int, n)
	next := 0
	for i := range ids {
		if rng.IntN(3) == 0 {
			next += rng.IntN(90)
		}
		ids[i] = next
		next++
	}
	return ids
}

func randomLists(rng *rand.Rand, ids []int) [][]Hint {
	lists := make([][]Hint, rng.IntN(5))
	for i := range lists {
		switch rng.IntN(8) {
		case 0:
			continue
		case 1:
			lists[i] = []Hint{}
			continue
		}
		for range 1 + rng.IntN(5) {
			h := Hint{Preferred: rng.IntN(2) == 0, Any: rng.IntN(8) == 0}
			for _, id := range ids {
				if !h.Any && rng.IntN(2) == 0 {
					h.Nodes.Add(id)
				}
			}
			if rng.IntN(10) == 0 {
				h.Nodes.Add(MaxNodeID)
			}
			lists[i] = append(lists[i], h)
		}
	}
	return lists
}

func TestMergeHintsEqualsTheProductOfTheLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range rounds(20_000) {
		ids := randomIDs(rng, 1+rng.IntN(6))
		l := mustCompile(gridMachine(rng, ids, 1, 1, 1))
		lists := randomLists(rng, ids)
		for p := PolicyBestEffort; p <= PolicySingleNode; p++ {
			for _, closest := range []bool{false, true} {
				got, admit := l.MergeHints(p, closest, lists)
				norm := make([][]Hint, len(lists))
				for i := range lists {
					norm[i] = lists[i]
					if lists[i] == nil {
						norm[i] = []Hint{{Any: true, Preferred: true}}
					} else if len(lists[i]) == 0 {
						norm[i] = []Hint{{Any: true}}
					}
					if p == PolicySingleNode {
						norm[i] = onlySingle(norm[i])
					}
				}
				want, wantAdmit := l.finish(p, productMerge(l, norm, closest && p != PolicySingleNode))
				if got != want || admit != wantAdmit {
					t.Fatalf("step %d %v closest=%v lists %v: got %v %v, want %v %v", step, p, closest, lists, got, admit, want, wantAdmit)
				}
			}
		}
	}
}

func TestMergeHintsSparseEqualsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		ids := randomIDs(rng, 1+rng.IntN(6))
		l := mustCompile(gridMachine(rng, ids, 1, 1, 1))
		var lists [][]Hint
		for _, list := range randomLists(rng, ids) {
			if len(list) > 0 {
				lists = append(lists, list)
			}
		}
		dense, sparse := chooser{l: l, best: 2}, chooser{l: l, best: 2}
		l.denseIntersections(lists, &dense)
		l.sparseIntersections(lists, &sparse)
		if dense.have != sparse.have || dense.mask != sparse.mask {
			t.Fatalf("lists %v: dense %v, sparse %v", lists, dense.mask, sparse.mask)
		}
	}
}

// randomResources draws CPU-like, memory-like (grouped, two demands) and
// device-like resources (few nodes, some devices on two nodes).
func randomResources(rng *rand.Rand, l *Layout) ([]Resource, []Mask) {
	ids := l.nodeIDs
	var groups []Mask
	order := rng.Perm(len(ids))
	for len(order) > 0 && rng.IntN(3) == 0 {
		k := min(1+rng.IntN(3), len(order))
		var g Mask
		for _, i := range order[:k] {
			g.Add(ids[i])
		}
		groups = append(groups, g)
		order = order[k:]
	}
	uniform := rng.IntN(2) == 0
	var rs []Resource
	for i := range rng.IntN(5) {
		r := Resource{Name: fmt.Sprint("r", i)}
		kind := rng.IntN(4)
		r.Grouped = kind == 1
		demands := 1
		if kind == 1 {
			demands = 1 + rng.IntN(2)
		}
		for range demands {
			d := Demand{}
			sum := int64(0)
			for _, id := range ids {
				if kind == 2 && rng.IntN(2) == 0 {
					continue
				}
				s := Supply{Nodes: MaskOf(id), Total: 8}
				if !uniform {
					s.Total = rng.Int64N(9)
				}
				s.Free = rng.Int64N(s.Total + 1)
				if kind == 2 && rng.IntN(3) == 0 {
					s.Nodes.Add(ids[rng.IntN(len(ids))])
				}
				sum += s.Free
				d.Supply = append(d.Supply, s)
			}
			d.Amount = rng.Int64N(sum + 2)
			if rng.IntN(2) == 0 {
				d.Amount = min(d.Amount, 12)
			}
			r.Demands = append(r.Demands, d)
		}
		if kind == 1 || kind == 3 {
			r.Nodes = l.all
		}
		if kind == 0 && rng.IntN(4) == 0 {
			r.AlignSockets = true
		}
		if kind != 1 && rng.IntN(6) == 0 {
			r.Must = []Mask{MaskOf(ids[rng.IntN(len(ids))], ids[rng.IntN(len(ids))])}
		}
		rs = append(rs, r)
	}
	return rs, groups
}

func TestMergeEqualsMergingAllMasks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for step := range rounds(6_000) {
		n := 1 + rng.IntN(7)
		if step%400 == 100 {
			n = 12
		}
		ids := randomIDs(rng, n)
		l := mustCompile(gridMachine(rng, ids, 1, 1, 1+rng.IntN(3)))
		rs, groups := randomResources(rng, l)
		lists := make([][]Hint, len(rs))
		for i := range rs {
			lists[i] = listHints(l, &rs[i], groups)
		}
		for p := PolicyNone; p <= PolicySingleNode; p++ {
			for _, closest := range []bool{false, true} {
				want, wantAdmit := l.MergeHints(p, closest, lists)
				got, err := l.Merge(MergeConfig{Policy: p, PreferClosest: closest, Groups: groups, Budget: 1 << 30}, rs)
				if err != nil {
					t.Fatal(err)
				}
				if got.Hint != want || got.Admit != wantAdmit || !got.Exact {
					t.Fatalf("step %d n=%d %v closest=%v: got %+v, want %+v %v\nresources %+v\ngroups %v", step, n, p, closest, got, want, wantAdmit, rs, groups)
				}
			}
		}
	}
}
