package strategy

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// NodeBandwidth is the memory bandwidth of a node in MB/s.
type NodeBandwidth struct {
	// Capacity is what the node's processors can draw together, in 0..2^50. 0 means that it is not known.
	Capacity float64
	// Used is what is drawn, in 0..2^50, as measured by the hardware's counters or estimated.
	Used float64
}

// MachineBandwidth returns the bandwidth of a machine: the sum over its NUMA nodes, of which as large a part is taken to be
// used as of the node's CPUs is not free in the state, as numa.ScoreBandwidth has it. NUMA nodes of unknown bandwidth, and
// those that belong to devices, are left out. The state may be nil: then nothing is used. O(CPUs).
func MachineBandwidth(m *numa.Machine, s *numa.State) NodeBandwidth {
	var free numa.CPUSet
	if s != nil {
		free = s.FreeCPUs()
	}
	type cpus struct{ all, taken int }
	of := make(map[int]cpus)
	for _, c := range m.CPUs {
		count := of[c.Node]
		count.all++
		if s != nil && !free.Has(c.ID) {
			count.taken++
		}
		of[c.Node] = count
	}
	var b NodeBandwidth
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Generic || n.Bandwidth <= 0 {
			continue
		}
		b.Capacity += float64(n.Bandwidth)
		if count := of[n.ID]; count.taken > 0 {
			b.Used += float64(float64(n.Bandwidth) * float64(count.taken) / float64(count.all))
		}
	}
	return b
}

// BandwidthConfig configures a Bandwidth. The zero value is for pods that nothing is known of.
type BandwidthConfig struct {
	// Resource is the scalar resource by which pods request bandwidth, in MB/s. "" means that they don't.
	Resource string
	// Use returns what a pod is expected to draw, in MB/s, in 0..2^50. It must follow from the pod's spec; several goroutines
	// may call it at a time. It excludes Resource.
	Use func(*berth.Pod) float64
}

// Bandwidth prefers the node that has the largest part of its memory bandwidth left. Make one with NewBandwidth.
//
//	score = 100 * (1 - (used + placed + pod) / capacity), cut to 0..100
//
// capacity and used are what Set handed in, pod what the pod is expected to draw, placed what pods are that Reserve was told
// of since. A node whose capacity is not known scores 0: what is known to be there goes first.
//
// It is kube-scheduler's least-allocated formula (plugins/noderesources/least_allocated.go) on a resource that is measured
// instead of requested.
//
// It is not Local, as Set changes scores without the node: its column is computed for each decision. As a score.Reserver it
// takes note of the pods that are placed. Set and Forget must not be called during a decision.
type Bandwidth struct {
	cfg    BandwidthConfig
	nodes  nodeTable[NodeBandwidth]
	placed placed
}

// NewBandwidth returns a Bandwidth that knows no node. The error wraps score.ErrConfig.
func NewBandwidth(cfg BandwidthConfig) (*Bandwidth, error) {
	if cfg.Use != nil && cfg.Resource != "" {
		return nil, misconfigured("Bandwidth: Use and Resource = %q are both set", cfg.Resource)
	}
	if cfg.Use == nil {
		resource := cfg.Resource
		cfg.Use = func(p *berth.Pod) float64 { return float64(p.Requests.Scalar[resource]) }
	}
	return &Bandwidth{cfg: cfg}, nil
}

// Set takes in the state of a node, with what the pods that are placed there use. The error wraps ErrData, and nothing has
// happened, if a number is out of range.
func (b *Bandwidth) Set(node string, state NodeBandwidth) error {
	switch {
	case !amount(state.Capacity):
		return badData("Bandwidth: Capacity of node %q is %v, want 0..2^50", node, state.Capacity)
	case !amount(state.Used):
		return badData("Bandwidth: Used of node %q is %v, want 0..2^50", node, state.Used)
	}
	b.nodes.set(node, state)
	b.placed.settle(node)
	return nil
}

// Forget drops what is known of a node.
func (b *Bandwidth) Forget(node string) {
	b.nodes.forget(node)
	b.placed.settle(node)
}

// Name returns "Bandwidth".
func (*Bandwidth) Name() string { return "Bandwidth" }

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Bandwidth) Concurrent() {}

// Prepare makes room for all nodes.
func (b *Bandwidth) Prepare(in *score.Input, _ []topology.NodeID) error {
	b.nodes.grow(in.Graph.Topology())
	return nil
}

// Score takes O(nodes + pods placed since they were set). The error wraps ErrData if Use returns what is no amount.
func (b *Bandwidth) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	use, err := b.use(in.Pod)
	if err != nil {
		return err
	}
	x := in.Graph.Topology()
	for _, n := range nodes {
		column[n] = 0
		if state, ok := b.nodes.find(x, n); ok && state.Capacity > 0 {
			column[n] = percent(1 - (state.Used+b.placed.on(x.Name(n))+use)/state.Capacity)
		}
	}
	return nil
}

func (b *Bandwidth) use(p *berth.Pod) (float64, error) {
	use := b.cfg.Use(p)
	if !amount(use) {
		return 0, badData("Bandwidth: Use of pod %v is %v, want 0..2^50", p.Key(), use)
	}
	return use, nil
}

// Reserve adds what the pod is expected to draw to the node's use, until Set.
func (b *Bandwidth) Reserve(in *score.Input, n topology.NodeID) error {
	use, err := b.use(in.Pod)
	if err == nil {
		b.placed.add(in.Graph.Topology().Name(n), in.Pod.Key(), use)
	}
	return err
}

// Unreserve takes it away again.
func (b *Bandwidth) Unreserve(in *score.Input, n topology.NodeID) {
	b.placed.remove(in.Graph.Topology().Name(n), in.Pod.Key())
}
