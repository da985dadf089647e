package policy

import (
	"context"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// value is a value of any type; only the field of its type means anything, and only if it is not missing.
type value struct {
	truth   bool
	missing bool
	num     Number
	text    string
}

// run is what the compiled parts of an expression are evaluated in. It belongs to one evaluation at a time.
type run struct {
	*program
	graph *affinity.Graph
	index *topology.Index
	pod   *berth.Pod
	class uint64

	ctx   context.Context
	err   error // of ctx
	steps int

	keys  []labelKey // of program.labels
	once  []memo     // of program.once
	calls []Call     // of program.calls
	spare []*topology.NodeSet
	// epoch tells what was kept of one graph from what was of another.
	epoch int
}

// labelKey is the id of a label key. A key may have none until a node carries it.
type labelKey struct {
	id    topology.KeyID
	known bool
}

// memo is the value of a part that does not depend on the node, once it was asked for.
type memo struct {
	value
	known bool
}

func (p *program) newRun() *run {
	r := &run{program: p, keys: make([]labelKey, len(p.labels)), once: make([]memo, len(p.once)), calls: make([]Call, len(p.calls))}
	for i, arguments := range p.calls {
		r.calls[i].args = make([]value, arguments)
	}
	return r
}

// begin prepares for the evaluation of in.
func (r *run) begin(in *score.Input) {
	if r.graph != in.Graph {
		r.graph, r.index = in.Graph, in.Graph.Topology()
		r.epoch++
		clear(r.keys)
	}
	r.pod, r.class, r.ctx = in.Pod, in.Class, in.Context()
	r.err = r.ctx.Err()
	for i := range r.keys {
		if k := &r.keys[i]; !k.known {
			k.id, k.known = r.index.FindKey(r.labels[i])
		}
	}
	for i := range r.once {
		r.once[i] = memo{}
	}
}

// end lets go of what is the caller's.
func (r *run) end() {
	r.pod, r.ctx = nil, nil
	for i := range r.calls {
		r.calls[i].Pod = nil
	}
}

// stopped reports whether the context of the evaluation is done. Loops over nodes ask for each of them; the context is looked
// at now and then. What was not finished by then is not kept.
func (r *run) stopped() bool {
	const interval = 512
	if r.steps++; r.steps%interval == 0 && r.err == nil {
		r.err = r.ctx.Err()
	}
	return r.err != nil
}

// take lends a set of any content, give takes it back.
func (r *run) take() *topology.NodeSet {
	k := len(r.spare)
	if k == 0 {
		return &topology.NodeSet{}
	}
	s := r.spare[k-1]
	r.spare = r.spare[:k-1]
	return s
}

func (r *run) give(s *topology.NodeSet) { r.spare = append(r.spare, s) }

// label returns the value of a node's label.
func (r *run) label(n topology.NodeID, key int) (string, bool) {
	k := r.keys[key]
	if !k.known {
		return "", false
	}
	v := r.index.Value(n, k.id)
	if v == topology.NoValue {
		return "", false
	}
	return r.index.ValueName(topology.Domain{Key: k.id, Value: v}), true
}
