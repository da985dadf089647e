package policy

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// number compiles a number to be evaluated node by node.
func (c *compiler) number(n *node) numberOf {
	if at, ok := c.hoist(n); ok {
		return func(r *run, _ topology.NodeID) (Number, bool) {
			v := r.recall(at)
			return v.num, !v.missing
		}
	}
	if c.within != nil && n.ofNodeAlone() {
		column := c.column(n)
		return func(_ *run, node topology.NodeID) (Number, bool) { return column.at(node) }
	}
	switch n.kind {
	case literal:
		return func(*run, topology.NodeID) (Number, bool) { return n.num, true }
	case negate:
		arg := c.number(n.args[0])
		return func(r *run, node topology.NodeID) (Number, bool) {
			x, ok := arg(r, node)
			return x.negate(), ok
		}
	case call:
		if n.own != nil {
			call := c.invoke(n)
			return func(r *run, node topology.NodeID) (Number, bool) {
				ready, ok := call(r, node)
				if !ok {
					return 0, false
				}
				return n.own.Number(ready)
			}
		}
		return c.numberCall(n)
	}
	a, b, k := c.number(n.args[0]), c.number(n.args[1]), n.kind
	return func(r *run, node topology.NodeID) (Number, bool) {
		x, ok := a(r, node)
		y, oky := b(r, node)
		if !ok || !oky {
			return 0, false
		}
		return k.compute(x, y)
	}
}

func (k kind) compute(x, y Number) (Number, bool) {
	switch k {
	case add:
		return x.add(y), true
	case subtract:
		return x.sub(y), true
	case multiply:
		return x.mul(y), true
	case divide:
		return x.div(y)
	}
	return x.mod(y)
}

func (c *compiler) numberCall(n *node) numberOf {
	switch n.text {
	case "if":
		test, yes, no := c.truth(n.args[0]), c.number(n.args[1]), c.number(n.args[2])
		return func(r *run, node topology.NodeID) (Number, bool) {
			if test(r, node) {
				return yes(r, node)
			}
			return no(r, node)
		}
	case "default":
		arg, otherwise := c.number(n.args[0]), c.number(n.args[1])
		return func(r *run, node topology.NodeID) (Number, bool) {
			if x, ok := arg(r, node); ok {
				return x, true
			}
			return otherwise(r, node)
		}
	case "abs":
		arg := c.number(n.args[0])
		return func(r *run, node topology.NodeID) (Number, bool) {
			x, ok := arg(r, node)
			return max(x, x.negate()), ok
		}
	case "min", "max":
		return c.extreme(n)
	}
	if n.reads&ReadsNode != 0 {
		return c.nodeNumber(n)
	}
	return c.onceNumber(n)
}

// extreme compiles min and max.
func (c *compiler) extreme(n *node) numberOf {
	args, largest := c.values(n.args), n.text == "max"
	return func(r *run, node topology.NodeID) (Number, bool) {
		best, ok := args[0].number(r, node)
		for i := range args[1:] {
			x, okx := args[1+i].number(r, node)
			ok = ok && okx
			if (x > best) == largest {
				best = x
			}
		}
		return best, ok
	}
}

// nodeNumber compiles what is read from a node.
func (c *compiler) nodeNumber(n *node) numberOf {
	switch n.text {
	case "labelNumber":
		key := c.key(n.args[0].text)
		return func(r *run, node topology.NodeID) (Number, bool) {
			v, ok := r.label(node, key)
			if !ok {
				return 0, false
			}
			return labelNumber(v)
		}
	case "podsWithLabel":
		key, values := n.args[0].text, texts(n.args[1:])
		return func(r *run, node topology.NodeID) (Number, bool) {
			count := int64(0)
			for _, p := range r.graph.PodsOn(node) {
				if carries(p, key, values) {
					count++
				}
			}
			return Whole(count), true
		}
	case "gpus":
		return func(r *run, node topology.NodeID) (Number, bool) {
			return Whole(int64(len(r.graph.GPUFree(node)))), true
		}
	case "gpusFree":
		return func(r *run, node topology.NodeID) (Number, bool) {
			var milli Number
			for _, free := range r.graph.GPUFree(node) {
				milli += Number(free)
			}
			return milli, true
		}
	}
	return amountOf(n.text, n.args[0].text)
}

// labelNumber reads the value of a label as a number is written in an expression.
func labelNumber(text string) (Number, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	n, fault := parseNumber(text)
	if negative {
		n = -n
	}
	return n, fault == ""
}

// amountOf compiles allocatable, requested and free.
func amountOf(function, resource string) numberOf {
	if function == "free" && resource == berth.ResourceCPU { // the most frequent ones have a shorter way
		return func(r *run, node topology.NodeID) (Number, bool) { return Number(r.graph.FreeMilliCPU(node)), true }
	}
	if function == "free" && resource == berth.ResourceMemory {
		return func(r *run, node topology.NodeID) (Number, bool) { return Whole(r.graph.FreeMemory(node)), true }
	}
	return func(r *run, node topology.NodeID) (Number, bool) {
		allocatable, requested := r.graph.Amount(node, resource)
		switch function {
		case "allocatable":
			return quantity(resource, allocatable), true
		case "requested":
			return quantity(resource, requested), true
		}
		return quantity(resource, allocatable-requested), true
	}
}

// quantity is an amount of a resource as a Number: CPU is counted in milli, all else in units.
func quantity(resource string, amount int64) Number {
	if resource == berth.ResourceCPU {
		return Number(amount)
	}
	return Whole(amount)
}

// onceNumber compiles what is read from the pod and the cluster.
func (c *compiler) onceNumber(n *node) numberOf {
	switch n.text {
	case "podPriority":
		return func(r *run, _ topology.NodeID) (Number, bool) { return Whole(int64(r.pod.Priority)), true }
	case "podGPUs":
		return func(r *run, _ topology.NodeID) (Number, bool) { return Number(r.pod.GPU.Total()), true }
	case "podRequest":
		resource := n.args[0].text
		return func(r *run, _ topology.NodeID) (Number, bool) {
			if resource == berth.ResourcePods {
				return Whole(1), true // every pod counts as one
			}
			return quantity(resource, r.pod.Requests.Get(resource)), true
		}
	case "nodes":
		return func(r *run, _ topology.NodeID) (Number, bool) { return Whole(int64(r.index.Len())), true }
	case "placedPods":
		return func(r *run, _ topology.NodeID) (Number, bool) { return Whole(int64(r.graph.Pods())), true }
	case "domains":
		key := c.key(n.args[0].text)
		return func(r *run, _ topology.NodeID) (Number, bool) {
			if k := r.keys[key]; k.known {
				return Whole(int64(r.index.Domains(k.id))), true
			}
			return 0, true
		}
	}
	return c.count(n)
}

// count compiles the number of nodes for which something holds.
func (c *compiler) count(n *node) numberOf {
	inner := compiler{program: c.program, keep: c.keep} // its argument may depend on the node
	holds := inner.set(n.args[0])
	return func(r *run, _ topology.NodeID) (Number, bool) {
		s := r.take()
		defer r.give(s)
		s.CopyFrom(r.index.Live())
		holds.narrow(r, s)
		return Whole(int64(s.Len())), true
	}
}
