package policy

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// cluster is the state as plain specs: what the naive evaluator looks at.
type cluster struct {
	nodes []*berth.Node
	pods  []*berth.Pod // placed
	price int64        // what a function that reads the cluster looks at
}

func (c *cluster) node(name string) *berth.Node {
	i := slices.IndexFunc(c.nodes, func(n *berth.Node) bool { return n.Name == name })
	return c.nodes[i]
}

// naive evaluates a syntax tree for one node and one pod, by the book: a number is a fraction, nil is missing, a bool is
// never missing.
type naive struct {
	cluster *cluster
	node    *berth.Node // nil outside of what depends on a node
	pod     *berth.Pod
}

func (v naive) truth(n *node) bool {
	arg := func(i int) *node { return n.args[i] }
	switch n.kind {
	case literal:
		return n.truth
	case not:
		return !v.truth(arg(0))
	case and:
		return !slices.ContainsFunc(n.args, func(a *node) bool { return !v.truth(a) })
	case or:
		return slices.ContainsFunc(n.args, v.truth)
	case equal, notEqual, less, lessEqual, greater, greaterEqual:
		return v.comparison(n)
	}
	switch n.text {
	case "present":
		if arg(0).typ == TextType {
			return v.text(arg(0)) != nil
		}
		return v.number(arg(0)) != nil
	case "startsWith", "endsWith", "contains":
		test := map[string]func(a, b string) bool{"startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix, "contains": strings.Contains}
		a, b := v.text(arg(0)), v.text(arg(1))
		return a != nil && b != nil && test[n.text](*a, *b)
	case "hasLabel":
		return labelled(v.node.Labels, n)
	case "podHasLabel":
		return labelled(v.pod.Labels, n)
	case "matchesTaint":
		return slices.ContainsFunc(v.node.Taints, func(t berth.Taint) bool {
			switch len(n.args) {
			case 1:
				return t.Key == arg(0).text
			case 2:
				return t.Key == arg(0).text && string(t.Effect) == arg(1).text
			}
			return t == berth.Taint{Key: arg(0).text, Value: arg(1).text, Effect: berth.TaintEffect(arg(2).text)}
		})
	case "unschedulable":
		return v.node.Unschedulable
	case "tolerated":
		return naiveTolerated(v.pod, v.node)
	case "either":
		return v.truth(arg(0)) || v.truth(arg(1))
	}
	panic(n.text)
}

func labelled(labels map[string]string, n *node) bool {
	have, ok := labels[n.args[0].text]
	return ok && (len(n.args) == 1 || slices.ContainsFunc(n.args[1:], func(a *node) bool { return a.text == have }))
}

func (v naive) comparison(n *node) bool {
	a, b := n.args[0], n.args[1]
	order, comparable := 0, true
	switch a.typ {
	case BoolType:
		if v.truth(a) != v.truth(b) {
			order = 1
		}
	case TextType:
		x, y := v.text(a), v.text(b)
		if comparable = x != nil && y != nil; comparable {
			order = strings.Compare(*x, *y)
		}
	case NumberType:
		x, y := v.number(a), v.number(b)
		if comparable = x != nil && y != nil; comparable {
			order = x.Cmp(y)
		}
	}
	holds := map[kind]bool{
		equal: order == 0, notEqual: order != 0, less: order < 0, lessEqual: order <= 0, greater: order > 0, greaterEqual: order >= 0,
	}
	return comparable && holds[n.kind]
}

// rounded cuts a fraction to three places and saturates it.
func rounded(f *big.Rat) *big.Rat {
	milli := new(big.Rat).Mul(f, big.NewRat(1000, 1))
	cut := new(big.Int).Quo(milli.Num(), milli.Denom()) // towards 0
	if highest := big.NewInt(1<<63 - 1); cut.Cmp(highest) > 0 {
		cut = highest
	}
	if lowest := big.NewInt(-1 << 63); cut.Cmp(lowest) < 0 {
		cut = lowest
	}
	return new(big.Rat).SetFrac(cut, big.NewInt(1000))
}

func whole(n int64) *big.Rat { return rounded(new(big.Rat).SetInt64(n)) }

func exact(n Number) *big.Rat { return big.NewRat(int64(n), 1000) }

func (v naive) number(n *node) *big.Rat {
	arg := func(i int) *node { return n.args[i] }
	if n.kind == literal {
		return exact(n.num)
	}
	if n.kind == negate {
		x := v.number(arg(0))
		if x == nil {
			return nil
		}
		return rounded(new(big.Rat).Neg(x))
	}
	if n.kind != call {
		return naiveArithmetic(n.kind, v.number(arg(0)), v.number(arg(1)))
	}
	switch n.text {
	case "if":
		if v.truth(arg(0)) {
			return v.number(arg(1))
		}
		return v.number(arg(2))
	case "default":
		if x := v.number(arg(0)); x != nil {
			return x
		}
		return v.number(arg(1))
	case "abs":
		x := v.number(arg(0))
		if x == nil {
			return nil
		}
		return rounded(new(big.Rat).Abs(x))
	case "min", "max":
		var all []*big.Rat
		for _, a := range n.args {
			if all = append(all, v.number(a)); all[len(all)-1] == nil {
				return nil
			}
		}
		slices.SortFunc(all, (*big.Rat).Cmp)
		if n.text == "min" {
			return all[0]
		}
		return all[len(all)-1]
	case "count":
		count := int64(0)
		for _, other := range v.cluster.nodes {
			if (naive{v.cluster, other, v.pod}).truth(arg(0)) {
				count++
			}
		}
		return whole(count)
	case "twice":
		x := v.number(arg(0))
		return naiveArithmetic(add, x, x)
	case "market":
		return whole(v.cluster.price)
	case "bill":
		return whole(v.cluster.price * int64(len(v.node.Labels)))
	}
	return v.observed(n)
}

func naiveArithmetic(k kind, x, y *big.Rat) *big.Rat {
	if x == nil || y == nil {
		return nil
	}
	z := new(big.Rat)
	switch k {
	case add:
		z.Add(x, y)
	case subtract:
		z.Sub(x, y)
	case multiply:
		z.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return nil
		}
		z.Quo(x, y)
		if k == modulo {
			z.SetInt(new(big.Int).Quo(z.Num(), z.Denom()))
			z.Sub(x, z.Mul(z, y))
		}
	}
	return rounded(z)
}

// observed are numbers that are read from the node, the pod and the cluster.
func (v naive) observed(n *node) *big.Rat {
	first := ""
	if len(n.args) > 0 {
		first = n.args[0].text
	}
	amount := func(name string, a int64) *big.Rat {
		if name == "cpu" {
			return exact(Number(a))
		}
		return whole(a)
	}
	var used berth.Resources
	var gpuMilli int64
	count, with := int64(0), int64(0)
	if v.node != nil {
		used, gpuMilli, count, with = v.onNode(n)
	}
	requested := used.Get(first)
	if first == "pods" {
		requested = count
	}
	switch n.text {
	case "labelNumber":
		text, ok := v.node.Labels[first]
		if !ok {
			return nil
		}
		return naiveQuantity(text)
	case "allocatable":
		return amount(first, v.node.Allocatable.Get(first))
	case "requested":
		return amount(first, requested)
	case "free":
		return amount(first, v.node.Allocatable.Get(first)-requested)
	case "podsWithLabel":
		return whole(with)
	case "gpus":
		return whole(int64(v.node.GPUs.Count))
	case "gpusFree":
		return exact(Number(int64(v.node.GPUs.Count)*1000 - gpuMilli))
	case "podPriority":
		return whole(int64(v.pod.Priority))
	case "podGPUs":
		return exact(Number(int64(v.pod.GPU.Count) * v.pod.GPU.Milli))
	case "podRequest":
		if first == "pods" {
			return whole(1)
		}
		return amount(first, v.pod.Requests.Get(first))
	case "nodes":
		return whole(int64(len(v.cluster.nodes)))
	case "placedPods":
		return whole(int64(len(v.cluster.pods)))
	case "domains":
		seen := map[string]bool{}
		for _, other := range v.cluster.nodes {
			if value, ok := other.Labels[first]; ok {
				seen[value] = true
			}
		}
		return whole(int64(len(seen)))
	}
	panic(n.text)
}

// onNode adds up the pods of the node: resources, GPUs, their number, and that of those with the label of a call.
func (v naive) onNode(n *node) (used berth.Resources, gpuMilli, count, with int64) {
	used.Scalar = map[string]int64{}
	for _, p := range v.cluster.pods {
		if p.NodeName != v.node.Name {
			continue
		}
		count++
		used.MilliCPU += p.Requests.MilliCPU
		used.Memory += p.Requests.Memory
		used.EphemeralStorage += p.Requests.EphemeralStorage
		for name, a := range p.Requests.Scalar {
			used.Scalar[name] += a
		}
		gpuMilli += int64(p.GPU.Count) * p.GPU.Milli
		if n.text == "podsWithLabel" && labelled(p.Labels, n) {
			with++
		}
	}
	return used, gpuMilli, count, with
}

// naiveQuantity reads a number with a unit as a fraction, nil if it is none with three places at most.
func naiveQuantity(text string) *big.Rat {
	digits := strings.TrimPrefix(text, "-")
	end := strings.IndexFunc(digits, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	if end < 0 {
		end = len(digits)
	}
	units := map[string]string{
		"": "1", "m": "1/1000", "k": "1000", "M": "1000000", "G": "1000000000", "T": "1000000000000", "P": "1000000000000000",
		"Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776", "Pi": "1125899906842624",
	}
	unit, ok := units[digits[end:]]
	digits = digits[:end]
	if !ok || digits == "" || strings.HasPrefix(digits, ".") || strings.HasSuffix(digits, ".") || strings.Count(digits, ".") > 1 {
		return nil
	}
	x, _ := new(big.Rat).SetString(digits)
	size, _ := new(big.Rat).SetString(unit)
	if x.Mul(x, size); rounded(x).Cmp(x) != 0 {
		return nil
	}
	if strings.HasPrefix(text, "-") {
		x.Neg(x)
	}
	return x
}

func (v naive) text(n *node) *string {
	arg := func(i int) *node { return n.args[i] }
	lookup := func(labels map[string]string) *string {
		if value, ok := labels[arg(0).text]; ok {
			return &value
		}
		return nil
	}
	switch {
	case n.kind == literal:
		return &n.text
	case n.text == "if" && v.truth(arg(0)):
		return v.text(arg(1))
	case n.text == "if":
		return v.text(arg(2))
	case n.text == "default":
		if x := v.text(arg(0)); x != nil {
			return x
		}
		return v.text(arg(1))
	case n.text == "label":
		return lookup(v.node.Labels)
	case n.text == "podLabel":
		return lookup(v.pod.Labels)
	case n.text == "nodeName":
		return &v.node.Name
	case n.text == "gpuModel" && v.node.GPUs.Model == "":
		return nil
	case n.text == "gpuModel":
		return &v.node.GPUs.Model
	case n.text == "podNamespace":
		return &v.pod.Namespace
	case n.text == "team":
		return lookup(map[string]string{"": v.pod.Labels["team"]})
	case n.text == "rack":
		name := v.node.Name
		if x := v.text(arg(0)); x != nil {
			name = *x + name[len(name)-1:]
			return &name
		}
		return nil
	}
	panic(n.text)
}

func naiveTolerated(p *berth.Pod, n *berth.Node) bool {
	return len(p.Tolerations) >= len(n.Taints)
}

// functions are functions of a user's, one of each kind. The naive evaluator knows them by name.
func (c *cluster) functions() []Function {
	return []Function{
		{Name: "twice", Params: []Type{NumberType}, Number: func(c *Call) (Number, bool) { return c.Number(0).add(c.Number(0)), true }},
		{Name: "either", Params: []Type{BoolType, BoolType}, Bool: func(c *Call) bool { return c.Bool(0) || c.Bool(1) }},
		{
			Name: "team", Params: []Type{TextType}, Reads: ReadsPod,
			Text: func(c *Call) (string, bool) { return c.Pod.Labels["team"], c.Text(0) == "" },
		},
		{
			Name: "rack", Params: []Type{TextType}, Reads: ReadsNode,
			Text: func(c *Call) (string, bool) {
				name := c.Graph.Topology().Name(c.Node)
				return c.Text(0) + name[len(name)-1:], true
			},
		},
		{
			Name: "tolerated", Reads: ReadsNode | ReadsPod,
			Bool: func(c *Call) bool { return len(c.Pod.Tolerations) >= len(c.Graph.Taints(c.Node)) },
		},
		{
			Name: "market", Reads: ReadsCluster,
			Number: func(call *Call) (Number, bool) {
				if call.Node != topology.None || call.Pod != nil {
					panic(fmt.Sprint("a function is given what it does not read: ", *call))
				}
				return Whole(c.price), true
			},
		},
		{
			Name: "bill", Reads: ReadsCluster | ReadsNode,
			Number: func(call *Call) (Number, bool) {
				return Whole(c.price * int64(len(call.Graph.Topology().Labels(call.Node)))), true
			},
		},
	}
}
