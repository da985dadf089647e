package policy

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// postings returns what adds the nodes for which n holds from the lists of the index, or nil if there is no such way.
func (c *compiler) postings(n *node) func(r *run, s *topology.NodeSet) {
	if n.kind == call && n.own == nil {
		switch n.text {
		case "hasLabel":
			return c.labelPostings(c.key(n.args[0].text), texts(n.args[1:]))
		case "matchesTaint":
			match := taintTest(n)
			return func(r *run, s *topology.NodeSet) { r.graph.UnionTainted(s, match) }
		}
	}
	of, k, operand, ok := n.sides()
	if isTextTest(n) {
		of, k, operand, ok = n.args[0], call, n.args[1], true
	}
	if !ok || of.kind != call || of.own != nil || operand.readsNode() {
		return nil
	}
	switch {
	case of.text == "label" && k == equal:
		return c.equalPostings(of.args[0].text, c.text(operand))
	case operand.kind != literal: // the tests below cost more, so that the set had better be kept
		return nil
	case of.text == "label":
		test := textTest(n)
		return c.valuePostings(of.args[0].text, func(v string) bool { return test(v, operand.text) })
	case of.text == "labelNumber":
		return c.valuePostings(of.args[0].text, func(v string) bool {
			x, ok := labelNumber(v)
			return ok && k.compares(x, operand.num)
		})
	case of.text == "nodeName" && k == equal:
		return func(r *run, s *topology.NodeSet) {
			if n, ok := r.index.Lookup(operand.text); ok {
				s.Add(n)
			}
		}
	}
	return nil
}

// sides returns the sides of a comparison, that which depends on the node first, and how the first compares then.
func (n *node) sides() (of *node, k kind, operand *node, ok bool) {
	if n.kind < equal || n.kind > greaterEqual {
		return nil, 0, nil, false
	}
	of, k, operand = n.args[0], n.kind, n.args[1]
	if of.readsNode() == operand.readsNode() {
		return nil, 0, nil, false
	}
	if !of.readsNode() {
		of, k, operand = operand, k.mirrored(), of
	}
	return of, k, operand, true
}

// mirrored returns the comparison with its sides exchanged.
func (k kind) mirrored() kind {
	switch k {
	case less:
		return greater
	case lessEqual:
		return greaterEqual
	case greater:
		return less
	case greaterEqual:
		return lessEqual
	}
	return k
}

func isTextTest(n *node) bool {
	return n.kind == call && n.own == nil && slices.Contains([]string{"startsWith", "endsWith", "contains"}, n.text)
}

// labelPostings adds the nodes that carry a label key, with one of the values if there are any.
func (c *compiler) labelPostings(key int, values []string) func(r *run, s *topology.NodeSet) {
	return func(r *run, s *topology.NodeSet) {
		k := r.keys[key]
		if !k.known {
			return
		}
		if len(values) == 0 {
			r.index.UnionCarriers(s, k.id)
		}
		for _, v := range values {
			if d, ok := r.index.FindValue(k.id, v); ok {
				r.index.Union(s, d)
			}
		}
	}
}

// equalPostings adds the nodes whose value of a label is a text that does not depend on the node.
func (c *compiler) equalPostings(label string, text textOf) func(r *run, s *topology.NodeSet) {
	key := c.key(label)
	return func(r *run, s *topology.NodeSet) {
		k := r.keys[key]
		v, ok := text(r, topology.None)
		if !k.known || !ok {
			return
		}
		if d, ok := r.index.FindValue(k.id, v); ok {
			r.index.Union(s, d)
		}
	}
}

// valuePostings adds the nodes whose value of a label passes a test, which is asked once a value.
func (c *compiler) valuePostings(label string, test func(string) bool) func(r *run, s *topology.NodeSet) {
	key := c.key(label)
	return func(r *run, s *topology.NodeSet) {
		k := r.keys[key]
		if !k.known {
			return
		}
		for v := range topology.ValueID(r.index.ValueCap(k.id)) {
			if r.stopped() {
				return
			}
			d := topology.Domain{Key: k.id, Value: v}
			if r.index.Size(d) > 0 && test(r.index.ValueName(d)) {
				r.index.Union(s, d)
			}
		}
	}
}
