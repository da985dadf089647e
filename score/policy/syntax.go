package policy

import (
	"strconv"
	"strings"
)

// Type is the type of an expression.
type Type uint8

// The types. The zero Type is none.
const (
	BoolType Type = iota + 1
	NumberType
	TextType
)

// String returns "bool", "number" or "text".
func (t Type) String() string {
	switch t {
	case BoolType:
		return "bool"
	case NumberType:
		return "number"
	case TextType:
		return "text"
	}
	return "none"
}

// kind is what a node of the syntax tree is.
type kind uint8

const (
	literal kind = iota // of the node's type
	call
	not
	negate
	and // of two operands or more
	or
	equal
	notEqual
	less
	lessEqual
	greater
	greaterEqual
	add
	subtract
	multiply
	divide
	modulo
)

// node is a node of the syntax tree.
type node struct {
	kind kind
	at   position
	typ  Type
	args []*node

	num   Number // of a literal
	text  string // of a literal; of a call the name of its function
	truth bool   // of a literal
	own   *Function

	reads Reads
	// volatile is that some part has to be evaluated anew for each node and each evaluation.
	volatile bool
	// ofClass is that some part looks at a node and the pod at once.
	ofClass bool
	// depth is the number of levels of nesting. A chain of operators of one kind is one level.
	depth int
}

// readsNode reports whether the value may differ from node to node.
func (n *node) readsNode() bool { return n.reads&ReadsNode != 0 }

// ofNodeAlone reports whether the value follows from the node's own state and nothing else.
func (n *node) ofNodeAlone() bool { return n.reads == ReadsNode && !n.volatile }

// constant returns the text of a literal.
func (n *node) constant() (text string, ok bool) {
	return n.text, n.kind == literal && n.typ == TextType
}

// The precedences, from the loosest.
const (
	orLevel = iota + 1
	andLevel
	compareLevel
	sumLevel
	productLevel
	unaryLevel
	primaryLevel
)

// operator returns the sign and the precedence of a kind.
func (k kind) operator() (sign string, level int) {
	switch k {
	case not:
		return "!", unaryLevel
	case negate:
		return "-", unaryLevel
	case or:
		return "||", orLevel
	case and:
		return "&&", andLevel
	case equal:
		return "==", compareLevel
	case notEqual:
		return "!=", compareLevel
	case less:
		return "<", compareLevel
	case lessEqual:
		return "<=", compareLevel
	case greater:
		return ">", compareLevel
	case greaterEqual:
		return ">=", compareLevel
	case add:
		return "+", sumLevel
	case subtract:
		return "-", sumLevel
	case multiply:
		return "*", productLevel
	case divide:
		return "/", productLevel
	case modulo:
		return "%", productLevel
	}
	return "", primaryLevel
}

// print writes the node, in parentheses if it binds less tightly than level.
func (n *node) print(b *strings.Builder, level int) {
	sign, own := n.kind.operator()
	if own < level {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.kind {
	case literal:
		n.printLiteral(b)
	case call:
		n.printCall(b)
	case not:
		b.WriteString(sign)
		n.args[0].print(b, own)
	case negate:
		b.WriteString(sign)
		if n.args[0].kind == literal { // or it would be read as a negative literal
			own = primaryLevel + 1
		}
		n.args[0].print(b, own)
	default:
		for i, arg := range n.args {
			min := own + 1
			if i == 0 && (own == sumLevel || own == productLevel) {
				min = own // they associate to the left
			}
			if i > 0 {
				b.WriteString(" " + sign + " ")
			}
			arg.print(b, min)
		}
	}
}

func (n *node) printLiteral(b *strings.Builder) {
	switch n.typ {
	case BoolType:
		b.WriteString(strconv.FormatBool(n.truth))
	case NumberType:
		b.WriteString(n.num.String())
	case TextType:
		b.WriteString(strconv.Quote(n.text))
	}
}

func (n *node) printCall(b *strings.Builder) {
	if n.text == "free" {
		if resource, ok := n.args[0].constant(); ok && isShort(resource) {
			b.WriteString(resource)
			return
		}
	}
	b.WriteString(n.text)
	b.WriteByte('(')
	for i, arg := range n.args {
		if i > 0 {
			b.WriteString(", ")
		}
		arg.print(b, orLevel)
	}
	b.WriteByte(')')
}
