package numa

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowPack is the packed allocation as its description reads: count, sort and
// take, everything counted anew each time.
func slowPack(l *Layout, free CPUSet, n int, o CPUOptions) (CPUSet, bool) {
	free, taken := free.Clone(), CPUSet{}
	if n > free.Len() {
		return CPUSet{}, false
	}
	key := func(level string, cpu int) int {
		p := l.place[l.cpuAt[cpu]]
		return int(map[string]int32{"node": p.node, "socket": p.socket, "core": p.core, "uncore": p.uncore}[level])
	}
	in := func(set CPUSet, level string, id int) []int {
		var cpus []int
		for c := range set.All() {
			if key(level, c) == id {
				cpus = append(cpus, c)
			}
		}
		return cpus
	}
	all := l.CPUs(l.all)
	// list orders the groups of the last level that have free CPUs inside
	// each group of the levels above.
	var list func(inside CPUSet, levels ...string) []int
	list = func(inside CPUSet, levels ...string) []int {
		var ids []int
		for c := range inside.All() {
			if id := key(levels[0], c); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b int) int {
			return cmp.Or(cmp.Compare(len(in(free, levels[0], a)), len(in(free, levels[0], b))), cmp.Compare(a, b))
		})
		if len(levels) == 1 {
			return ids
		}
		var out []int
		for _, id := range ids {
			out = append(out, list(CPUs(in(inside, levels[0], id)...), levels[1:]...)...)
		}
		return out
	}
	take := func(cpus []int) {
		for _, c := range cpus {
			free.Remove(c)
			taken.Add(c)
			n--
		}
	}
	whole := func(level string, ids []int) {
		for _, id := range ids {
			members := in(all, level, id)
			if n >= len(members) && len(in(free, level, id)) == len(members) {
				take(members)
			}
		}
	}
	upper, lower := "node", "socket"
	if len(l.socket) < l.cpuNodes {
		upper, lower = lower, upper
	}
	whole(upper, list(free, upper))
	whole(lower, list(free, upper, lower))
	if !o.AcrossCores {
		whole("core", list(free, upper, lower, "core"))
		for _, core := range list(free, upper, lower, "core") {
			cpus := in(free, "core", core)
			take(cpus[:min(n, len(cpus))])
		}
		return taken, n == 0
	}
	sockets := list(free, "socket")
	if upper == "node" {
		sockets = list(free, upper, lower)
	}
	for _, s := range sockets {
		cpus := in(free, "socket", s)
		take(cpus[:min(n, len(cpus))])
	}
	return taken, n == 0
}

// randomFree keeps each CPU with a random chance, cores sometimes as a whole.
func randomFree(rng *rand.Rand, l *Layout) CPUSet {
	var s CPUSet
	share := rng.IntN(4)
	for c := range l.core {
		whole := rng.IntN(2) == 0
		in := rng.IntN(4) >= share
		for _, cpu := range l.core[c].cpus {
			if !whole {
				in = rng.IntN(4) >= share
			}
			if in {
				s.Add(l.cpuIDs[cpu])
			}
		}
	}
	return s
}

func TestPackedEqualsTheSlowForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for step := range rounds(3_000) {
		l := mustCompile(gridMachine(rng, randomIDs(rng, 1+rng.IntN(6)), 1+rng.IntN(4), 1+rng.IntN(2), 1+rng.IntN(3)))
		free := randomFree(rng, l)
		n := rng.IntN(free.Len() + 2)
		o := CPUOptions{AcrossCores: rng.IntN(2) == 0}
		want, ok := slowPack(l, free, n, o)
		got, err := l.TakeCPUs(free, n, o)
		if ok != (err == nil) || !got.Equal(want) {
			t.Fatalf("step %d: take %d of %v (%+v): got %v %v, want %v", step, n, free, o, got, err, want)
		}
		if err != nil && !errors.Is(err, ErrNotEnough) {
			t.Fatalf("unexpected error %v", err)
		}
	}
}

// choices compares what the program chooses with what enumeration chooses.
func TestBalanceEqualsGoingThroughAllCombinations(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for step := range rounds(4_000) {
		cores := 1 + rng.IntN(6)
		l := mustCompile(gridMachine(rng, firstIDs(1+rng.IntN(7)), cores, 2, 1+rng.IntN(3)))
		o := CPUOptions{AcrossNodes: true, FullCores: rng.IntN(2) == 0, AlignSockets: rng.IntN(4) == 0}
		tk := l.newTaker(randomFree(rng, l), o)
		group := 1
		if o.FullCores {
			group = 2
		}
		n := (1 + rng.IntN(max(1, tk.left))) / group * group
		if n == 0 || n > tk.left {
			continue
		}
		fast, slow := tk.newBalance(n, group), tk.newBalance(n, group)
		for k := 1; k <= len(fast.nodes); k++ {
			ok := fast.solve(k)
			want, err := slow.enumerate(k, false)
			if err != nil {
				t.Fatal(err)
			}
			if ok != want {
				t.Fatalf("step %d: free %v want %d group %d k %d: found %v, want %v", step, fast.free, n, group, k, ok, want)
			}
			if ok && (!slices.Equal(fast.chosen, slow.chosen) || !slices.Equal(fast.extra, slow.extra) || fast.share != slow.share) {
				t.Fatalf("step %d: free %v want %d group %d k %d %+v:\ngot  %v %v %d\nwant %v %v %d", step, fast.free, n, group, k, o,
					fast.chosen, fast.extra, fast.share, slow.chosen, slow.extra, slow.share)
			}
		}
	}
}

func TestDistributedEndsWhereTheKubeletLoops(t *testing.T) {
	// kubernetes#140730: free CPUs 7, 4, 7, 7, request 22, group size 2.
	l := mustCompile(gridMachine(rand.New(rand.NewPCG(1, 1)), firstIDs(4), 4, 2, 4))
	free := l.CPUs(l.Nodes())
	for _, cpu := range []int{0, 8, 9, 10, 11, 16, 24} {
		free.Remove(cpu)
	}
	o := CPUOptions{AcrossNodes: true, FullCores: true}
	got, err := l.TakeCPUs(free, 22, o)
	if err != nil || got.Len() != 22 {
		t.Fatalf("got %v, %v", got, err)
	}
	o.Compatible = true
	if _, err := l.TakeCPUs(free, 22, o); !errors.Is(err, ErrEndless) {
		t.Fatalf("compatible: got %v, want ErrEndless", err)
	}
}
