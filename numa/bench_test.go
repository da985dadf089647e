package numa

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// altix is an SGI Altix as the hwloc tree 256ia64-64n2s2c shows it: 64 nodes
// of 2 packages of 2 cores, distances growing with the routers in between.
func altix() *Machine {
	m := gridMachine(rand.New(rand.NewPCG(1, 1)), firstIDs(64), 4, 1, 1)
	for i := range m.Distances {
		for j := range m.Distances[i] {
			switch {
			case i == j:
				m.Distances[i][j] = 10
			case i/2 == j/2:
				m.Distances[i][j] = 22
			case i/8 == j/8:
				m.Distances[i][j] = 26
			case i/32 == j/32:
				m.Distances[i][j] = 30
			default:
				m.Distances[i][j] = 34
			}
		}
	}
	return m
}

// gb200 is a GB200 board: 2 CPU nodes, 4 GPU memory nodes and the 28 empty
// nodes kept for MIG instances.
func gb200() *Machine {
	m := &Machine{}
	for id := range 34 {
		n := Node{ID: id}
		switch {
		case id < 2:
			n.Memory = []Memory{{Bytes: 489_935 << 20}}
		case (id-2)%8 == 0:
			n.Memory = []Memory{{Bytes: 188_416 << 20}}
			n.Tier = TierDevice
		}
		m.Nodes = append(m.Nodes, n)
		row := make([]int, 34)
		for j := range row {
			switch {
			case j == id:
				row[j] = 10
			case id < 2 && j < 2:
				row[j] = 40
			case id < 2 || j < 2:
				row[j] = 80
			default:
				row[j] = 255
			}
		}
		m.Distances = append(m.Distances, row)
	}
	for cpu := range 144 {
		m.CPUs = append(m.CPUs, CPU{ID: cpu, Core: cpu, Package: cpu / 72, Node: cpu / 72})
	}
	return m
}

func firstIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// busyResources is a machine in use: CPUs, memory and devices partly taken,
// a request that needs about span nodes of each.
func busyResources(rng *rand.Rand, l *Layout, count, span int) []Resource {
	rs := make([]Resource, count)
	for i := range rs {
		rs[i].Name = fmt.Sprint("r", i)
		d := Demand{Amount: int64(span*8 - 2)}
		for _, id := range l.nodeIDs {
			d.Supply = append(d.Supply, Supply{Nodes: MaskOf(id), Total: 8, Free: 3 + rng.Int64N(6)})
		}
		rs[i].Demands = []Demand{d}
	}
	return rs
}

func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	machines := []struct {
		name      string
		m         *Machine
		resources int
	}{
		{"2", gridMachine(rng, firstIDs(2), 8, 2, 1), 4},
		{"8", gridMachine(rng, firstIDs(8), 8, 2, 4), 6},
		{"34", gb200(), 4},
		{"64", altix(), 4},
	}
	for _, c := range machines {
		l := mustCompile(c.m)
		for _, span := range []int{1, 2, 4, 8, 24} {
			if span > len(l.nodeIDs)/2 {
				continue
			}
			for _, closest := range []bool{false, true} {
				b.Run(fmt.Sprintf("nodes=%s/resources=%d/span=%d/closest=%v", c.name, c.resources, span, closest), func(b *testing.B) {
					rng := rand.New(rand.NewPCG(7, uint64(span)))
					cases := make([][]Resource, 64)
					for i := range cases {
						cases[i] = busyResources(rng, l, c.resources, span)
					}
					cfg := MergeConfig{Policy: PolicyRestricted, PreferClosest: closest}
					steps, cut := 0, 0
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						r, err := l.Merge(cfg, cases[i%len(cases)])
						if err != nil {
							b.Fatal(err)
						}
						steps += r.Steps
						if !r.Exact {
							cut++
						}
						i++
					}
					b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
					b.ReportMetric(float64(cut)/float64(b.N), "cut/op")
				})
			}
		}
	}
}

// BenchmarkCPUs takes a tenth, a half and most of the free CPUs of machines
// that are partly in use.
func BenchmarkCPUs(b *testing.B) {
	for _, c := range []struct {
		mode           string
		nodes, cores   int
		nodesPerSocket int
		o              CPUOptions
	}{
		{"packed", 2, 32, 1, CPUOptions{}},
		{"packed", 8, 16, 4, CPUOptions{}},
		{"packed", 64, 8, 4, CPUOptions{}},
		{"distributed", 2, 32, 1, CPUOptions{AcrossNodes: true}},
		{"distributed", 8, 16, 4, CPUOptions{AcrossNodes: true}},
		{"distributed", 8, 16, 4, CPUOptions{AcrossNodes: true, FullCores: true}},
		{"distributed", 64, 8, 4, CPUOptions{AcrossNodes: true}},
		{"distributed", 64, 8, 4, CPUOptions{AcrossNodes: true, FullCores: true}},
	} {
		l := mustCompile(gridMachine(rand.New(rand.NewPCG(1, 2)), firstIDs(c.nodes), c.cores, 2, c.nodesPerSocket))
		total := len(l.cpuIDs)
		rng := rand.New(rand.NewPCG(7, 8))
		free := make([]CPUSet, 16)
		for i := range free {
			for free[i].Len() < total/2 {
				free[i] = randomFree(rng, l)
			}
		}
		for _, tenths := range []int{1, 5, 9} {
			mode := c.mode
			if c.o.FullCores {
				mode += "+full"
			}
			b.Run(fmt.Sprintf("mode=%s/cpus=%d/nodes=%d/take=%d0%%", mode, total, c.nodes, tenths), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					f := free[i%len(free)]
					if _, err := l.TakeCPUs(f, f.Len()*tenths/20*2, c.o); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}
