package policy

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// Parts of an expression are compiled to these, by type. Those of numbers and texts report false for a missing value.
type (
	truthOf  func(r *run, n topology.NodeID) bool
	numberOf func(r *run, n topology.NodeID) (Number, bool)
	textOf   func(r *run, n topology.NodeID) (string, bool)
	// valueOf is any of the three; which is known from the type of the node.
	valueOf struct {
		truth  truthOf
		number numberOf
		text   textOf
	}
)

// program is what the compiled parts of an expression refer to by index.
type program struct {
	labels []string      // label keys
	once   []valueOf     // parts that do not depend on the node, and are evaluated when first asked for
	onceAt map[*node]int // where they are in once
	calls  []int         // calls of the user's functions, by number of arguments

	columns map[string]*column // of families, by expression
}

// compiler turns a syntax tree into closures and set operations.
type compiler struct {
	*program
	// keep lets sets be kept between evaluations.
	keep bool
	// inOnce is that the part at hand belongs to one of program.once.
	inOnce bool
	// within is the family that the part at hand belongs to, if any: numbers that depend on the node alone are read from
	// columns there, and it takes note of what was taken out.
	within *family
}

func newCompiler(keep bool) *compiler {
	return &compiler{program: &program{onceAt: make(map[*node]int), columns: make(map[string]*column)}, keep: keep}
}

func (c *compiler) key(label string) int {
	i := slices.Index(c.labels, label)
	if i < 0 {
		i = len(c.labels)
		c.labels = append(c.labels, label)
	}
	return i
}

// hoist takes a part out that does not depend on the node, so that it is evaluated once. ok is false if it is not worth it.
func (c *compiler) hoist(n *node) (at int, ok bool) {
	if c.inOnce || n.kind == literal || n.readsNode() {
		return 0, false
	}
	at, ok = c.onceAt[n]
	if !ok {
		inner := compiler{program: c.program, keep: c.keep, inOnce: true}
		part := inner.value(n)
		at = len(c.once)
		c.once = append(c.once, part)
		c.onceAt[n] = at
	}
	if f := c.within; f != nil && !slices.Contains(f.once, at) {
		f.once = append(f.once, at)
	}
	return at, true
}

// recall returns the value of a part that was taken out.
func (r *run) recall(at int) *value {
	m := &r.once[at]
	if !m.known {
		m.value = r.program.once[at].of(r, topology.None)
		m.known = true
	}
	return &m.value
}

func (v *valueOf) of(r *run, n topology.NodeID) (out value) {
	ok := true
	switch {
	case v.truth != nil:
		out.truth = v.truth(r, n)
	case v.number != nil:
		out.num, ok = v.number(r, n)
	default:
		out.text, ok = v.text(r, n)
	}
	out.missing = !ok
	return out
}

func (c *compiler) value(n *node) valueOf {
	switch n.typ {
	case BoolType:
		return valueOf{truth: c.truth(n)}
	case NumberType:
		return valueOf{number: c.number(n)}
	}
	return valueOf{text: c.text(n)}
}

func (c *compiler) values(ns []*node) []valueOf {
	vs := make([]valueOf, len(ns))
	for i, n := range ns {
		vs[i] = c.value(n)
	}
	return vs
}

// invoke prepares a call of a function of the user's: the arguments are evaluated, and ready is false if one is missing.
func (c *compiler) invoke(n *node) func(r *run, node topology.NodeID) (call *Call, ready bool) {
	args, reads := c.values(n.args), n.own.Reads
	at := len(c.calls)
	c.calls = append(c.calls, len(args))
	return func(r *run, node topology.NodeID) (*Call, bool) {
		call := &r.calls[at]
		for i := range args {
			call.args[i] = args[i].of(r, node)
			if call.args[i].missing {
				return nil, false
			}
		}
		call.Node = topology.None
		if reads != 0 {
			call.Graph = r.graph
		}
		if reads&ReadsNode != 0 {
			call.Node = node
		}
		if reads&ReadsPod != 0 {
			call.Pod = r.pod
		}
		return call, true
	}
}
