package affinity

import (
	"math"

	"github.com/berth-go/berth"
)

// scoredResource is a resource that a score looks at.
type scoredResource struct {
	kind   resourceKind
	id     int32 // of a scalar
	weight int64
}

type resourceKind uint8

const (
	cpuResource resourceKind = iota
	memoryResource
	ephemeralResource
	scalarResource
)

func (g *Graph) scoredResource(name string, weight int64) scoredResource {
	switch name {
	case berth.ResourceCPU:
		return scoredResource{cpuResource, 0, weight}
	case berth.ResourceMemory:
		return scoredResource{memoryResource, 0, weight}
	case berth.ResourceEphemeralStorage:
		return scoredResource{ephemeralResource, 0, weight}
	}
	return scoredResource{scalarResource, g.resource(name), weight}
}

// of returns what of the resource the node has, what is used and what the pod asks for; the capacity is 0 if the resource
// is to be left out. CPU and memory are taken as resource scores see them if scored, else as they are
// (plugins/noderesources/resource_allocation.go).
func (r *scoredResource) of(s *nodeState, n *need, scored bool) (capacity, used, request int64) {
	switch r.kind {
	case cpuResource:
		if scored {
			return s.alloc.cpu, s.scored.MilliCPU, n.scored.MilliCPU
		}
		return s.alloc.cpu, s.used.cpu, n.request.cpu
	case memoryResource:
		if scored {
			return s.alloc.memory, s.scored.Memory, n.scored.Memory
		}
		return s.alloc.memory, s.used.memory, n.request.memory
	case ephemeralResource:
		return s.alloc.ephemeral, s.used.ephemeral, n.request.ephemeral
	}
	for _, want := range n.scalars {
		if want.id == r.id && want.amount > 0 {
			if sc := s.scalar(r.id); sc != nil {
				return sc.alloc, sc.used, want.amount
			}
		}
	}
	return 0, 0, 0
}

// fitScore is the score of NodeResourcesFit, 0..100.
func (p *Profile) fitScore(s *nodeState, n *need) int64 {
	var sum, weights int64
	for i := range p.fit {
		r := &p.fit[i]
		capacity, used, request := r.of(s, n, true)
		if capacity == 0 {
			continue
		}
		score := p.resourceScore(used+request, capacity)
		if p.cfg.Fit == RequestedToCapacityRatio && score <= 0 {
			continue // requested_to_capacity_ratio.go leaves zero scores out of the mean
		}
		sum += score * r.weight
		weights += r.weight
	}
	if weights == 0 {
		return 0
	}
	if p.cfg.Fit == RequestedToCapacityRatio {
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

func (p *Profile) resourceScore(requested, capacity int64) int64 {
	switch p.cfg.Fit {
	case LeastAllocated:
		if requested > capacity {
			return 0
		}
		return (capacity - requested) * 100 / capacity
	case MostAllocated:
		return min(requested, capacity) * 100 / capacity
	}
	utilization := int64(100)
	if requested <= capacity {
		utilization = requested * 100 / capacity
	}
	return p.shape(utilization)
}

// shape is the broken line of RequestedToCapacityRatio, in whole numbers (plugins/helper/shape_score.go).
func (p *Profile) shape(utilization int64) int64 {
	points := p.cfg.FitShape
	for i, pt := range points {
		if utilization > pt.Utilization {
			continue
		}
		if i == 0 {
			return pt.Score * 10
		}
		last := points[i-1]
		return last.Score*10 + (pt.Score-last.Score)*10*(utilization-last.Utilization)/(pt.Utilization-last.Utilization)
	}
	return points[len(points)-1].Score * 10
}

// balancedScore is the score of NodeResourcesBalancedAllocation: 75 if the pod leaves the balance of the node as it is,
// up to 100 if it improves it, down to 50 if not (plugins/noderesources/balanced_allocation.go). 0 for pods that request
// none of the resources.
func (p *Profile) balancedScore(s *nodeState, n *need) int64 {
	var with, without fractions
	for i := range p.balanced {
		capacity, used, request := p.balanced[i].of(s, n, false)
		if capacity == 0 {
			continue
		}
		with.add(used+request, capacity)
		without.add(used, capacity)
	}
	return 50 + (50+with.evenness()-without.evenness())/2
}

// balances reports whether the pod requests any of the resources that balancedScore looks at.
func (p *Profile) balances(n *need) bool {
	for i := range p.balanced {
		r := &p.balanced[i]
		switch r.kind {
		case cpuResource:
			if n.request.cpu != 0 {
				return true
			}
		case memoryResource:
			if n.request.memory != 0 {
				return true
			}
		case ephemeralResource:
			if n.request.ephemeral != 0 {
				return true
			}
		case scalarResource:
			for _, want := range n.scalars {
				if want.id == r.id && want.amount != 0 {
					return true
				}
			}
		}
	}
	return false
}

// fractions are the utilisations of a node's resources. The first few need no memory of their own.
type fractions struct {
	n     int
	few   [4]float64
	more  []float64
	total float64
}

// add is not inlined: see encoder.
//
//go:noinline
func (f *fractions) add(requested, capacity int64) {
	v := min(float64(requested)/float64(capacity), 1)
	f.total += v
	if f.n < len(f.few) {
		f.few[f.n] = v
	} else {
		f.more = append(f.more, v)
	}
	f.n++
}

// evenness is 100 times one minus the standard deviation, cut to an integer.
func (f *fractions) evenness() int64 {
	var std float64
	switch {
	case f.n == 2:
		std = math.Abs((f.few[0] - f.few[1]) / 2)
	case f.n > 2:
		mean := f.total / float64(f.n)
		var sum float64
		for i := range f.n {
			v := 0.0
			if i < len(f.few) {
				v = f.few[i]
			} else {
				v = f.more[i-len(f.few)]
			}
			sum += (v - mean) * (v - mean)
		}
		std = math.Sqrt(sum / float64(f.n))
	}
	return int64((1 - std) * 100)
}
