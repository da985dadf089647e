package reference

import "github.com/berth-go/berth"

// Config holds the arguments of the plugins. The zero value is kube-scheduler's default configuration.
type Config struct {
	// HardPodAffinityWeight is the weight of placed pods' required affinity terms in the InterPodAffinity score.
	// Nil means 1.
	HardPodAffinityWeight *int32
	// IgnorePreferredTermsOfExistingPods leaves the InterPodAffinity score out for pods without preferred terms.
	IgnorePreferredTermsOfExistingPods bool
	// FitStrategy is the formula of the NodeResourcesFit score. Empty means LeastAllocated.
	FitStrategy FitStrategy
	// FitResources are the resources of the NodeResourcesFit score. Empty means cpu and memory, weight 1 each.
	FitResources []ResourceSpec
	// FitShape is the function of RequestedToCapacityRatio; it must not be empty for that strategy.
	FitShape []ShapePoint
	// BalancedResources are those of NodeResourcesBalancedAllocation. Empty means cpu and memory.
	BalancedResources []ResourceSpec
	// DefaultConstraints spread pods that have no constraints of their own. Nil means the system defaults: 3 by hostname
	// and 5 by zone, soft, nodes that lack a key not ignored. Empty but not nil means none.
	DefaultConstraints []berth.TopologySpreadConstraint
	// Weights are the weights of score plugins by name; one that is absent is off. Nil means the default weights.
	Weights map[string]int64
}

// FitStrategy names a formula of the NodeResourcesFit score.
type FitStrategy string

// The strategies.
const (
	LeastAllocated           FitStrategy = "LeastAllocated"
	MostAllocated            FitStrategy = "MostAllocated"
	RequestedToCapacityRatio FitStrategy = "RequestedToCapacityRatio"
)

// ResourceSpec gives a resource a weight; 0 means 1.
type ResourceSpec struct {
	Name   string
	Weight int64
}

// ShapePoint is a point of a piecewise linear function. Utilization is in 0..100, rising; Score is in 0..10.
type ShapePoint struct {
	Utilization int64
	Score       int64
}

func (c *Config) hardPodAffinityWeight() int32 {
	if c.HardPodAffinityWeight == nil {
		return 1
	}
	return *c.HardPodAffinityWeight
}

func resourcesOrDefault(specs []ResourceSpec) []ResourceSpec {
	if len(specs) == 0 {
		return []ResourceSpec{{berth.ResourceCPU, 1}, {berth.ResourceMemory, 1}}
	}
	out := make([]ResourceSpec, len(specs))
	for i, s := range specs {
		if s.Weight == 0 {
			s.Weight = 1
		}
		out[i] = s
	}
	return out
}

// defaultConstraints returns the spread constraints of pods without own ones, and whether they are the system's.
func (c *Config) defaultConstraints() (constraints []berth.TopologySpreadConstraint, system bool) {
	if c.DefaultConstraints != nil {
		return c.DefaultConstraints, false
	}
	return []berth.TopologySpreadConstraint{
		{MaxSkew: 3, TopologyKey: berth.LabelHostname, WhenUnsatisfiable: berth.ScheduleAnyway},
		{MaxSkew: 5, TopologyKey: berth.LabelZone, WhenUnsatisfiable: berth.ScheduleAnyway},
	}, true
}

// weights are kube-scheduler's defaults (pkg/scheduler/apis/config/v1/default_plugins.go) unless configured.
func (c *Config) weights() map[string]int64 {
	if c.Weights != nil {
		return c.Weights
	}
	return map[string]int64{
		TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
		NodeResourcesFit: 1, NodeResourcesBalancedAllocation: 1, ImageLocality: 1,
	}
}
