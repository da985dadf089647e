package affinity

import (
	"math"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
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

// fits reports whether loadVerdict lets the pod onto node n: the common case of it, which a decision asks for each node that changed, without
// what it takes to say why not. The invariant walker holds the two against each other.
func (p *Profile) fits(r *static, n topology.NodeID) bool {
	s, want := &p.g.nodes[n], r.need
	if s.podCount >= s.podsAllowed || !want.request.fits(s.alloc.cpu-s.used.cpu, s.alloc.memory-s.used.memory, s.alloc.ephemeral-s.used.ephemeral) {
		return false
	}
	if !want.special {
		return true
	}
	rule, _ := p.loadVerdict(r, n, nil)
	return rule == Feasible
}

// fits reports whether no request is more than what is free.
func (a *amounts) fits(cpu, memory, ephemeral int64) bool {
	return (a.cpu <= 0 || a.cpu <= cpu) && (a.memory <= 0 || a.memory <= memory) && (a.ephemeral <= 0 || a.ephemeral <= ephemeral)
}

// loadVerdict applies the rules that look at what the pods of node n take.
func (p *Profile) loadVerdict(r *static, n topology.NodeID, rec *Reason) (rule Rule, resolvable bool) {
	g := p.g
	s, need := &g.nodes[n], r.need
	if len(need.ports) > 0 && !s.portsFree(need.ports) {
		return NodePorts, true
	}
	var note func(Shortfall)
	if rec != nil {
		note = func(f Shortfall) { rec.Shortfalls = append(rec.Shortfalls, f) }
	}
	if short, unresolvable := g.insufficient(s, need, note); short {
		return NodeResourcesFit, !unresolvable
	}
	if gpu := r.gpu; gpu.Count > 0 {
		var have ledger.GPUs
		if s.extra != nil {
			have = s.extra.gpu
		}
		if fits, resolvable := have.Fits(gpu); !fits {
			return GPU, resolvable
		}
	}
	return Feasible, false
}

// rate returns the standing of node n.
func (c *columns) rate(n topology.NodeID) standing {
	out := standing{node: n}
	var sum int64
	for i := range out.parts {
		s := ScoreNodeResourcesFit + Scorer(i)
		if w := c.p.cfg.Weights[s]; w != 0 {
			score := c.nodeScore(s, n)
			out.parts[i] = uint8(score)
			sum += w * score
		}
	}
	out.rank = uint64(sum)<<orderBits | uint64(^c.p.g.nodes[n].order)
	return out
}

// nodeScore returns one of the scores that depend on node n alone, 0..100.
func (c *columns) nodeScore(s Scorer, n topology.NodeID) int64 {
	node := &c.p.g.nodes[n]
	switch s {
	case ScoreNodeResourcesFit:
		return c.p.fitScore(node, c.need)
	case ScoreNodeResourcesBalancedAllocation:
		if c.balances {
			return c.p.balancedScore(node, c.need)
		}
	case ScoreImageLocality:
		return c.p.g.imageScore(node, c.need)
	}
	return 0
}

// insufficient is the resource fit rule (plugins/noderesources/fit.go, fitsRequest): whether anything is missing, and if
// so whether it would be on an idle node too. rec, if not nil, is called for each shortfall.
func (g *Graph) insufficient(s *nodeState, n *need, rec func(Shortfall)) (short, unresolvable bool) {
	x := shortage{rec: rec}
	if 1 > s.podsAllowed-s.podCount {
		x.add(berth.ResourcePods, 1, s.podCount, s.podsAllowed)
	}
	if !n.anything {
		return x.short, x.unresolvable
	}
	if r := n.request.cpu; r > 0 && r > s.alloc.cpu-s.used.cpu {
		x.add(berth.ResourceCPU, r, s.used.cpu, s.alloc.cpu)
	}
	if r := n.request.memory; r > 0 && r > s.alloc.memory-s.used.memory {
		x.add(berth.ResourceMemory, r, s.used.memory, s.alloc.memory)
	}
	if r := n.request.ephemeral; r > 0 && r > s.alloc.ephemeral-s.used.ephemeral {
		x.add(berth.ResourceEphemeralStorage, r, s.used.ephemeral, s.alloc.ephemeral)
	}
	if len(n.scalars) > 0 {
		g.insufficientScalars(s, n, &x)
	}
	return x.short, x.unresolvable
}

func (g *Graph) insufficientScalars(s *nodeState, n *need, x *shortage) {
	for _, r := range n.scalars {
		if r.amount == 0 {
			continue
		}
		var have scalar
		if sc := s.scalar(r.id); sc != nil {
			have = *sc
		}
		if r.amount > have.alloc-have.used {
			x.add(g.resourceNames[r.id], r.amount, have.used, have.alloc)
		}
	}
}

// shortage gathers what is missing on a node.
type shortage struct {
	short, unresolvable bool
	rec                 func(Shortfall) // may be nil
}

//go:noinline
func (x *shortage) add(name string, request, used, alloc int64) {
	x.short = true
	x.unresolvable = x.unresolvable || name != berth.ResourcePods && request > alloc
	if x.rec != nil {
		x.rec(Shortfall{name, request, used, alloc})
	}
}

// Shortfall is a resource that a node has too little of: Requested > Allocatable - Used.
type Shortfall struct {
	Resource                     string
	Requested, Used, Allocatable int64
}

// imageScore rates how much of the pod's images node s holds, 0..100, each image scaled by the share of nodes that
// hold it. O(images of pod * images of node).
func (g *Graph) imageScore(s *nodeState, need *need) int64 {
	if len(need.images) == 0 {
		return 0
	}
	var sum int64
	if s.extra != nil {
		for _, id := range need.images {
			for _, im := range s.extra.images {
				if im.id == id {
					spread := float64(g.images[id].nodes) / float64(g.x.Len())
					sum += int64(float64(im.size) * spread)
				}
			}
		}
	}
	most := maxImageBytesContainer * int64(len(need.images))
	return 100 * (min(max(sum, minImageBytes), most) - minImageBytes) / (most - minImageBytes)
}
