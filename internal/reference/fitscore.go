package reference

import (
	"math"

	"github.com/berth-go/berth"
)

// usage is a resource of a node as a score sees it: what its pods hold, without and with the incoming pod.
type usage struct{ capacity, without, with int64 }

// usages returns the usage of each resource that counts on the node; others have capacity 0. A scalar resource counts
// only if the pod asks for it (plugins/noderesources/resource_allocation.go).
func usages(specs []ResourceSpec, pod *berth.Pod, node *berth.Node, on []*berth.Pod, request func(*berth.Pod, string) int64) []usage {
	result := make([]usage, len(specs))
	for i, spec := range specs {
		capacity := node.Allocatable.Get(spec.Name)
		switch spec.Name {
		case berth.ResourcePods:
			capacity = 0
		case berth.ResourceCPU, berth.ResourceMemory, berth.ResourceEphemeralStorage:
		default:
			if request(pod, spec.Name) == 0 {
				capacity = 0
			}
		}
		if capacity == 0 {
			continue
		}
		u := usage{capacity: capacity}
		for _, p := range on {
			u.without += request(p, spec.Name)
		}
		u.with = u.without + request(pod, spec.Name)
		result[i] = u
	}
	return result
}

func realRequest(p *berth.Pod, resource string) int64 { return p.Requests.Get(resource) }

func scoreRequest(p *berth.Pod, resource string) int64 {
	switch resource {
	case berth.ResourceCPU:
		return p.ScoreRequests().MilliCPU
	case berth.ResourceMemory:
		return p.ScoreRequests().Memory
	}
	return p.Requests.Get(resource)
}

// scoreFit is the score of plugins/noderesources/fit.go by the configured strategy.
func (c *Config) scoreFit(pod *berth.Pod, node *berth.Node, on []*berth.Pod) int64 {
	specs := resourcesOrDefault(c.FitResources)
	ratio := c.FitStrategy == RequestedToCapacityRatio
	var sum, weights int64
	for i, u := range usages(specs, pod, node, on, scoreRequest) {
		if u.capacity == 0 {
			continue
		}
		var score int64
		switch c.FitStrategy {
		case RequestedToCapacityRatio:
			score = ratioScore(c.FitShape, u.with, u.capacity)
			if score <= 0 {
				continue
			}
		case MostAllocated:
			score = min(u.with, u.capacity) * 100 / u.capacity
		default:
			score = max(u.capacity-u.with, 0) * 100 / u.capacity
		}
		sum += score * specs[i].Weight
		weights += specs[i].Weight
	}
	switch {
	case weights == 0:
		return 0
	case ratio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// ratioScore is plugins/noderesources/requested_to_capacity_ratio.go; shape scores of 0..10 become 0..100.
func ratioScore(shape []ShapePoint, requested, capacity int64) int64 {
	utilization := int64(100)
	if requested <= capacity {
		utilization = requested * 100 / capacity
	}
	for i, p := range shape {
		if utilization > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score * 10
		}
		q := shape[i-1]
		return q.Score*10 + (p.Score-q.Score)*10*(utilization-q.Utilization)/(p.Utilization-q.Utilization)
	}
	return shape[len(shape)-1].Score * 10
}
