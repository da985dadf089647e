package strategy

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// PodGroup is a kind of workload: the pods that carry all of its labels.
type PodGroup struct {
	// Name is for errors. It must not be empty.
	Name string
	// Labels must not be empty.
	Labels map[string]string
}

// InterferenceConfig configures an Interference.
type InterferenceConfig struct {
	// Groups, at most 1000. A pod is of the first that it belongs to; one of none neither suffers nor disturbs.
	Groups []PodGroup
	// Slowdown[a][b] is how much longer a pod of Groups[a] takes beside one of Groups[b], as a part of the time that it takes
	// alone: 0.2 is a fifth longer. It is in 0..10^6, and has as many rows and columns as there are groups.
	Slowdown [][]float64
}

// Interference prefers the node where the pod and the pods that run there slow each other down least. Make one with
// NewInterference.
//
//	score = 100 / (1 + sum over the node's pods q of (Slowdown[p][q] + Slowdown[q][p]))
//
// 100 is a node without interference, 50 one where what the pod suffers and inflicts is worth its own time once more.
//
// That slow-down is measured by pairs of kinds is from Mars et al., "Bubble-Up: Increasing Utilization in Modern Warehouse
// Scale Computers via Sensible Co-locations", MICRO 2011; that both directions count, added up, from Delimitrou and Kozyrakis,
// "Paragon: QoS-Aware Scheduling for Heterogeneous Datacenters", ASPLOS 2013 (greedy server selection). Neither adds up
// slow-downs over more than two pods as is done here; it takes them for independent.
type Interference struct {
	groups   []labels
	slowdown [][]float64
}

// NewInterference returns an Interference. The error wraps score.ErrConfig.
func NewInterference(cfg InterferenceConfig) (*Interference, error) {
	const maxGroups, maxSlowdown = 1000, 1e6
	if len(cfg.Groups) == 0 || len(cfg.Groups) > maxGroups {
		return nil, misconfigured("Interference: there are %d Groups, want 1..%d", len(cfg.Groups), maxGroups)
	}
	if len(cfg.Slowdown) != len(cfg.Groups) {
		return nil, misconfigured("Interference: Slowdown has %d rows for %d groups", len(cfg.Slowdown), len(cfg.Groups))
	}
	s := &Interference{}
	for a, g := range cfg.Groups {
		row := cfg.Slowdown[a]
		switch {
		case g.Name == "" || slices.ContainsFunc(cfg.Groups[:a], func(o PodGroup) bool { return o.Name == g.Name }):
			return nil, misconfigured("Interference: Groups[%d].Name = %q is empty or taken", a, g.Name)
		case len(g.Labels) == 0:
			return nil, misconfigured("Interference: Groups[%d] %q has no Labels", a, g.Name)
		case len(row) != len(cfg.Groups):
			return nil, misconfigured("Interference: Slowdown[%d] (%s) has %d columns for %d groups", a, g.Name, len(row), len(cfg.Groups))
		}
		for b, v := range row {
			if !(v >= 0 && v <= maxSlowdown) {
				return nil, misconfigured("Interference: Slowdown[%d][%d] (%s beside %s) is %v, want 0..%v",
					a, b, g.Name, cfg.Groups[b].Name, v, maxSlowdown)
			}
		}
		s.groups = append(s.groups, labelsOf(g.Labels))
		s.slowdown = append(s.slowdown, slices.Clone(row))
	}
	return s, nil
}

// Name returns "Interference".
func (*Interference) Name() string { return "Interference" }

// Local promises that a score depends on the pod's class and the node's pods alone.
func (*Interference) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Interference) Concurrent() {}

// Score takes O(nodes * (pods on the node + groups) + classes of pods * groups * labels).
func (s *Interference) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	own := s.group(in.Pod)
	b := beside{Interference: s, own: own, count: make([]int64, len(s.groups)), groupOf: make(map[*berth.Pod]int)}
	for part := range slices.Chunk(nodes, slowNodes) {
		if err := in.Context().Err(); err != nil {
			return err
		}
		for _, n := range part {
			column[n] = 100
			if own >= 0 {
				column[n] = percent(1 / (1 + b.on(in, n)))
			}
		}
	}
	return nil
}

// beside is how a pod of group own gets on with others, for one call.
type beside struct {
	*Interference
	own     int
	count   []int64            // by group
	groupOf map[*berth.Pod]int // of the specs seen so far, which the pods of a class share
}

// on returns by how much the pod and the pods on a node slow each other down.
func (b *beside) on(in *score.Input, n topology.NodeID) float64 {
	clear(b.count)
	for _, p := range in.Graph.PodsOn(n) {
		g, seen := b.groupOf[p]
		if !seen {
			g = b.group(p)
			b.groupOf[p] = g
		}
		if g >= 0 {
			b.count[g]++
		}
	}
	var sum float64 // by group, so that the order in which pods came does not show in the last bit
	for g, pods := range b.count {
		sum += float64(float64(pods) * (b.slowdown[b.own][g] + b.slowdown[g][b.own]))
	}
	return sum
}

// group returns which group a pod is of, -1 for none.
func (s *Interference) group(p *berth.Pod) int {
	return slices.IndexFunc(s.groups, func(l labels) bool { return l.in(p.Labels) })
}
