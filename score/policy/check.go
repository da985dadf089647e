package policy

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// fault is what is wrong with a node; the zero value is none.
type fault struct {
	at     position
	detail string
}

func faultAt(n *node, format string, args ...any) fault {
	return fault{n.at, fmt.Sprintf(format, args...)}
}

// check finds out the type of a node whose parts have been checked, and what it depends on.
func (n *node) check() fault {
	for _, arg := range n.args {
		n.reads |= arg.reads
		n.volatile = n.volatile || arg.volatile
		n.ofClass = n.ofClass || arg.ofClass
	}
	switch n.kind {
	case literal:
		return fault{}
	case call:
		return n.checkCall()
	case not, and, or:
		n.typ = BoolType
		return n.checkOperands(BoolType)
	case equal, notEqual:
		n.typ = BoolType
		return n.checkOperands(n.args[0].typ)
	case less, lessEqual, greater, greaterEqual:
		n.typ = BoolType
		return n.checkOperands(NumberType)
	}
	n.typ = NumberType
	return n.checkOperands(NumberType)
}

func (n *node) checkOperands(want Type) fault {
	sign, _ := n.kind.operator()
	for i, arg := range n.args {
		if arg.typ == want {
			continue
		}
		if i > 0 && (n.kind == equal || n.kind == notEqual) {
			return faultAt(n, "%s compares a %v with a %v", sign, want, arg.typ)
		}
		return faultAt(arg, "%s wants a %v, and this is a %v", sign, want, arg.typ)
	}
	return fault{}
}

func (n *node) checkCall() fault {
	if f := n.own; f != nil {
		s := signature{result: f.result(), reads: f.Reads}
		for _, t := range f.Params {
			s.params = append(s.params, param{typ: t})
		}
		n.volatile = n.volatile || f.Reads&(ReadsNode|ReadsCluster) == ReadsNode|ReadsCluster
		n.ofClass = n.ofClass || f.Reads&(ReadsNode|ReadsPod) == ReadsNode|ReadsPod
		return n.checkSignature(s)
	}
	if f, special := n.checkGeneric(); special {
		return f
	}
	s, _ := builtin(n.text)
	if f := n.checkSignature(s); f.detail != "" {
		return f
	}
	switch n.text {
	case "count": // what differs from node to node is counted over all nodes
		n.reads, n.volatile, n.ofClass = n.reads&^ReadsNode, false, false
	case "matchesTaint":
		return n.checkEffect()
	}
	return fault{}
}

// checkEffect checks the effect of a taint, which is the last argument of several.
func (n *node) checkEffect() fault {
	last := n.args[len(n.args)-1]
	if len(n.args) == 1 {
		return fault{}
	}
	switch berth.TaintEffect(last.text) {
	case berth.NoSchedule, berth.PreferNoSchedule, berth.NoExecute:
		return fault{}
	}
	return faultAt(last, "unknown taint effect %s, want %s, %s or %s", quoted(last.text), berth.NoSchedule, berth.PreferNoSchedule, berth.NoExecute)
}

// checkGeneric checks calls whose types depend on each other; special is false for all others.
func (n *node) checkGeneric() (f fault, special bool) {
	alike := n.args
	switch n.text {
	case "present":
		if f := n.checkCount(1, 1); f.detail != "" {
			return f, true
		}
		n.typ = BoolType
	case "default":
		if f := n.checkCount(2, 2); f.detail != "" {
			return f, true
		}
		n.typ = n.args[0].typ
	case "if":
		if f := n.checkCount(3, 3); f.detail != "" {
			return f, true
		}
		if n.args[0].typ != BoolType {
			return n.wrongType(0, BoolType), true
		}
		n.typ, alike = n.args[1].typ, n.args[1:]
	default:
		return fault{}, false
	}
	for i, arg := range alike {
		switch {
		case arg.typ == BoolType && n.text == "if":
			return faultAt(arg, "if chooses between numbers or texts: combine bools by && and ||"), true
		case arg.typ == BoolType:
			return faultAt(arg, "a bool is never missing"), true
		case arg.typ != alike[0].typ:
			return n.wrongType(len(n.args)-len(alike)+i, alike[0].typ), true
		}
	}
	return fault{}, true
}

func (n *node) checkSignature(s signature) fault {
	n.typ = s.result
	n.reads |= s.reads
	least, most := len(s.params)-s.optional, len(s.params)
	if s.repeats {
		most = -1
	}
	if f := n.checkCount(least, most); f.detail != "" {
		return f
	}
	for i, arg := range n.args {
		p := s.params[min(i, len(s.params)-1)]
		if arg.typ != p.typ {
			return n.wrongType(i, p.typ)
		}
		if p.literal == noLiteral {
			continue
		}
		text, ok := arg.constant()
		if !ok {
			return faultAt(arg, "argument %d of %s must be a text in quotes", i+1, n.text)
		}
		if text == "" && p.literal == nonEmpty {
			return faultAt(arg, "argument %d of %s must not be empty", i+1, n.text)
		}
	}
	return fault{}
}

func (n *node) wrongType(arg int, want Type) fault {
	return faultAt(n.args[arg], "argument %d of %s is a %v, want a %v", arg+1, n.text, n.args[arg].typ, want)
}

// checkCount checks the number of arguments, of which there may be any number from least on if most is less than that.
func (n *node) checkCount(least, most int) fault {
	got := len(n.args)
	switch {
	case got >= least && (got <= most || most < least):
		return fault{}
	case least == most:
		return faultAt(n, "%s takes %s, and has %d", n.text, arguments(least), got)
	case got < least:
		return faultAt(n, "%s takes %s at least, and has %d", n.text, arguments(least), got)
	}
	return faultAt(n, "%s takes %s at most, and has %d", n.text, arguments(most), got)
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// signature is the type of a built-in function.
type signature struct {
	params []param
	// optional is how many of the last parameters may be left out; repeats that the last may occur again.
	optional int
	repeats  bool
	result   Type
	reads    Reads
}

type param struct {
	typ     Type
	literal literalKind
}

// literalKind is what kind of literal an argument has to be.
type literalKind uint8

const (
	noLiteral literalKind = iota
	anyText               // any text
	nonEmpty              // a text that is not empty
)

// builtin returns the signature of a built-in function; that of if, default and present, whose types are free, is not here.
func builtin(function string) (signature, bool) {
	key, text := param{TextType, nonEmpty}, param{TextType, anyText}
	number, truth, words := param{NumberType, noLiteral}, param{BoolType, noLiteral}, param{TextType, noLiteral}
	list := func(p ...param) []param { return p }
	switch function {
	case "and", "or":
		return signature{params: list(truth, truth), repeats: true, result: BoolType}, true
	case "not":
		return signature{params: list(truth), result: BoolType}, true
	case "min", "max":
		return signature{params: list(number), repeats: true, result: NumberType}, true
	case "abs":
		return signature{params: list(number), result: NumberType}, true
	case "startsWith", "endsWith", "contains":
		return signature{params: list(words, words), result: BoolType}, true

	case "hasLabel":
		return signature{params: list(key, text), optional: 1, repeats: true, result: BoolType, reads: ReadsNode}, true
	case "label":
		return signature{params: list(key), result: TextType, reads: ReadsNode}, true
	case "labelNumber":
		return signature{params: list(key), result: NumberType, reads: ReadsNode}, true
	case "matchesTaint":
		return signature{params: list(key, text, text), optional: 2, result: BoolType, reads: ReadsNode}, true
	case "unschedulable":
		return signature{result: BoolType, reads: ReadsNode}, true
	case "nodeName", "gpuModel":
		return signature{result: TextType, reads: ReadsNode}, true
	case "gpus", "gpusFree":
		return signature{result: NumberType, reads: ReadsNode}, true
	case "allocatable", "requested", "free":
		return signature{params: list(key), result: NumberType, reads: ReadsNode}, true
	case "podsWithLabel":
		return signature{params: list(key, text), optional: 1, repeats: true, result: NumberType, reads: ReadsNode}, true

	case "podNamespace":
		return signature{result: TextType, reads: ReadsPod}, true
	case "podPriority", "podGPUs":
		return signature{result: NumberType, reads: ReadsPod}, true
	case "podHasLabel":
		return signature{params: list(key, text), optional: 1, repeats: true, result: BoolType, reads: ReadsPod}, true
	case "podLabel":
		return signature{params: list(key), result: TextType, reads: ReadsPod}, true
	case "podRequest":
		return signature{params: list(key), result: NumberType, reads: ReadsPod}, true

	case "nodes", "placedPods":
		return signature{result: NumberType, reads: ReadsCluster}, true
	case "domains":
		return signature{params: list(key), result: NumberType, reads: ReadsCluster}, true
	case "count":
		return signature{params: list(truth), result: NumberType, reads: ReadsCluster}, true
	}
	return signature{}, false
}

// isBuiltin reports whether a built-in function has the name.
func isBuiltin(function string) bool {
	_, ok := builtin(function)
	return ok || slices.Contains([]string{"if", "default", "present"}, function)
}

// isReserved reports whether the language has the name for itself.
func isReserved(name string) bool {
	return isBuiltin(name) || isShort(name) || name == "true" || name == "false"
}
