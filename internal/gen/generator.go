package gen

import (
	"math/rand/v2"

	"github.com/berth-go/berth"
)

// Cluster is a state to decide in.
type Cluster struct {
	Nodes []berth.Node
	// Pods are placed, nominated or neither. Their order is the order in which they arrived.
	Pods       []berth.Pod
	Namespaces []berth.Namespace
	Budgets    []berth.PodDisruptionBudget
}

// Generator draws specs. Make one with [New].
type Generator struct {
	rng         *rand.Rand
	o           Options
	nodes, pods int // how many names have been given out
}

// New returns a Generator that draws from rng, which it keeps.
func New(rng *rand.Rand, o Options) *Generator { return &Generator{rng: rng, o: o} }

// chance is true with the given probability.
func (g *Generator) chance(rate float64) bool { return rate > 0 && g.rng.Float64() < rate }

// between returns a number in lo..hi.
func (g *Generator) between(lo, hi int) int { return lo + g.rng.IntN(hi-lo+1) }

// pick returns one of the choices.
func pick[T any](g *Generator, choices ...T) T { return choices[g.rng.IntN(len(choices))] }

// upTo returns up to limit draws, each kept with the given probability.
func upTo[T any](g *Generator, limit int, rate float64, draw func() T) []T {
	var list []T
	for range limit {
		if g.chance(rate) {
			list = append(list, draw())
		}
	}
	return list
}
