package numa

import (
	"fmt"
	"math/bits"
)

// Resource is what one hint provider would say, written as a predicate
// instead of a list of masks: a mask holds the request if it satisfies every
// demand and touches every set of Must. The masks that do are closed under
// adding nodes, which is what lets Merge search instead of enumerate.
//
// A Resource without demands has no preference.
type Resource struct {
	// Name appears in explanations.
	Name string
	// Nodes are the nodes that masks are drawn from; empty means every node
	// that a supply names. The kubelet's CPU manager draws from nodes with
	// CPUs, the memory manager from all, the device manager from nodes that
	// host the device.
	Nodes Mask
	// Demands must all hold for the same mask.
	Demands []Demand
	// Must lists node sets of which every mask has to touch each: the nodes
	// of CPUs or devices that the pod already has and has to reuse.
	Must []Mask
	// Grouped resources obey MergeConfig.Groups.
	Grouped bool
	// AlignSockets also prefers masks that span no more packages than the
	// narrowest mask needs (the kubelet's align-by-socket).
	AlignSockets bool
}

// Demand asks that the supplies that a mask touches add up to Amount.
type Demand struct {
	Amount int64
	Supply []Supply
}

// Supply is an amount that a mask gets as soon as it has one of Nodes. CPUs
// and memory sit on one node each; a device may be near to several.
type Supply struct {
	Nodes Mask
	// Total is what there would be on an empty machine: it decides which
	// masks are preferred. Free is what there is now.
	Total, Free int64
}

// weights is one demand on dense node indexes.
type weights struct {
	need   int64
	single []int64 // by node
	shared []sharedSupply
}

// sharedSupply is a supply on several nodes.
type sharedSupply struct {
	nodes  []int32
	amount int64
}

// need is a compiled resource: the demands by what is free (Must included)
// and by total capacity.
type need struct {
	grouped bool
	sockets bool   // socket-aligned
	allowed []bool // by node
	free    []weights
	total   []weights
}

func (l *Layout) compileResource(r *Resource, mem *scratch) (*need, error) {
	n := len(l.nodeIDs)
	q := mem.needs.one()
	*q = need{grouped: r.Grouped, sockets: r.AlignSockets, allowed: mem.flags.take(n)}
	all := mem.weights.take(2*len(r.Demands) + len(r.Must))
	q.total = all[:len(r.Demands)]
	q.free = all[len(r.Demands):]
	for i := range r.Demands {
		d := &r.Demands[i]
		if d.Amount < 0 {
			return nil, fmt.Errorf("%w: resource %q: Demands[%d].Amount = %d is negative", ErrRequest, r.Name, i, d.Amount)
		}
		free, total := &q.free[i], &q.total[i]
		*free = weights{need: d.Amount, single: mem.wide.take(n)}
		*total = weights{need: d.Amount, single: mem.wide.take(n)}
		for j := range d.Supply {
			s := &d.Supply[j]
			if s.Free < 0 || s.Total < 0 {
				return nil, fmt.Errorf("%w: resource %q: Demands[%d].Supply[%d] is negative: %d free of %d", ErrRequest, r.Name, i, j, s.Free, s.Total)
			}
			if at := l.single(&s.Nodes); at >= 0 {
				free.single[at] += s.Free
				total.single[at] += s.Total
				q.allowed[at] = true
				continue
			}
			at := l.indexes(&s.Nodes)
			for _, a := range at {
				q.allowed[a] = true
			}
			free.share(at, s.Free)
			total.share(at, s.Total)
		}
	}
	for i := range r.Must {
		w := &q.free[len(r.Demands)+i]
		*w = weights{need: 1, single: mem.wide.take(n)}
		w.share(l.indexes(&r.Must[i]), 1)
	}
	if !r.Nodes.IsEmpty() {
		for i, id := range l.nodeIDs {
			q.allowed[i] = r.Nodes.Has(id)
		}
	}
	return q, nil
}

// single returns the dense index of the only node of a mask that the machine
// has, or -1.
func (l *Layout) single(nodes *Mask) int {
	at := -1
	for i, w := range nodes[:l.maskWords] {
		if w == 0 {
			continue
		}
		if at >= 0 || w&(w-1) != 0 {
			return -1
		}
		at = i<<6 + bits.TrailingZeros64(w)
	}
	if at < 0 {
		return -1
	}
	return int(l.nodeAt[at])
}

// indexes returns the dense indexes of the nodes that the machine has.
func (l *Layout) indexes(nodes *Mask) []int32 {
	var at []int32
	for i, id := range l.nodeIDs {
		if nodes.Has(id) {
			at = append(at, int32(i))
		}
	}
	return at
}

func (w *weights) share(at []int32, amount int64) {
	switch len(at) {
	case 0:
	case 1:
		w.single[at[0]] += amount
	default:
		w.shared = append(w.shared, sharedSupply{at, amount})
	}
}

// holds reports whether the nodes marked in set satisfy all the weights.
func holds(ws []weights, set []bool) bool {
	for i := range ws {
		w := &ws[i]
		sum := int64(0)
		for n, in := range set {
			if in {
				sum += w.single[n]
			}
		}
		for j := range w.shared {
			if touches(w.shared[j].nodes, set) {
				sum += w.shared[j].amount
			}
		}
		if sum < w.need {
			return false
		}
	}
	return true
}

func touches(nodes []int32, set []bool) bool {
	for _, n := range nodes {
		if set[n] {
			return true
		}
	}
	return false
}
