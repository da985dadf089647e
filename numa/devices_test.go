package numa

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// gpuMachine has n GPUs with random links and some NICs on random nodes.
func gpuMachine(rng *rand.Rand, gpus, nics int) *Machine {
	m := &Machine{Nodes: []Node{{ID: 0}, {ID: 1}}}
	for i := range gpus + nics {
		d := Device{Name: fmt.Sprint("d", i), Resource: "gpu", Kind: DeviceGPU, Nodes: MaskOf(rng.IntN(2))}
		if i >= gpus {
			d.Resource, d.Kind = "nic", DeviceNIC
		}
		m.Devices = append(m.Devices, d)
		for j := range i {
			if rng.IntN(3) > 0 {
				m.Links = append(m.Links, Link{A: j, B: i, Kind: LinkKind(1 + rng.IntN(int(LinkNV))), Count: 1 + rng.IntN(6)})
			}
		}
	}
	return m
}

// total is the affinity over all pairs.
func total(l *Layout, devices []int32) int64 {
	sum := int64(0)
	for i, a := range devices {
		for _, b := range devices[:i] {
			sum += l.affinity[a][b]
		}
	}
	return sum
}

// exhaustive goes through all choices of one quota, lower devices first.
func exhaustive(l *Layout, free, fixed []int32, n int) []int32 {
	var best []int32
	most := int64(-1)
	var walk func(start int, chosen []int32)
	walk = func(start int, chosen []int32) {
		if len(chosen) == n {
			if v := total(l, append(slices.Clone(chosen), fixed...)); v > most {
				best, most = slices.Clone(chosen), v
			}
			return
		}
		for i := start; i < len(free); i++ {
			walk(i+1, append(chosen, free[i]))
		}
	}
	walk(0, nil)
	return best
}

func TestBestConnectedEqualsExhaustiveSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for range rounds(400) {
		l := mustCompile(gpuMachine(rng, 2+rng.IntN(9), 0))
		var free, fixed []int32
		for i := range l.devices {
			if rng.IntN(5) == 0 {
				fixed = append(fixed, int32(i))
			} else {
				free = append(free, int32(i))
			}
		}
		n := rng.IntN(len(free) + 1)
		w := work{left: 1 << 30}
		got := l.bestConnected([]quota{{free, n}}, fixed, &w)
		want := exhaustive(l, free, fixed, n)
		all := func(s []int32) []int32 { return append(slices.Clone(s), fixed...) }
		if len(got) != n || total(l, all(got)) != total(l, all(want)) {
			t.Fatalf("%d of %v with %v: got %v (%d), want %v (%d)", n, free, fixed, got, total(l, all(got)), want, total(l, all(want)))
		}
	}
}

func TestSeveralResourcesAreChosenTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for range rounds(200) {
		l := mustCompile(gpuMachine(rng, 2+rng.IntN(4), 2+rng.IntN(3)))
		var gpus, nics []int32
		for i, d := range l.devices {
			if d.Kind == DeviceGPU {
				gpus = append(gpus, int32(i))
			} else {
				nics = append(nics, int32(i))
			}
		}
		g, n := 1+rng.IntN(len(gpus)), 1+rng.IntN(len(nics))
		w := work{left: 1 << 30}
		got := l.bestConnected([]quota{{gpus, g}, {nics, n}}, nil, &w)
		most := int64(0)
		// For each set of NICs the best GPUs: all pairs of sets are covered.
		var walk func(start int, chosen []int32)
		walk = func(start int, chosen []int32) {
			if len(chosen) == n {
				most = max(most, total(l, append(exhaustive(l, gpus, chosen, g), chosen...)))
				return
			}
			for i := start; i < len(nics); i++ {
				walk(i+1, append(slices.Clone(chosen), nics[i]))
			}
		}
		walk(0, nil)
		if len(got) != g+n || total(l, got) != most {
			t.Fatalf("%d of %v and %d of %v: got %v (%d), want %d", g, gpus, n, nics, got, total(l, got), most)
		}
	}
}

func TestBestConnectedRefusesBadNames(t *testing.T) {
	l := mustCompile(gpuMachine(rand.New(rand.NewPCG(1, 1)), 3, 0))
	for _, c := range []struct {
		names []string
		n     int
	}{{[]string{"d0", "x"}, 1}, {[]string{"d0", "d0"}, 1}, {[]string{"d0"}, 2}, {[]string{"d0"}, -1}} {
		if _, _, err := l.BestConnected(c.names, nil, c.n, 0); !errors.Is(err, ErrRequest) {
			t.Errorf("%v choose %d: got %v", c.names, c.n, err)
		}
	}
	got, exact, err := l.BestConnected([]string{"d0", "d1", "d2"}, nil, 2, 1)
	if err != nil || exact || len(got) != 2 {
		t.Errorf("budget of one step: %v %v %v", got, exact, err)
	}
}

// hybridCube is a DGX-1: NVLinks of two quads joined as a cube mesh, from
// nvidia-smi's table.
func hybridCube() [8][8]int {
	return [8][8]int{
		{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
		{2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
	}
}

// BenchmarkGPUs chooses k of 16 GPUs: two hybrid cubes joined by PCI, and a
// machine with random links, beside going through all sets.
func BenchmarkGPUs(b *testing.B) {
	cubes := &Machine{Nodes: []Node{{ID: 0}, {ID: 1}}}
	for i := range 16 {
		cubes.Devices = append(cubes.Devices, Device{Name: fmt.Sprint("d", i), Resource: "gpu", Nodes: MaskOf(i / 8)})
		for j := range i {
			if n := hybridCube()[i%8][j%8]; i/8 == j/8 && n > 0 {
				cubes.Links = append(cubes.Links, Link{A: j, B: i, Kind: LinkNV, Count: n})
			}
		}
	}
	for _, c := range []struct {
		name string
		m    *Machine
	}{{"cubes", cubes}, {"random", gpuMachine(rand.New(rand.NewPCG(1, 2)), 16, 0)}} {
		l := mustCompile(c.m)
		free := indexRange(16)
		for _, k := range []int{2, 4, 8, 12} {
			b.Run(fmt.Sprintf("machine=%s/k=%d/search", c.name, k), func(b *testing.B) {
				steps := 0
				for b.Loop() {
					w := work{left: defaultBudget}
					l.bestConnected([]quota{{free, k}}, nil, &w)
					steps += w.done
				}
				b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
			})
			b.Run(fmt.Sprintf("machine=%s/k=%d/exhaustive", c.name, k), func(b *testing.B) {
				for b.Loop() {
					exhaustive(l, free, nil, k)
				}
			})
		}
	}
}
