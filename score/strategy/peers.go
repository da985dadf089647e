package strategy

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// PodSelection selects pods.
type PodSelection struct {
	// Namespace of the pods; "" means any.
	Namespace string
	// Labels that the pods carry, all of them; empty means any.
	Labels map[string]string
}

// Flow is traffic between two kinds of pods.
type Flow struct {
	// From and To are the kinds, which may be the same. Traffic costs the same in both directions: a pod of either kind is
	// drawn to those of the other.
	From, To PodSelection
	// Rate is the traffic between each pod of From and each of To, in any unit, the same for all flows: above 0 and at most
	// 10^9.
	Rate float64
}

// PeersConfig configures a Peers.
type PeersConfig struct {
	// Levels are the label keys of nodes whose domains are near, widest first, as in topology.Tree: zone, rack. There are 1 to
	// 8.
	Levels []string
	// Flows, 1 to 100.
	Flows []Flow
}

// Peers prefers the node that is nearest to the pods that the pod exchanges data with, the more so the more they exchange.
// Make one with NewPeers.
//
//	score = 100 * (1 - sum(rate * distance) / (levels * sum(rate)))
//
// over all pairs of a flow that the pod takes part in and a placed pod at its other end. distance is topology.Tree's: the number
// of levels that separate the two nodes, 0 in one domain of the lowest level or on one node, all of them where not even the
// widest is shared. So 100 means that no traffic leaves a domain of the lowest level, and 0 that all of it crosses every level.
// A pod without placed peers scores 100 everywhere.
//
// The sum is the objective of traffic-aware placement (Meng, Pappas and Zhang, "Improving the Scalability of Data Center Networks
// with Traffic-aware Virtual Machine Placement", INFOCOM 2010: rates times a communication cost for each pair), for one more
// pod.
//
// It is not Local, as a score depends on pods elsewhere. It keeps how many peers there are in each domain and follows the
// changes of the graph that it was used on last, at 4 bytes a node for each level and for each selection. It belongs to that
// graph's owner: calls must not overlap with updates of the graph, nor decisions with each other.
type Peers struct {
	levels     []string
	selections []selection // without repetitions
	flows      []flow
	index      peerIndex
	slot       score.Slot[[]peerTerm]
}

// selection is a compiled PodSelection.
type selection struct {
	namespace string
	labels    labels
}

// flow is a Flow with the numbers of its selections.
type flow struct {
	from, to int
	rate     float64
}

// peerTerm is how much the pod of a decision exchanges with each placed pod of a selection.
type peerTerm struct {
	selection int
	rate      float64
}

// NewPeers returns a Peers. The error wraps score.ErrConfig.
func NewPeers(cfg PeersConfig) (*Peers, error) {
	const maxLevels, maxFlows = 8, 100
	if len(cfg.Levels) < 1 || len(cfg.Levels) > maxLevels {
		return nil, misconfigured("Peers: there are %d Levels, want 1..%d", len(cfg.Levels), maxLevels)
	}
	for i, key := range cfg.Levels {
		if key == "" || slices.Contains(cfg.Levels[:i], key) {
			return nil, misconfigured("Peers: Levels[%d] = %q is empty or given twice", i, key)
		}
	}
	if len(cfg.Flows) < 1 || len(cfg.Flows) > maxFlows {
		return nil, misconfigured("Peers: there are %d Flows, want 1..%d", len(cfg.Flows), maxFlows)
	}
	s := &Peers{levels: slices.Clone(cfg.Levels)}
	for i, f := range cfg.Flows {
		if !(f.Rate > 0 && f.Rate <= 1e9) {
			return nil, misconfigured("Peers: Flows[%d].Rate is %v, want more than 0 and at most 10^9", i, f.Rate)
		}
		s.flows = append(s.flows, flow{s.selection(f.From), s.selection(f.To), f.Rate})
	}
	return s, nil
}

// selection returns the number of a selection.
func (s *Peers) selection(p PodSelection) int {
	c := selection{p.Namespace, labelsOf(p.Labels)}
	i := slices.IndexFunc(s.selections, func(o selection) bool {
		return o.namespace == c.namespace && slices.Equal(o.labels, c.labels)
	})
	if i < 0 {
		i = len(s.selections)
		s.selections = append(s.selections, c)
	}
	return i
}

func (c *selection) has(p *berth.Pod) bool {
	return (c.namespace == "" || c.namespace == p.Namespace) && c.labels.in(p.Labels)
}

// Name returns "Peers".
func (*Peers) Name() string { return "Peers" }

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Peers) Concurrent() {}

// Prepare follows the graph and finds what the pod exchanges with whom. O(flows * labels), and for each node that changed
// O(levels + pods on the node * selections * labels).
func (s *Peers) Prepare(in *score.Input, _ []topology.NodeID) error {
	s.index.follow(in.Graph, s.levels, s.selections)
	var terms []peerTerm
	for _, f := range s.flows {
		if s.selections[f.from].has(in.Pod) {
			terms = append(terms, peerTerm{f.to, f.rate})
		}
		if s.selections[f.to].has(in.Pod) {
			terms = append(terms, peerTerm{f.from, f.rate})
		}
	}
	s.slot.Put(in, terms)
	return nil
}

// Score takes O(nodes * flows of the pod * levels). The error wraps ErrData if Prepare was not called before.
func (s *Peers) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	terms, ok := s.slot.Get(in)
	if !ok {
		return badData("Peers: Prepare was not called for the decision on pod %v", in.Pod.Key())
	}
	var most float64
	for _, t := range terms {
		most += float64(t.rate * float64(s.index.total[t.selection]) * float64(len(s.levels)))
	}
	for _, n := range nodes {
		column[n] = 100
		if most == 0 {
			continue
		}
		var sum float64
		for _, t := range terms {
			sum += float64(t.rate * float64(s.index.distance(n, t.selection)))
		}
		column[n] = percent(1 - sum/most)
	}
	return nil
}
