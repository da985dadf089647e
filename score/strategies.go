package score

import "github.com/berth-go/berth/affinity"

// Config configures a Pipeline. The zero value is kube-scheduler's default profile.
type Config struct {
	// Profile configures the filters and the built-in scores.
	Profile affinity.ProfileConfig
	// Filters are asked after the rules, in their order.
	Filters []Filter
	// Scorers are added to the built-in scores (see ProfileConfig.NoScores).
	Scorers []Weighted
	// Reservers are told where a pod goes, in their order.
	Reservers []Reserver
	// Registry holds more plugins, which are used after those above. It may change between decisions.
	Registry *Registry
	// Signals are scores, and refusals, that may be late.
	Signals []Signal
	// Workers is how many goroutines a decision may use for scorers that are Concurrent, the caller's among them; they live
	// no longer than the call. 0 means 1. The decision is the same for any number.
	Workers int
	// MaxColumnBytes bounds the columns kept for Local scorers. 0 means 64 MiB.
	MaxColumnBytes int
}

// KubeDefault is kube-scheduler's default profile: all built-in scores with its weights.
func KubeDefault() Config { return Config{} }

// Single is one built-in score alone.
func Single(s affinity.Scorer) Config {
	var c Config
	c.Profile.Weights[s] = 1
	return c
}

// LeastAllocated prefers the node with the most left (plugins/noderesources/least_allocated.go).
func LeastAllocated() Config { return Single(affinity.ScoreNodeResourcesFit) }

// MostAllocated prefers the fullest node (plugins/noderesources/most_allocated.go).
func MostAllocated() Config {
	c := Single(affinity.ScoreNodeResourcesFit)
	c.Profile.Fit = affinity.MostAllocated
	return c
}

// RequestedToCapacityRatio scores utilisation by a piecewise linear function
// (plugins/noderesources/requested_to_capacity_ratio.go).
func RequestedToCapacityRatio(shape ...affinity.ShapePoint) Config {
	c := Single(affinity.ScoreNodeResourcesFit)
	c.Profile.Fit = affinity.RequestedToCapacityRatio
	c.Profile.FitShape = shape
	return c
}

// BalancedAllocation prefers the node whose use of resources the pod makes more even
// (plugins/noderesources/balanced_allocation.go).
func BalancedAllocation() Config { return Single(affinity.ScoreNodeResourcesBalancedAllocation) }

// Only is a plugin alone, without built-in scores.
func Only(s Scorer) Config {
	return Config{Profile: affinity.ProfileConfig{NoScores: true}, Scorers: []Weighted{{Scorer: s}}}
}
