package reference

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth"
)

// Scores rate the feasible nodes, in the order in which these were given.
type Scores struct {
	// ByPlugin are the normalised scores of each plugin, 0..100, unweighted. A plugin that kube-scheduler would skip has
	// zeros.
	ByPlugin map[string][]int64
	// Total are the weighted sums.
	Total []int64
	// Best are the nodes with the highest total, as indices into Cluster.Nodes.
	Best []int
}

// Score rates the feasible nodes, indices into Cluster.Nodes. Nominated pods play no part. It fails if a preferred node
// affinity term does not parse or a score is outside 0..100.
func (c *Cluster) Score(pod *berth.Pod, feasible []int) (*Scores, error) {
	d := c.decide(pod)
	nodes := make([]*berth.Node, len(feasible))
	for i, n := range feasible {
		nodes[i] = &c.Nodes[n]
	}
	each := func(score func(node *berth.Node, on []*berth.Pod) int64) []int64 {
		scores := make([]int64, len(feasible))
		for i, n := range feasible {
			scores[i] = score(nodes[i], d.on[n])
		}
		return scores
	}
	nodeAffinity, err := scoreNodeAffinity(pod, nodes)
	if err != nil {
		return nil, err
	}
	s := &Scores{ByPlugin: map[string][]int64{
		TaintToleration:   scoreTaints(pod, nodes),
		NodeAffinity:      nodeAffinity,
		PodTopologySpread: d.scoreSpread(feasible),
		InterPodAffinity:  d.scoreInterPod(nodes),
		NodeResourcesFit: each(func(node *berth.Node, on []*berth.Pod) int64 {
			return c.Config.scoreFit(pod, node, on)
		}),
		NodeResourcesBalancedAllocation: each(func(node *berth.Node, on []*berth.Pod) int64 {
			return c.Config.scoreBalanced(pod, node, on)
		}),
		ImageLocality: each(func(node *berth.Node, _ []*berth.Pod) int64 { return c.scoreImages(pod, node) }),
	}}
	s.Total = make([]int64, len(feasible))
	weights := c.Config.weights()
	for _, plugin := range slices.Sorted(maps.Keys(s.ByPlugin)) {
		for i, score := range s.ByPlugin[plugin] {
			if score < 0 || score > 100 {
				return nil, fmt.Errorf("reference: pod %v: %s: score %d is outside 0..100", pod.Key(), plugin, score)
			}
			s.Total[i] += weights[plugin] * score
		}
	}
	for i, n := range feasible {
		if s.Total[i] == slices.Max(s.Total) {
			s.Best = append(s.Best, n)
		}
	}
	return s, nil
}
