package policy

import "github.com/berth-go/berth/topology"

// text compiles a text to be evaluated node by node.
func (c *compiler) text(n *node) textOf {
	if at, ok := c.hoist(n); ok {
		return func(r *run, _ topology.NodeID) (string, bool) {
			v := r.recall(at)
			return v.text, !v.missing
		}
	}
	if n.kind == literal {
		return func(*run, topology.NodeID) (string, bool) { return n.text, true }
	}
	if n.own != nil {
		call := c.invoke(n)
		return func(r *run, node topology.NodeID) (string, bool) {
			ready, ok := call(r, node)
			if !ok {
				return "", false
			}
			return n.own.Text(ready)
		}
	}
	switch n.text {
	case "if":
		test, yes, no := c.truth(n.args[0]), c.text(n.args[1]), c.text(n.args[2])
		return func(r *run, node topology.NodeID) (string, bool) {
			if test(r, node) {
				return yes(r, node)
			}
			return no(r, node)
		}
	case "default":
		arg, otherwise := c.text(n.args[0]), c.text(n.args[1])
		return func(r *run, node topology.NodeID) (string, bool) {
			if x, ok := arg(r, node); ok {
				return x, true
			}
			return otherwise(r, node)
		}
	case "label":
		key := c.key(n.args[0].text)
		return func(r *run, node topology.NodeID) (string, bool) { return r.label(node, key) }
	case "nodeName":
		return func(r *run, node topology.NodeID) (string, bool) { return r.index.Name(node), true }
	case "gpuModel":
		return func(r *run, node topology.NodeID) (string, bool) {
			model := r.graph.GPUModel(node)
			return model, model != ""
		}
	case "podNamespace":
		return func(r *run, _ topology.NodeID) (string, bool) { return r.pod.Namespace, true }
	}
	// podLabel
	key := n.args[0].text
	return func(r *run, _ topology.NodeID) (string, bool) {
		v, ok := r.pod.Labels[key]
		return v, ok
	}
}
