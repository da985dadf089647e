package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Expr is an expression that was parsed and found good. It never changes and may be used from several goroutines.
type Expr struct{ root *node }

// Parse reads an expression. The error is an *Error, or wraps ErrConfig. O(length of the source).
func Parse(source string, cfg Config) (*Expr, error) {
	cfg, err := cfg.resolved()
	if err != nil {
		return nil, err
	}
	p := parser{lexer: lexer{src: source, at: position{1, 1}}, cfg: cfg}
	if len(source) > cfg.MaxSource {
		p.fail(ErrLimit, p.at, "the source has %d bytes, more than %d", len(source), cfg.MaxSource)
		return nil, p.err
	}
	if !utf8.ValidString(source) {
		p.fail(ErrSyntax, p.badByte(), "the source is not UTF-8")
		return nil, p.err
	}
	p.advance()
	root := p.expression()
	if p.err == nil && p.tok.kind != endToken {
		p.fail(ErrSyntax, p.tok.at, "unexpected %v after the expression", p.tok)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{root}, nil
}

// Type returns the type of the expression.
func (e *Expr) Type() Type { return e.root.typ }

// String returns the expression in infix form, from which Parse makes the same expression again.
func (e *Expr) String() string {
	var b strings.Builder
	e.root.print(&b, orLevel)
	return b.String()
}

// parser descends by precedence. After a fault there is no more input, so that everything unwinds; what is returned then
// is of no meaning.
type parser struct {
	lexer
	cfg    Config
	tok    token // the one that is next
	nested int   // brackets, calls and signs that are open
	size   int
	err    *Error
}

// fail notes the first fault.
func (p *parser) fail(kind error, at position, format string, args ...any) *node {
	if p.err == nil {
		p.err = &Error{Line: int(at.line), Column: int(at.column), Detail: fmt.Sprintf(format, args...), kind: kind}
	}
	p.off = len(p.src)
	p.tok = token{at: p.tok.at}
	return &node{}
}

// badByte returns where the source stops to be UTF-8.
func (p *parser) badByte() position {
	at := position{1, 1}
	for i, r := range p.src {
		if _, size := utf8.DecodeRuneInString(p.src[i:]); r == utf8.RuneError && size == 1 {
			break
		}
		at.column++
		if r == '\n' {
			at = position{at.line + 1, 1}
		}
	}
	return at
}

func (p *parser) advance() {
	t, fault := p.next()
	p.tok = t
	if fault != "" {
		p.fail(ErrSyntax, t.at, "%s", fault)
	}
}

// accept takes the sign if it is next.
func (p *parser) accept(sign string) bool {
	if p.tok.kind != signToken || p.tok.text != sign {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(sign string) {
	if at := p.tok; !p.accept(sign) {
		p.fail(ErrSyntax, at.at, "unexpected %v, want %q", at, sign)
	}
}

// descend counts a level of recursion. What was printed by String nests twice as deep as its tree at most: a sign and
// parentheses for one node.
func (p *parser) descend(at position) bool {
	if p.nested++; p.nested > 2*p.cfg.MaxDepth {
		p.fail(ErrLimit, at, "nested deeper than %d", p.cfg.MaxDepth)
		return false
	}
	return true
}

// finish counts and checks a node whose parts are complete.
func (p *parser) finish(n *node) *node {
	if p.err != nil {
		return n
	}
	if p.size++; p.size > p.cfg.MaxNodes {
		return p.fail(ErrLimit, n.at, "more than %d operators, calls and literals", p.cfg.MaxNodes)
	}
	_, level := n.kind.operator()
	for i, arg := range n.args {
		depth := arg.depth
		if _, below := arg.kind.operator(); i == 0 && below == level && (level == sumLevel || level == productLevel) {
			depth-- // a chain
		}
		n.depth = max(n.depth, depth)
	}
	if n.depth++; n.depth > p.cfg.MaxDepth {
		return p.fail(ErrLimit, n.at, "nested deeper than %d", p.cfg.MaxDepth)
	}
	if fault := n.check(); fault.detail != "" {
		return p.fail(ErrType, fault.at, "%s", fault.detail)
	}
	return n
}

func (p *parser) expression() *node {
	return p.several(or, "||", func() *node { return p.several(and, "&&", p.comparison) })
}

// several reads operands with a sign between them.
func (p *parser) several(k kind, sign string, operand func() *node) *node {
	first := operand()
	if p.tok.kind != signToken || p.tok.text != sign {
		return first
	}
	n := &node{kind: k, at: p.tok.at, args: []*node{first}}
	for p.accept(sign) {
		n.args = append(n.args, operand())
	}
	return p.finish(n)
}

func (p *parser) comparison() *node {
	left := p.sum()
	k, ok := p.sign(equal, notEqual, lessEqual, greaterEqual, less, greater)
	if !ok {
		return left
	}
	n := &node{kind: k, at: p.tok.at}
	p.advance()
	n.args = []*node{left, p.sum()}
	if _, again := p.sign(equal, notEqual, lessEqual, greaterEqual, less, greater); again {
		return p.fail(ErrSyntax, p.tok.at, "comparisons can't be chained: put parentheses or && between them")
	}
	return p.finish(n)
}

// sign returns which of the operators is next.
func (p *parser) sign(of ...kind) (kind, bool) {
	if p.tok.kind == signToken {
		for _, k := range of {
			if s, _ := k.operator(); s == p.tok.text {
				return k, true
			}
		}
	}
	return 0, false
}

func (p *parser) sum() *node { return p.chain(p.product, add, subtract) }

func (p *parser) product() *node { return p.chain(p.unary, multiply, divide, modulo) }

// chain reads operands of operators that associate to the left.
func (p *parser) chain(operand func() *node, of ...kind) *node {
	n := operand()
	for {
		k, ok := p.sign(of...)
		if !ok {
			return n
		}
		at := p.tok.at
		p.advance()
		n = p.finish(&node{kind: k, at: at, args: []*node{n, operand()}})
	}
}

func (p *parser) unary() *node {
	at := p.tok.at
	k, ok := p.sign(not, negate)
	if !ok {
		return p.primary()
	}
	p.advance()
	if t := p.tok; k == negate && t.kind == numberToken {
		p.advance()
		return p.finish(&node{kind: literal, typ: NumberType, at: at, num: -t.num})
	}
	if !p.descend(at) {
		return &node{}
	}
	n := p.finish(&node{kind: k, at: at, args: []*node{p.unary()}})
	p.nested--
	return n
}

func (p *parser) primary() *node {
	t := p.tok
	switch t.kind {
	case numberToken:
		p.advance()
		return p.finish(&node{kind: literal, typ: NumberType, at: t.at, num: t.num})
	case textToken:
		p.advance()
		return p.finish(&node{kind: literal, typ: TextType, at: t.at, text: t.text})
	case nameToken:
		p.advance()
		return p.named(t)
	}
	if !p.accept("(") {
		return p.fail(ErrSyntax, t.at, "unexpected %v, want an expression", t)
	}
	if !p.descend(t.at) {
		return &node{}
	}
	n := p.expression()
	p.expect(")")
	p.nested--
	return n
}

// named reads what begins with a name: a call, true or false, or a resource by its short name.
func (p *parser) named(t token) *node {
	if p.accept("(") {
		return p.call(t)
	}
	switch {
	case t.text == "true" || t.text == "false":
		return p.finish(&node{kind: literal, typ: BoolType, at: t.at, truth: t.text == "true"})
	case isShort(t.text):
		resource := p.finish(&node{kind: literal, typ: TextType, at: t.at, text: t.text})
		return p.finish(&node{kind: call, at: t.at, text: "free", args: []*node{resource}})
	case isReserved(t.text) || p.function(t.text) != nil:
		return p.fail(ErrSyntax, t.at, "%s is a function: unexpected %v, want \"(\"", t.text, p.tok)
	}
	return p.fail(ErrType, t.at, "unknown name %s", quoted(t.text))
}

// isShort reports whether a resource may be written by its name alone, for what is free of it.
func isShort(resource string) bool { return resource == "cpu" || resource == "memory" }

// call reads the arguments of a call. The functions and, or and not are the operators.
func (p *parser) call(t token) *node {
	n := &node{kind: call, at: t.at, text: t.text, own: p.function(t.text)}
	switch {
	case n.own != nil || isBuiltin(t.text):
	case isReserved(t.text):
		return p.fail(ErrType, t.at, "%s is not a function", t.text)
	default:
		return p.fail(ErrType, t.at, "unknown function %s", quoted(t.text))
	}
	if !p.descend(t.at) {
		return n
	}
	if !p.accept(")") {
		n.args = append(n.args, p.expression())
		for p.accept(",") {
			n.args = append(n.args, p.expression())
		}
		p.expect(")")
	}
	p.nested--
	switch {
	case p.err != nil || n.own != nil:
	case n.text == "not" && len(n.args) == 1:
		n.kind, n.text = not, ""
	case (n.text == "and" || n.text == "or") && len(n.args) > 1:
		n.kind = and
		if n.text == "or" {
			n.kind = or
		}
		n.text = ""
	}
	return p.finish(n)
}

// function returns the caller's function of that name, or nil.
func (p *parser) function(name string) *Function {
	for i := range p.cfg.Functions {
		if p.cfg.Functions[i].Name == name {
			return &p.cfg.Functions[i]
		}
	}
	return nil
}
