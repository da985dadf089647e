package policy

import (
	"math/bits"

	"github.com/berth-go/berth/topology"
)

// wordBits is how many nodes share a word of a NodeSet, and a block of numbers.
const wordBits = 64

type block = [wordBits]Number

// blockOf computes a number for the nodes of a word, from first on, as far as they are present: a loop for each operator
// instead of calls for each node. What it returns is valid until it is called again.
type blockOf func(r *run, first topology.NodeID, present uint64) (values *block, missing uint64)

// blocks compiles a number of a family to blocks.
func (c *compiler) blocks(n *node) blockOf {
	var own block
	switch {
	case !n.readsNode():
		of := c.number(n)
		return func(r *run, _ topology.NodeID, _ uint64) (*block, uint64) {
			x, ok := of(r, topology.None)
			if !ok {
				return &own, ^uint64(0)
			}
			for i := 0; i < len(own) && own[i] != x; i++ { // all the same, mostly as last time
				own[i] = x
			}
			return &own, 0
		}
	case n.ofNodeAlone():
		column := c.column(n)
		return func(_ *run, first topology.NodeID, _ uint64) (*block, uint64) {
			return (*block)(column.values[first:]), column.missing[first/wordBits]
		}
	case n.kind >= add && n.kind <= modulo:
		a, b := c.blocks(n.args[0]), c.blocks(n.args[1])
		return func(r *run, first topology.NodeID, present uint64) (*block, uint64) {
			x, missing := a(r, first, present)
			y, too := b(r, first, present)
			missing |= too
			return &own, missing | n.kind.computeBlock(&own, x, y)
		}
	}
	of := c.number(n)
	return func(r *run, first topology.NodeID, present uint64) (*block, uint64) {
		missing := uint64(0)
		for ; present != 0; present &= present - 1 {
			i := bits.TrailingZeros64(present)
			x, ok := of(r, first+topology.NodeID(i))
			if own[i] = x; !ok {
				missing |= 1 << i
			}
		}
		return &own, missing
	}
}

// computeBlock applies an operator and returns where there is no result.
func (k kind) computeBlock(out, x, y *block) (missing uint64) {
	switch k {
	case add:
		for i := range out {
			out[i] = x[i].add(y[i])
		}
	case subtract:
		for i := range out {
			out[i] = x[i].sub(y[i])
		}
	default:
		for i := range out {
			z, ok := k.compute(x[i], y[i])
			if out[i] = z; !ok {
				missing |= 1 << i
			}
		}
	}
	return missing
}

// comparisonOf is a comparison of numbers by blocks.
type comparisonOf struct {
	kind kind
	a, b blockOf
}

// blockComparison compiles a comparison of numbers; nil for all else.
func (c *compiler) blockComparison(n *node) *comparisonOf {
	if n.kind < equal || n.kind > greaterEqual || n.args[0].typ != NumberType {
		return nil
	}
	return &comparisonOf{n.kind, c.blocks(n.args[0]), c.blocks(n.args[1])}
}

func (t *comparisonOf) narrow(r *run, s *topology.NodeSet) {
	s.Retain(func(first topology.NodeID, present uint64) uint64 {
		x, missing := t.a(r, first, present)
		y, too := t.b(r, first, present)
		return t.kind.compareBlock(x, y) &^ (missing | too)
	})
}

func (k kind) compareBlock(x, y *block) uint64 {
	switch k {
	case less:
		return below(x, y)
	case lessEqual:
		return ^below(y, x)
	case greater:
		return below(y, x)
	case greaterEqual:
		return ^below(x, y)
	case notEqual:
		return below(x, y) | below(y, x)
	}
	return ^(below(x, y) | below(y, x))
}

// below returns where x is less than y. The compiler makes no branch of it, which half of the time would be mispredicted.
func below(x, y *block) (mask uint64) {
	for i := wordBits - 1; i >= 0; i-- {
		less := uint64(0)
		if x[i] < y[i] {
			less = 1
		}
		mask = mask<<1 | less
	}
	return mask
}
