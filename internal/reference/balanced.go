package reference

import (
	"math"

	"github.com/berth-go/berth"
)

// scoreBalanced is plugins/noderesources/balanced_allocation.go: how the pod changes the evenness of the node's use.
// A pod that requests none of the resources scores 0 everywhere.
func (c *Config) scoreBalanced(pod *berth.Pod, node *berth.Node, on []*berth.Pod) int64 {
	specs := resourcesOrDefault(c.BalancedResources)
	bestEffort := true
	for _, spec := range specs {
		if spec.Name != berth.ResourcePods && realRequest(pod, spec.Name) != 0 {
			bestEffort = false
		}
	}
	if bestEffort {
		return 0
	}
	var with, without []float64
	for _, u := range usages(specs, pod, node, on, realRequest) {
		if u.capacity != 0 {
			with = append(with, min(float64(u.with)/float64(u.capacity), 1))
			without = append(without, min(float64(u.without)/float64(u.capacity), 1))
		}
	}
	return 50 + (50+evenness(with)-evenness(without))/2
}

// evenness is 100 for equal fractions and falls with their standard deviation.
func evenness(fractions []float64) int64 {
	deviation := 0.0
	switch len(fractions) {
	case 0, 1:
	case 2:
		deviation = math.Abs((fractions[0] - fractions[1]) / 2)
	default:
		var total float64
		for _, f := range fractions {
			total += f
		}
		mean := total / float64(len(fractions))
		var sum float64
		for _, f := range fractions {
			sum += float64((f - mean) * (f - mean))
		}
		deviation = math.Sqrt(sum / float64(len(fractions)))
	}
	return int64((1 - deviation) * 100)
}
