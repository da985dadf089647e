package policy

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// term is a bool as an operation on sets: narrow takes out of s the nodes for which it is false. What is kept between
// evaluations is kept in the term.
type term interface {
	narrow(r *run, s *topology.NodeSet)
}

// source is a term whose nodes can be had without asking about certain ones.
type source interface {
	term
	// union adds all nodes for which the term is true.
	union(r *run, s *topology.NodeSet)
}

type (
	// onceTerm does not depend on the node: all or nothing.
	onceTerm struct{ holds truthOf }
	// postings is a union of posting lists of the index, or what amounts to it.
	postings struct {
		add func(r *run, s *topology.NodeSet)
	}
	// complement holds where of does not.
	complement struct{ of term }
	// each is evaluated node by node, for the nodes in question.
	each struct{ holds truthOf }
	// allOf and anyOf have their operands by kind, the cheapest first.
	allOf struct {
		once []onceTerm
		rest []term
	}
	anyOf struct {
		once    []onceTerm
		sources []source
		rest    []term
	}
)

func (t onceTerm) narrow(r *run, s *topology.NodeSet) {
	if !t.holds(r, topology.None) {
		s.Clear()
	}
}

func (t postings) union(r *run, s *topology.NodeSet) { t.add(r, s) }

func (t postings) narrow(r *run, s *topology.NodeSet) {
	have := r.take()
	have.Clear()
	t.add(r, have)
	s.Intersect(have)
	r.give(have)
}

func (t complement) narrow(r *run, s *topology.NodeSet) {
	have := r.take()
	have.CopyFrom(s)
	t.of.narrow(r, have)
	s.Subtract(have)
	r.give(have)
}

func (t allOf) narrow(r *run, s *topology.NodeSet) {
	for _, operand := range t.once {
		if !operand.holds(r, topology.None) {
			s.Clear()
			return
		}
	}
	for _, operand := range t.rest {
		operand.narrow(r, s)
	}
}

// narrow asks each operand of rest only about the nodes for which none before it holds.
func (t anyOf) narrow(r *run, s *topology.NodeSet) {
	for _, operand := range t.once {
		if operand.holds(r, topology.None) {
			return
		}
	}
	switch {
	case len(t.sources) == 0 && len(t.rest) == 0:
		s.Clear()
		return
	case len(t.sources) == 1 && len(t.rest) == 0:
		t.sources[0].narrow(r, s)
		return
	}
	have := r.take()
	have.Clear()
	for _, operand := range t.sources {
		operand.union(r, have)
	}
	if len(t.rest) == 0 {
		s.Intersect(have)
		r.give(have)
		return
	}
	open := r.take()
	open.CopyFrom(s)
	open.Subtract(have)
	for _, operand := range t.rest {
		have.CopyFrom(open)
		operand.narrow(r, have)
		open.Subtract(have)
	}
	s.Subtract(open)
	r.give(open)
	r.give(have)
}

func (t each) narrow(r *run, s *topology.NodeSet) {
	for n := range s.All() {
		if r.stopped() {
			return
		}
		if !t.holds(r, n) {
			s.Remove(n)
		}
	}
}

// set compiles a bool to an operation on sets. If sets may be kept, the largest parts that depend on nothing but the node
// are kept as one set each, and the smallest parts that depend on the pod too as one set for each of the pod's values.
func (c *compiler) set(n *node) term {
	switch {
	case !n.readsNode():
		return onceTerm{c.truth(n)}
	case c.keep && n.ofNodeAlone():
		return c.kept(n)
	case n.kind == not:
		return complement{c.set(n.args[0])}
	case n.kind == and || n.kind == or:
		return c.operands(n)
	}
	if union := c.postings(n); union != nil {
		return postings{union}
	}
	if c.keep && !n.volatile {
		return c.family(n)
	}
	return each{c.truth(n)}
}

// operands compiles the operands of and and or, those that are kept together first.
func (c *compiler) operands(n *node) term {
	var args, ofNode []*node
	for _, arg := range n.flat(n.kind, nil) {
		if c.keep && arg.ofNodeAlone() {
			ofNode = append(ofNode, arg)
		} else {
			args = append(args, arg)
		}
	}
	if len(ofNode) > 1 {
		ofNode = []*node{{kind: n.kind, typ: BoolType, args: ofNode, reads: ReadsNode}}
	}
	var terms []term
	for _, arg := range append(ofNode, args...) {
		terms = append(terms, c.set(arg))
	}
	slices.SortStableFunc(terms, func(a, b term) int { return cost(a) - cost(b) })
	conjunction, disjunction := allOf{}, anyOf{}
	for _, t := range terms {
		once, isOnce := t.(onceTerm)
		source, isSource := t.(source)
		switch {
		case isOnce:
			conjunction.once, disjunction.once = append(conjunction.once, once), append(disjunction.once, once)
		case isSource:
			disjunction.sources = append(disjunction.sources, source)
		default:
			disjunction.rest = append(disjunction.rest, t)
		}
		if !isOnce {
			conjunction.rest = append(conjunction.rest, t)
		}
	}
	if n.kind == or {
		return disjunction
	}
	return conjunction
}

// flat returns the operands of nested operators of one kind.
func (n *node) flat(k kind, to []*node) []*node {
	if n.kind != k {
		return append(to, n)
	}
	for _, arg := range n.args {
		to = arg.flat(k, to)
	}
	return to
}

// cost orders terms by what they cost, roughly.
func cost(t term) int {
	switch t.(type) {
	case *keptTerm:
		return 0
	case postings:
		return 1
	case *family:
		return 3
	case each:
		return 4
	}
	return 2
}
