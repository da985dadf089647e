package score

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth/topology"
)

// BenchmarkSplit is what nodesPerWorker rests on: the time of a split between two goroutines over that of the loop, in turn,
// by the number of nodes, with work of some 13 ns a node.
func BenchmarkSplit(b *testing.B) {
	for _, n := range []int{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			nodes, column := make([]topology.NodeID, n), make([]int64, n)
			for i := range nodes {
				nodes[i] = topology.NodeID(i)
			}
			do := func(_ int, chunk []topology.NodeID) error {
				for _, n := range chunk {
					x := int64(n) + 1
					column[n] = 1_000_000/x + 2_000_000/(x+1) + 3_000_000/(x+2) + 4_000_000/(x+3) + 5_000_000/(x+4) + 6_000_000/(x+5)
				}
				return nil
			}
			var taken [2][]time.Duration
			for b.Loop() {
				for i := range taken {
					start := time.Now()
					if err := chunks(context.Background(), i+1, nodes, do); err != nil {
						b.Fatal(err)
					}
					taken[i] = append(taken[i], time.Since(start))
				}
			}
			for i := range taken {
				slices.Sort(taken[i])
			}
			one, two := taken[0][len(taken[0])/2], taken[1][len(taken[1])/2]
			b.ReportMetric(float64(one)/float64(n), "ns/node")
			b.ReportMetric(float64(two)/float64(one), "split/loop")
		})
	}
}
