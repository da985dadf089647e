package affinity

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// Config configures a Graph. The zero value is ready to use.
type Config struct {
	// Seed orders nodes of equal score: by a hash of seed and name.
	Seed uint64
	// Order, if not nil, orders nodes of equal score in place of Seed: the lowest value wins, then the lower name. It is
	// called once for each node that is added.
	Order func(node string) uint32
	// MaxColumnBytes bounds the memory of the sorted nodes that are kept for the demands (requests, tolerations, node
	// selection) of the classes that were scheduled last: beyond it the least recently used are dropped, but never the
	// last. They take 20 bytes a node for each kind of demand. 0 means 16 MiB, or 128 bytes a node if that is more.
	MaxColumnBytes int
	// MaxPlans is for how many classes the compiled rules are kept, in all profiles together. 0 means 8192.
	MaxPlans int
	// MaxIdleClasses is how many classes without pods are kept. 0 means 1024.
	MaxIdleClasses int
}

// Weights are the weights of the built-in scores, by Scorer. A score of weight 0 is not computed.
type Weights [Scorers]int64

// DefaultWeights are kube-scheduler's (pkg/scheduler/apis/config/v1/default_plugins.go).
func DefaultWeights() Weights {
	return Weights{
		ScoreTaintToleration:                 3,
		ScoreNodeAffinity:                    2,
		ScorePodTopologySpread:               2,
		ScoreInterPodAffinity:                2,
		ScoreNodeResourcesFit:                1,
		ScoreNodeResourcesBalancedAllocation: 1,
		ScoreImageLocality:                   1,
	}
}

// FitStrategy is how NodeResourcesFit scores.
type FitStrategy uint8

// The strategies (pkg/scheduler/framework/plugins/noderesources).
const (
	LeastAllocated FitStrategy = iota
	MostAllocated
	RequestedToCapacityRatio
)

// ResourceWeight is a resource and its weight, in 1..100, in a resource score.
type ResourceWeight struct {
	Name   string
	Weight int64
}

// ShapePoint is a point of the piecewise linear function of RequestedToCapacityRatio.
type ShapePoint struct {
	// Utilization is in 0..100 and ascends from point to point.
	Utilization int64
	// Score is in 0..10.
	Score int64
}

// ProfileConfig configures a Profile. The zero value is kube-scheduler's default profile.
type ProfileConfig struct {
	// Weights of the scores; all zero means DefaultWeights.
	Weights Weights
	// NoScores leaves out the built-in scores, whatever Weights are.
	NoScores bool
	// Fit is the strategy of NodeResourcesFit.
	Fit FitStrategy
	// FitResources are what it looks at; nil means cpu and memory, 1 each.
	FitResources []ResourceWeight
	// FitShape is the function of RequestedToCapacityRatio.
	FitShape []ShapePoint
	// BalancedResources are the names that NodeResourcesBalancedAllocation looks at; nil means cpu and memory.
	BalancedResources []string
	// HardPodAffinityWeight is what a required affinity term of a placed pod adds to the InterPodAffinity score of its
	// domain, in 1..100. 0 means 1; negative means nothing.
	HardPodAffinityWeight int64
	// IgnorePreferredTermsOfExistingPods leaves out placed pods' terms for a pod without preferred terms of its own.
	IgnorePreferredTermsOfExistingPods bool
	// DefaultConstraints are the spread constraints of pods that have none, with the pod's DefaultSpreadSelector in
	// place of their selectors. nil means kube-scheduler's: hostname with maxSkew 3 and zone with maxSkew 5, soft, and
	// nodes without a zone are scored too. Not nil but empty means none.
	DefaultConstraints []berth.TopologySpreadConstraint
}

// resolved is a ProfileConfig with its defaults filled in.
type resolved struct {
	ProfileConfig
	systemDefaulted bool
}

func (c ProfileConfig) resolve() (resolved, error) {
	r := resolved{ProfileConfig: c}
	switch {
	case r.NoScores:
		r.Weights = Weights{}
	case r.Weights == Weights{}:
		r.Weights = DefaultWeights()
	}
	for s, w := range r.Weights {
		if w < 0 || w > 1<<20 {
			return r, fmt.Errorf("%w: weight of %v is %d, not in 0..%d", ErrConfig, Scorer(s), w, 1<<20)
		}
	}
	if err := r.resolveResources(); err != nil {
		return r, err
	}
	switch {
	case r.HardPodAffinityWeight == 0:
		r.HardPodAffinityWeight = 1
	case r.HardPodAffinityWeight < 0:
		r.HardPodAffinityWeight = 0
	case r.HardPodAffinityWeight > 100:
		return r, fmt.Errorf("%w: HardPodAffinityWeight is %d, above 100", ErrConfig, r.HardPodAffinityWeight)
	}
	if r.DefaultConstraints == nil {
		r.systemDefaulted = true
		r.DefaultConstraints = []berth.TopologySpreadConstraint{
			{TopologyKey: berth.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: berth.ScheduleAnyway},
			{TopologyKey: berth.LabelZone, MaxSkew: 5, WhenUnsatisfiable: berth.ScheduleAnyway},
		}
	}
	r.DefaultConstraints, r.FitShape = slices.Clone(r.DefaultConstraints), slices.Clone(r.FitShape)
	pod := berth.Pod{Namespace: "any", Name: "any", TopologySpreadConstraints: r.DefaultConstraints}
	if err := berth.ValidatePod(&pod).Err(); err != nil {
		return r, fmt.Errorf("%w: DefaultConstraints: %w", ErrConfig, err)
	}
	return r, nil
}

func (r *resolved) resolveResources() error {
	if r.Fit > RequestedToCapacityRatio {
		return fmt.Errorf("%w: unknown fit strategy %d", ErrConfig, r.Fit)
	}
	if len(r.FitResources) == 0 {
		r.FitResources = []ResourceWeight{{berth.ResourceCPU, 1}, {berth.ResourceMemory, 1}}
	}
	if len(r.BalancedResources) == 0 {
		r.BalancedResources = []string{berth.ResourceCPU, berth.ResourceMemory}
	}
	for _, w := range r.FitResources {
		if w.Name == "" || w.Weight < 1 || w.Weight > 100 {
			return fmt.Errorf("%w: fit resource %q has weight %d, not in 1..100", ErrConfig, w.Name, w.Weight)
		}
	}
	if slices.Contains(r.BalancedResources, "") {
		return fmt.Errorf("%w: a balanced resource has no name", ErrConfig)
	}
	if r.Fit == RequestedToCapacityRatio && len(r.FitShape) == 0 {
		return fmt.Errorf("%w: RequestedToCapacityRatio needs a FitShape", ErrConfig)
	}
	for i, p := range r.FitShape {
		if p.Utilization < 0 || p.Utilization > 100 || p.Score < 0 || p.Score > 10 ||
			i > 0 && p.Utilization <= r.FitShape[i-1].Utilization {
			return fmt.Errorf("%w: FitShape[%d] is %+v: utilization must ascend within 0..100, score be in 0..10", ErrConfig, i, p)
		}
	}
	return nil
}
