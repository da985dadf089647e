package numa

import "math"

// Scoring: pure functions of a state and a placement that fits it, for
// schedulers to rank machines with. All return 0..1, higher is better, so
// that they can be weighed against each other; none changes anything, and
// none needs the placement to be applied.

// Score rates a placement on a state.
type Score func(s *State, p *Placement) float64

// ScoreFewestNodes is 1 for a pod on one node and falls with each further
// one, 1/nodes. A pod without any aligned resource counts as on one.
func ScoreFewestNodes(_ *State, p *Placement) float64 {
	used := p.nodes()
	return 1 / float64(max(1, used.Len()))
}

// ScoreDistance is 1 if all the nodes used are local to each other, and the
// ratio of the local distance (10) to their mean distance otherwise.
func ScoreDistance(s *State, p *Placement) float64 {
	return float64(localDistance) / max(localDistance, s.l.MeanDistance(p.nodes()))
}

// nodes are the nodes of the containers' CPUs, memory and hints.
func (p *Placement) nodes() Mask {
	var m Mask
	for i := range p.Containers {
		c := &p.Containers[i]
		m = m.Or(c.MemoryNodes)
		if !c.Hint.Any {
			m = m.Or(c.Hint.Nodes)
		}
	}
	return m
}

// usage is the share of CPUs and of memory of each used node that would be
// taken after the placement; shares that a node lacks are left out.
func usage(s *State, p *Placement) [][]float64 {
	cpus := p.CPUs()
	var list [][]float64
	for id := range p.nodes().All() {
		if s.l.nodeAt[id] < 0 {
			continue
		}
		at := s.l.nodeAt[id]
		var shares []float64
		if total := len(s.l.node[at].cpus); total > 0 {
			free := 0
			for _, c := range s.l.node[at].cpus {
				if id := s.l.cpuIDs[c]; s.free.Has(id) && !cpus.Has(id) {
					free++
				}
			}
			shares = append(shares, 1-float64(free)/float64(total))
		}
		for i := range s.memory[at].kinds {
			k := &s.memory[at].kinds[i]
			free := k.free
			for _, b := range p.Memory {
				if b.Node == id && b.PageSize == k.pageSize {
					free -= b.Bytes
				}
			}
			if k.total > 0 {
				shares = append(shares, 1-float64(free)/float64(k.total))
			}
		}
		if len(shares) > 0 {
			list = append(list, shares)
		}
	}
	return list
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// ScoreLeastAllocated is the mean share left free on the fullest of the nodes
// used, as the least-allocated strategy of the NodeResourceTopology plugin
// takes it per zone; 1 if none is used.
func ScoreLeastAllocated(s *State, p *Placement) float64 {
	least := 1.0
	for _, shares := range usage(s, p) {
		least = min(least, 1-mean(shares))
	}
	return clamp(least)
}

// ScoreMostAllocated is the mean share taken on the emptiest of the nodes
// used: it packs nodes full one by one. 0 if none is used.
func ScoreMostAllocated(s *State, p *Placement) float64 {
	least, any := 1.0, false
	for _, shares := range usage(s, p) {
		least, any = min(least, mean(shares)), true
	}
	if !any {
		return 0
	}
	return clamp(least)
}

// ScoreBalancedAllocated is 1 less the standard deviation between the shares
// of a node's resources, of the least balanced node. A node with one resource
// is balanced (the NodeResourceTopology plugin's variance of one value is
// NaN there, and the score -2^63).
func ScoreBalancedAllocated(s *State, p *Placement) float64 {
	worst := 0.0
	for _, shares := range usage(s, p) {
		m, sum := mean(shares), 0.0
		for _, x := range shares {
			sum += (x - m) * (x - m)
		}
		worst = max(worst, math.Sqrt(sum/float64(len(shares))))
	}
	return clamp(1 - worst)
}

// ScoreBandwidth is the share of the memory bandwidth of the nodes used that
// their other CPUs leave: bandwidth is taken to be used in proportion to the
// CPUs given out. Nodes of unknown bandwidth weigh nothing; 1 if no node's is
// known.
func ScoreBandwidth(s *State, p *Placement) float64 {
	var total, left float64
	for id := range p.nodes().All() {
		if s.l.nodeAt[id] < 0 {
			continue
		}
		at := s.l.nodeAt[id]
		cpus := s.l.node[at].cpus
		b := float64(s.l.nodes[at].Bandwidth)
		total += b
		share := 1.0
		if len(cpus) > 0 {
			free := 0
			for _, c := range cpus {
				if s.free.Has(s.l.cpuIDs[c]) {
					free++
				}
			}
			share = float64(free) / float64(len(cpus))
		}
		left += b * share
	}
	if total == 0 {
		return 1
	}
	return left / total
}

// ScoreLinks is the affinity of the placement's devices to each other (see
// [Layout.Affinity]) by the most that as many of the machine's devices of the
// same resources could have pairwise; 1 with fewer than two devices.
func ScoreLinks(s *State, p *Placement) float64 {
	var devices []int32
	for i := range p.Containers {
		for _, name := range p.Containers[i].Devices {
			if d, ok := s.l.deviceAt[name]; ok {
				devices = append(devices, int32(d))
			}
		}
	}
	sum, most := int64(0), int64(0)
	for i, a := range devices {
		for _, b := range devices[:i] {
			sum += s.l.affinity[a][b]
			most += s.l.highestAffinity(a, b)
		}
	}
	if most == 0 {
		return 1
	}
	return float64(sum) / float64(most)
}

// highestAffinity is the most between any two devices of the resources of a
// and b.
func (l *Layout) highestAffinity(a, b int32) int64 {
	most := int64(0)
	for i := range l.devices {
		for j := range l.devices {
			if i != j && l.devices[i].Resource == l.devices[a].Resource && l.devices[j].Resource == l.devices[b].Resource {
				most = max(most, l.affinity[i][j])
			}
		}
	}
	return most
}

// ScoreFragmentation is what the placement leaves whole: of the CPUs that
// stay free, the mean of the shares on entirely free cores and on entirely
// free nodes. 1 if none stays free: nothing is left to be in pieces.
func ScoreFragmentation(s *State, p *Placement) float64 {
	free := s.free.Minus(p.CPUs())
	count, inCores, inNodes := free.Len(), 0, 0
	if count == 0 {
		return 1
	}
	whole := func(groups []group) int {
		sum := 0
		for i := range groups {
			n := 0
			for _, c := range groups[i].cpus {
				if free.Has(s.l.cpuIDs[c]) {
					n++
				}
			}
			if n == len(groups[i].cpus) {
				sum += n
			}
		}
		return sum
	}
	inCores, inNodes = whole(s.l.core), whole(s.l.node)
	return float64(inCores+inNodes) / float64(2*count)
}

func clamp(v float64) float64 { return max(0, min(1, v)) }
