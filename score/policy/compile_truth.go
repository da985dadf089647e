package policy

import (
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// truth compiles a bool to be evaluated node by node.
func (c *compiler) truth(n *node) truthOf {
	if at, ok := c.hoist(n); ok {
		return func(r *run, _ topology.NodeID) bool { return r.recall(at).truth }
	}
	switch n.kind {
	case literal:
		return func(*run, topology.NodeID) bool { return n.truth }
	case not:
		arg := c.truth(n.args[0])
		return func(r *run, node topology.NodeID) bool { return !arg(r, node) }
	case and, or:
		return c.junction(n)
	case call:
		if n.own != nil {
			call := c.invoke(n)
			return func(r *run, node topology.NodeID) bool {
				ready, ok := call(r, node)
				return ok && n.own.Bool(ready)
			}
		}
		return c.truthCall(n)
	}
	return c.comparison(n)
}

func (c *compiler) junction(n *node) truthOf {
	args := make([]truthOf, len(n.args))
	for i, arg := range n.args {
		args[i] = c.truth(arg)
	}
	stop := n.kind == or // the value that settles it
	return func(r *run, node topology.NodeID) bool {
		for _, arg := range args {
			if arg(r, node) == stop {
				return stop
			}
		}
		return !stop
	}
}

// comparison compiles a comparison. It is false if a side is missing.
func (c *compiler) comparison(n *node) truthOf {
	want := n.kind == equal
	switch n.args[0].typ {
	case BoolType:
		a, b := c.truth(n.args[0]), c.truth(n.args[1])
		return func(r *run, node topology.NodeID) bool { return (a(r, node) == b(r, node)) == want }
	case TextType:
		a, b := c.text(n.args[0]), c.text(n.args[1])
		return func(r *run, node topology.NodeID) bool {
			x, ok := a(r, node)
			y, oky := b(r, node)
			return ok && oky && (x == y) == want
		}
	}
	a, b, k := c.number(n.args[0]), c.number(n.args[1]), n.kind
	return func(r *run, node topology.NodeID) bool {
		x, ok := a(r, node)
		y, oky := b(r, node)
		return ok && oky && k.compares(x, y)
	}
}

func (k kind) compares(x, y Number) bool {
	switch k {
	case equal:
		return x == y
	case notEqual:
		return x != y
	case less:
		return x < y
	case lessEqual:
		return x <= y
	case greater:
		return x > y
	}
	return x >= y
}

func (c *compiler) truthCall(n *node) truthOf {
	switch n.text {
	case "present":
		arg := c.value(n.args[0])
		return func(r *run, node topology.NodeID) bool {
			v := arg.of(r, node)
			return !v.missing
		}
	case "startsWith", "endsWith", "contains":
		a, b, test := c.text(n.args[0]), c.text(n.args[1]), textTest(n)
		return func(r *run, node topology.NodeID) bool {
			x, ok := a(r, node)
			y, oky := b(r, node)
			return ok && oky && test(x, y)
		}
	case "hasLabel":
		key, values := c.key(n.args[0].text), texts(n.args[1:])
		return func(r *run, node topology.NodeID) bool {
			v, ok := r.label(node, key)
			return ok && (len(values) == 0 || slices.Contains(values, v))
		}
	case "matchesTaint":
		match := taintTest(n)
		return func(r *run, node topology.NodeID) bool {
			taints := r.graph.Taints(node)
			for i := range taints {
				if match(&taints[i]) {
					return true
				}
			}
			return false
		}
	case "unschedulable":
		return func(r *run, node topology.NodeID) bool { return r.graph.Unschedulable(node) }
	}
	// podHasLabel
	key, values := n.args[0].text, texts(n.args[1:])
	return func(r *run, _ topology.NodeID) bool { return carries(r.pod, key, values) }
}

// carries reports whether a pod has a label, with one of the values if there are any.
func carries(p *berth.Pod, key string, values []string) bool {
	v, ok := p.Labels[key]
	return ok && (len(values) == 0 || slices.Contains(values, v))
}

// texts returns the texts of literals.
func texts(literals []*node) []string {
	var ts []string
	for _, n := range literals {
		ts = append(ts, n.text)
	}
	return ts
}

// textTest returns what a comparison of texts, by operator or by function, tests.
func textTest(n *node) func(a, b string) bool {
	switch {
	case n.kind == notEqual:
		return func(a, b string) bool { return a != b }
	case n.text == "startsWith":
		return strings.HasPrefix
	case n.text == "endsWith":
		return strings.HasSuffix
	case n.text == "contains":
		return strings.Contains
	}
	return func(a, b string) bool { return a == b }
}

// taintTest returns the test of matchesTaint: by key, key and effect, or key, value and effect.
func taintTest(n *node) func(*berth.Taint) bool {
	args := texts(n.args)
	key, effect := args[0], berth.TaintEffect(args[len(args)-1])
	return func(t *berth.Taint) bool {
		return t.Key == key && (len(args) == 1 || t.Effect == effect) && (len(args) < 3 || t.Value == args[1])
	}
}
