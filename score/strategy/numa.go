package strategy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// NUMAConfig configures a NUMA.
type NUMAConfig struct {
	// Terms are what a placement is rated by. Nil means numa.ScoreLinks, numa.ScoreFewestNodes and numa.ScoreDistance alike.
	Terms []NUMATerm
	// Request says what of a pod is to be aligned, under the name pod.Key().String(); nil for nothing. But for the name it must
	// follow from the pod's spec; several goroutines may call it at a time. Nil means what of the pod comes in whole units, as one container: its CPUs, with them its
	// memory, its GPUs, and its Devices.
	Request func(*berth.Pod) *numa.Request
	// GPUs is the device resource of machines that a pod's whole GPUs stand for ("nvidia.com/gpu"), and Devices are the scalar
	// resources that count devices of machines, without repetitions. They are for Request = nil.
	GPUs    string
	Devices []string
	// MaxClasses is for how many classes of pods scores are kept, the least recently used going first; 16 bytes a node each.
	// 0 means 16.
	MaxClasses int
}

// NUMATerm is a rating of placements and its weight.
type NUMATerm struct {
	// Score is one of numa's functions, or one that returns 0..1 and that several goroutines may call at a time.
	Score numa.Score
	// Weight is above 0 and at most 2^20; only the proportions of weights matter.
	Weight float64
}

// NUMA prefers the node where the pod fits best into the machine: its GPUs well linked, its CPUs, memory and devices close
// together. Make one with NewNUMA, and hand it the state of machines with Set.
//
//	score = 100 * sum(weight * term) / sum(weight)
//
// over the terms, each 0..1, for the placement that numa's State.Plan would make, which is the kubelet's: see there and at the
// numa.Score functions for their sources. A node scores 0 that can't place the pod or whose machine is not known, and so do
// all nodes for a pod that needs nothing aligned.
//
// NUMA is a score.Scorer, a score.Filter and a score.Reserver, to be used as any of them. The filter refuses nodes whose
// machine can't place the pod; nodes without a machine, and pods that need nothing aligned, it lets pass. The reserver applies
// the placement to the machine's state, and releases it if the placement of the pod fails later; the release of pods that end
// is the caller's.
//
// It is not Local, as a state can change without the node, but keeps scores of its own: a node is planned once for a class
// of pods and a state. So whoever changes a state (Apply, Release) must hand it to Set again. Set and Forget must not be
// called during a decision.
type NUMA struct {
	cfg      NUMAConfig
	weights  float64 // their sum
	machines nodeTable[machine]
	version  uint64 // of the state handed in last
	kept     []*numaColumn
	slot     score.Slot[*numaColumn]
}

type machine struct {
	state   *numa.State
	version uint64
}

// numaColumn is what is known of one class of pods, by node.
type numaColumn struct {
	class  uint64
	scores []numaScore
}

// numaScore is the score of a state, unplaceable if there is no placement. Versions are never 0.
type numaScore struct {
	version uint64
	score   int64
}

const unplaceable = -1

// NewNUMA returns a NUMA that knows no machine. The error wraps score.ErrConfig.
func NewNUMA(cfg NUMAConfig) (*NUMA, error) {
	if cfg.Terms == nil {
		cfg.Terms = []NUMATerm{{numa.ScoreLinks, 1}, {numa.ScoreFewestNodes, 1}, {numa.ScoreDistance, 1}}
	}
	s := &NUMA{cfg: cfg}
	if len(cfg.Terms) == 0 {
		return nil, misconfigured("NUMA: Terms is empty")
	}
	for i, t := range cfg.Terms {
		switch {
		case t.Score == nil:
			return nil, misconfigured("NUMA: Terms[%d].Score is nil", i)
		case !(t.Weight > 0 && t.Weight <= 1<<20):
			return nil, misconfigured("NUMA: Terms[%d].Weight is %v, want more than 0 and at most 2^20", i, t.Weight)
		}
		s.weights += t.Weight
	}
	for i, d := range cfg.Devices {
		if d == "" || d == cfg.GPUs || slices.Contains(cfg.Devices[:i], d) {
			return nil, misconfigured("NUMA: Devices[%d] = %q is empty or named twice", i, d)
		}
	}
	switch {
	case cfg.Request != nil && (cfg.GPUs != "" || len(cfg.Devices) > 0):
		return nil, misconfigured("NUMA: GPUs = %q and Devices = %q have no use beside Request", cfg.GPUs, cfg.Devices)
	case cfg.MaxClasses < 0:
		return nil, misconfigured("NUMA: MaxClasses is %d, negative", cfg.MaxClasses)
	case cfg.MaxClasses == 0:
		s.cfg.MaxClasses = 16
	}
	s.cfg.Terms, s.cfg.Devices = slices.Clone(cfg.Terms), slices.Clone(cfg.Devices)
	if cfg.Request == nil {
		s.cfg.Request = s.wholeUnits
	}
	return s, nil
}

// Set hands in the state of a node's machine, or tells that it changed. It is kept, read during decisions and, if the NUMA is
// a reserver, written to: each node has a state of its own. The error wraps ErrData if it is nil.
func (s *NUMA) Set(node string, state *numa.State) error {
	if state == nil {
		return badData("NUMA: the state of node %q is nil", node)
	}
	s.version++
	s.machines.set(node, machine{state, s.version})
	return nil
}

// Forget drops the machine of a node.
func (s *NUMA) Forget(node string) { s.machines.forget(node) }

// Name returns "NUMA".
func (*NUMA) Name() string { return "NUMA" }

// Concurrent promises that Score may be called by several goroutines at a time, for different nodes.
func (*NUMA) Concurrent() {}

// Filter takes out the nodes whose machine can't place the pod. It costs one numa State.Plan for each feasible node whose state
// is new for the pod's class. Errors are those of Plan but for *numa.Unplaceable, and the context's.
func (s *NUMA) Filter(in *score.Input, feasible *topology.NodeSet) error {
	request := s.cfg.Request(in.Pod)
	if empty(request) {
		return nil
	}
	column, looked := s.column(in), 0
	for n := range feasible.All() {
		if looked++; looked%slowNodes == 0 && in.Context().Err() != nil {
			return in.Context().Err()
		}
		known, v, err := s.rate(in, n, request, column)
		if err != nil {
			return err
		}
		if known && v == unplaceable {
			feasible.Remove(n)
		}
	}
	return nil
}

// slowNodes is how many nodes are planned between two looks at the context.
const slowNodes = 16

// Prepare finds what is kept for the pod's class.
func (s *NUMA) Prepare(in *score.Input, _ []topology.NodeID) error {
	s.slot.Put(in, s.column(in))
	return nil
}

// Score costs what Filter does; after Filter, next to nothing.
func (s *NUMA) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	request := s.cfg.Request(in.Pod)
	if empty(request) {
		for _, n := range nodes {
			column[n] = 0
		}
		return nil
	}
	kept, _ := s.slot.Get(in)
	for part := range slices.Chunk(nodes, slowNodes) {
		if err := in.Context().Err(); err != nil {
			return err
		}
		for _, n := range part {
			_, v, err := s.rate(in, n, request, kept)
			if err != nil {
				return err
			}
			column[n] = max(v, 0)
		}
	}
	return nil
}

// column returns what is kept for the class of the pod, with room for all nodes.
func (s *NUMA) column(in *score.Input) *numaColumn {
	i := slices.IndexFunc(s.kept, func(c *numaColumn) bool { return c.class == in.Class })
	if i < 0 {
		i = len(s.kept)
		s.kept = append(s.kept, &numaColumn{class: in.Class})
	}
	c := s.kept[i]
	s.kept = append(slices.Delete(s.kept, i, i+1), c) // the most recently used is the last
	if len(s.kept) > s.cfg.MaxClasses {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.machines.grow(in.Graph.Topology())
	if more := in.Graph.Topology().Cap() - len(c.scores); more > 0 {
		c.scores = append(c.scores, make([]numaScore, more)...)
	}
	return c
}

// rate returns the score of a node, and whether its machine is known. kept may be nil.
func (s *NUMA) rate(in *score.Input, n topology.NodeID, request *numa.Request, kept *numaColumn) (known bool, v int64, err error) {
	m, known := s.machines.find(in.Graph.Topology(), n)
	if !known {
		return false, 0, nil
	}
	if kept != nil && kept.scores[n].version == m.version {
		return true, kept.scores[n].score, nil
	}
	placement, err := m.state.Plan(request)
	var no *numa.Unplaceable
	switch {
	case errors.As(err, &no):
		v = unplaceable
	case err != nil:
		return true, 0, fmt.Errorf("node %q: %w", in.Graph.Topology().Name(n), err)
	default:
		if v, err = s.mean(m.state, placement); err != nil {
			return true, 0, fmt.Errorf("node %q: %w", in.Graph.Topology().Name(n), err)
		}
	}
	if kept != nil {
		kept.scores[n] = numaScore{m.version, v}
	}
	return true, v, nil
}

// mean returns the score of a placement.
func (s *NUMA) mean(state *numa.State, p *numa.Placement) (int64, error) {
	var sum float64
	for i, t := range s.cfg.Terms {
		v := t.Score(state, p)
		if !(v >= 0 && v <= 1) {
			return 0, badData("NUMA: Terms[%d].Score returned %v for pod %s, want 0..1", i, v, p.Name)
		}
		sum += float64(t.Weight * v)
	}
	return percent(sum / s.weights), nil
}

// Reserve applies the placement to the state of the node's machine, if there is one. Errors are those of numa's State.Plan.
func (s *NUMA) Reserve(in *score.Input, n topology.NodeID) error {
	name := in.Graph.Topology().Name(n)
	request := s.cfg.Request(in.Pod)
	m, known := s.machines.find(in.Graph.Topology(), n)
	if !known || empty(request) {
		return nil
	}
	placement, err := m.state.Plan(request)
	if err == nil {
		err = m.state.Apply(placement)
	}
	if err != nil {
		return err
	}
	return s.Set(name, m.state)
}

// Unreserve releases what Reserve applied.
func (s *NUMA) Unreserve(in *score.Input, n topology.NodeID) {
	name := in.Graph.Topology().Name(n)
	request := s.cfg.Request(in.Pod)
	m, known := s.machines.find(in.Graph.Topology(), n)
	if !known || empty(request) || m.state.Release(request.Name) != nil { // it has nothing of the pod
		return
	}
	_ = s.Set(name, m.state) // it is not nil
}

// wholeUnits is the request of a pod for NUMAConfig.Request = nil.
func (s *NUMA) wholeUnits(p *berth.Pod) *numa.Request {
	c := numa.Container{Name: p.Name}
	if cpu := p.Requests.MilliCPU; cpu > 0 && cpu%1000 == 0 {
		c.CPUs = int(min(cpu/1000, numa.MaxCPUID))
		if p.Requests.Memory > 0 {
			c.Memory = []numa.Memory{{Bytes: p.Requests.Memory}}
		}
	}
	if s.cfg.GPUs != "" && p.GPU.Count > 0 && p.GPU.Milli == berth.GPUMilli {
		c.Devices = append(c.Devices, numa.DeviceCount{Resource: s.cfg.GPUs, Count: p.GPU.Count})
	}
	for _, name := range s.cfg.Devices {
		if count := p.Requests.Scalar[name]; count > 0 {
			c.Devices = append(c.Devices, numa.DeviceCount{Resource: name, Count: int(min(count, math.MaxInt32))})
		}
	}
	return &numa.Request{Name: p.Key().String(), Containers: []numa.Container{c}}
}

// empty reports whether a request has nothing to align.
func empty(r *numa.Request) bool {
	if r == nil {
		return true
	}
	return !slices.ContainsFunc(r.Containers, func(c numa.Container) bool {
		return c.CPUs > 0 || len(c.Memory) > 0 || len(c.Devices) > 0
	})
}
