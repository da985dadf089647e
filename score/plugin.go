package score

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Input is what a plugin sees of a decision.
type Input struct {
	Pod   *berth.Pod
	Graph *affinity.Graph
	// Class is the number of the pod's class: plugins may keep what depends on the pod's spec alone under it.
	Class uint64
}

// Filter refuses nodes that the rules allow.
type Filter interface {
	// Name tells the filters of a pipeline apart; refusals are counted under it.
	Name() string
	// Filter takes out of feasible the nodes that the pod must not run on. It adds none. When it is called, feasible are the
	// nodes that the rules and the filters before it left, at least one. An error ends the decision. Neither in, nor what it
	// points to, nor the set may be kept, and but for the set nothing may be changed.
	Filter(in *Input, feasible *topology.NodeSet) error
}

// Scorer scores nodes for one pod; higher is better.
type Scorer interface {
	// Name tells the scorers of a pipeline apart.
	Name() string
	// Score writes the score of each of nodes, which are feasible and in ascending order, into column[n]. The column is
	// as long as the topology's Cap; the other elements must be left alone. Scores are within -2^40..2^40, so that weighed
	// sums can be counted. An error ends the decision. Neither in nor what it points to may be kept or changed.
	Score(in *Input, nodes []topology.NodeID, column []int64) error
}

// Local is a Scorer whose score of a node depends only on the class of the pod and on the node's own state: resources,
// devices, labels, pods. The pipeline keeps its columns and asks again only for nodes that changed.
type Local interface {
	Scorer
	// Local does nothing; having it is the promise.
	Local()
}

// Normalizer rescales a column over the feasible nodes, before it is weighed.
type Normalizer interface {
	Normalize(in *Input, feasible []topology.NodeID, column []int64) error
}

// DevicePicker chooses the GPUs on the chosen node for a pod that asks for some; nil leaves it to Graph.Bind.
type DevicePicker interface {
	PickDevices(in *Input, n topology.NodeID) []int
}

// Weighted is a scorer and its weight.
type Weighted struct {
	Scorer Scorer
	// Weight multiplies the score, in 1..2^20. 0 means 1.
	Weight int64
}
