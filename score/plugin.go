package score

import (
	"context"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Input is what a plugin sees of a decision. During a decision nobody updates the graph. Where a plugin is called by several
// goroutines at a time (Concurrent), all methods that only read may be called: those of Graph but Class and Changes, those
// of Graph.Topology but Key for a key that is not known.
type Input struct {
	Pod   *berth.Pod
	Graph *affinity.Graph
	// Class is the number of the pod's class: plugins may keep what depends on the pod's spec alone under it.
	Class uint64

	ctx    context.Context
	serial uint64 // of the decision
}

// Context returns the context of the decision. The pipeline looks at it between calls; a call that takes long should do so
// too. It is context.Background if none was given.
func (in *Input) Context() context.Context {
	if in.ctx == nil {
		return context.Background()
	}
	return in.ctx
}

// WithContext returns a copy of the input with a context, for tests of plugins.
func (in *Input) WithContext(ctx context.Context) *Input {
	c := *in
	c.ctx = ctx
	return &c
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
	// as long as the topology's Cap; the other elements must be left alone. Scores are within -MaxScore..MaxScore. An error
	// ends the decision. Neither in nor what it points to may be kept or changed, nor may nodes and column be kept.
	//
	// It is called once a decision with all feasible nodes, unless the scorer is Local or Concurrent.
	Score(in *Input, nodes []topology.NodeID, column []int64) error
}

// MaxScore bounds scores on either side, so that weighed sums can be counted.
const MaxScore = 1 << 40

// Local is a Scorer whose score of a node depends only on the class of the pod and on the node's own state: resources,
// devices, labels, pods. The pipeline keeps its columns and asks again only for nodes that changed, some at a time.
type Local interface {
	Scorer
	// Local does nothing; having it is the promise.
	Local()
}

// Concurrent is a Scorer whose Score may be called by several goroutines at a time, for different nodes of one decision,
// and gives a node the same score whatever other nodes it is asked for with. With Config.Workers the pipeline does so.
type Concurrent interface {
	Scorer
	// Concurrent does nothing; having it is the promise.
	Concurrent()
}

// Preparer is a Scorer that works something out once a decision, before Score is asked for parts of the nodes; a Slot holds
// it. It is called also if no node will have to be scored because the columns are kept.
type Preparer interface {
	Prepare(in *Input, feasible []topology.NodeID) error
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

const maxWeight = 1 << 20
