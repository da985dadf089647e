package score

import (
	"math/rand/v2"

	"github.com/berth-go/berth/topology"
)

// Random chooses among the feasible nodes with equal chances, and so among the GPUs that have room for a share: the
// baseline of all strategies. Its draws follow from the seed and the calls before, so that a run repeats; each decision
// moves it on. Make one with NewRandom.
type Random struct {
	random *rand.Rand
}

// NewRandom returns the Random of a seed.
func NewRandom(seed uint64) *Random {
	return &Random{rand.New(rand.NewPCG(seed, 0))}
}

// Name returns "Random".
func (*Random) Name() string { return "Random" }

// Score draws a number for each node. It is not Local: each decision needs draws of its own.
func (r *Random) Score(_ *Input, nodes []topology.NodeID, column []int64) error {
	const bound = 1 << 40 // two equal draws are unlikely, and weights don't overflow
	for _, n := range nodes {
		column[n] = r.random.Int64N(bound)
	}
	return nil
}

// PickDevices draws the GPU of a share. Whole ones are left to Graph.Bind: they are all alike.
func (r *Random) PickDevices(in *Input, n topology.NodeID) []int {
	if !isShare(&in.Pod.GPU) {
		return nil
	}
	var fit []int
	for d, free := range in.Graph.GPUFree(n) {
		if free >= in.Pod.GPU.Milli {
			fit = append(fit, d)
		}
	}
	return []int{fit[r.random.IntN(len(fit))]}
}
