package benchmarks

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth/topology"
)

// Pairs is a small piece of work that comes in great number: to score pairs of a pod and a node, each by what four resources
// have left. It is what ways to do it in parallel are compared on.
type Pairs struct {
	IDs    []topology.NodeID // 0, 1, ... : the pairs, as Chunks takes them
	Scores []int64
	pods   [][4]int64
	nodes  []pairNode
}

type pairNode struct{ allocatable, used [4]int64 }

// NewPairs returns n pairs of 10 pods with n/10 nodes.
func NewPairs(n int) *Pairs {
	p := &Pairs{IDs: make([]topology.NodeID, n), Scores: make([]int64, n), nodes: make([]pairNode, n/10)}
	for i := range p.IDs {
		p.IDs[i] = topology.NodeID(i)
	}
	for k := range int64(10) {
		p.pods = append(p.pods, [4]int64{100 + 50*k, (128 + 64*k) << 20, 1 << 30, 1})
	}
	for i := range p.nodes {
		k := int64(i % 97)
		p.nodes[i] = pairNode{[4]int64{64_000, 256 << 30, 1 << 40, 250}, [4]int64{500 * k, k << 30, k << 33, 2 * k}}
	}
	return p
}

// Score scores pair i: the mean over the resources of what is left after the pod, in percent. It is not
// inlined, so that all ways run the same code.
//
//go:noinline
func (p *Pairs) Score(i int) {
	pod, node := &p.pods[i/len(p.nodes)], &p.nodes[i%len(p.nodes)]
	var sum int64
	for r, request := range pod {
		if left := node.allocatable[r] - node.used[r] - request; left > 0 {
			sum += left * 100 / node.allocatable[r]
		}
	}
	p.Scores[i] = sum / int64(len(pod))
}

// Serial scores all pairs in a loop.
func (p *Pairs) Serial() {
	for i := range p.Scores {
		p.Score(i)
	}
}

// Compare times a way to score all pairs, and the serial loop in turn with it, so that both see the same machine. It reports
// the nanoseconds a pair of both (medians) and how many times as long as the loop it took: of the medians, and of the
// fastest tenths, which others on the machine disturb least.
func (p *Pairs) Compare(b *testing.B, way func()) {
	p.Serial()
	want := slices.Clone(p.Scores)
	clear(p.Scores)
	way()
	if !slices.Equal(p.Scores, want) {
		b.Fatal("the scores are not those of the serial loop")
	}
	var loop, ways []time.Duration
	b.ResetTimer()
	for range b.N { // not b.Loop: with that, the first number of -cpu is not in force when it measures
		start := time.Now()
		p.Serial()
		middle := time.Now()
		way()
		end := time.Now()
		loop, ways = append(loop, middle.Sub(start)), append(ways, end.Sub(middle))
	}
	slices.Sort(loop)
	slices.Sort(ways)
	half, tenth := len(loop)/2, len(loop)/10
	b.ReportMetric(float64(ways[half])/float64(len(p.Scores)), "ns/pair")
	b.ReportMetric(float64(loop[half])/float64(len(p.Scores)), "serial-ns/pair")
	b.ReportMetric(float64(ways[half])/float64(loop[half]), "x-serial")
	b.ReportMetric(float64(ways[tenth])/float64(loop[tenth]), "x-serial-p10")
}
