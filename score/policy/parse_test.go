package policy

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests find to testdata")

// same reports whether two trees are equal but for positions.
func (n *node) same(o *node) bool {
	if n.kind != o.kind || n.typ != o.typ || n.num != o.num || n.text != o.text || n.truth != o.truth || len(n.args) != len(o.args) {
		return false
	}
	for i := range n.args {
		if !n.args[i].same(o.args[i]) {
			return false
		}
	}
	return true
}

func (n *node) size() int {
	size := 1
	for _, arg := range n.args {
		size += arg.size()
	}
	return size
}

// TestFaultsAreSaidWithLineAndColumn reads expressions, separated by empty lines, each followed by its error.
func TestFaultsAreSaidWithLineAndColumn(t *testing.T) {
	const file = "testdata/errors.txt"
	golden, err := os.ReadFile(file)
	require.NoError(t, err)
	weight := Function{Name: "weight", Params: []Type{NumberType}, Number: func(c *Call) (Number, bool) { return c.Number(0), true }}
	var out []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(golden)), "\n\n") {
		source, _, _ := strings.Cut(block, "\n=> ")
		_, err := Parse(source, Config{Functions: []Function{weight}})
		require.Error(t, err, source)
		out = append(out, source+"\n=> "+err.Error())
	}
	require.GreaterOrEqual(t, len(out), 30)
	text := strings.Join(out, "\n\n") + "\n"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	require.Equal(t, string(golden), text)
}

func TestFaultsAreOfAKind(t *testing.T) {
	deep := strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300)
	for _, test := range []struct {
		name, source string
		kind         error
		line, column int
	}{
		{"an operator without its operand", "true &&\n", ErrSyntax, 2, 1},
		{"characters are counted, not bytes", `"äöü" == 1`, ErrType, 1, 7},
		{"lines are counted through comments", "true # not (\n && 1", ErrType, 2, 5},
		{"bytes that are not UTF-8", "true\n && \"\xff\"", ErrSyntax, 2, 6},
		{"an unknown function", "f()", ErrType, 1, 1},
		{"a source that is too long", strings.Repeat(" ", 17<<10) + "true", ErrLimit, 1, 1},
		{"too many operands", "true" + strings.Repeat(" && true", 1000), ErrLimit, 1, 8001},
		{"too many parentheses", deep, ErrLimit, 1, 201},
		{"operators that nest too deeply", strings.Repeat("!", 150) + "true", ErrLimit, 1, 51},
		{"calls that nest too deeply", strings.Repeat("abs(", 120) + "1" + strings.Repeat(")", 120) + " > 1", ErrLimit, 1, 81},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.source, Config{})
			require.ErrorIs(t, err, test.kind)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, []int{test.line, test.column}, []int{e.Line, e.Column}, e)
		})
	}
}

func TestAChainIsNotNested(t *testing.T) {
	_, err := Parse("1"+strings.Repeat(" + 1 - 2", 200)+" > 0", Config{})
	require.NoError(t, err)
	_, err = Parse(strings.Repeat("1 - (", 120)+"1"+strings.Repeat(")", 120)+" > 0", Config{})
	require.ErrorIs(t, err, ErrLimit)
}

func TestLimitsAreTheConfigs(t *testing.T) {
	for _, test := range []struct {
		name, source string
		cfg          Config
		ok           bool
	}{
		{"as long as allowed", "true", Config{MaxSource: 4}, true},
		{"longer", "false", Config{MaxSource: 4}, false},
		{"as many as allowed", "1 + 2 > 0", Config{MaxNodes: 5}, true},
		{"more", "1 + 2 > 0", Config{MaxNodes: 4}, false},
		{"as deep as allowed", "!(1 > 0)", Config{MaxDepth: 3}, true},
		{"deeper", "!(1 > 0)", Config{MaxDepth: 2}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.source, test.cfg)
			require.Equal(t, test.ok, err == nil, err)
			require.Equal(t, !test.ok, errors.Is(err, ErrLimit))
		})
	}
}

func TestExpressionsAreWrittenInInfixForm(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{`and(hasLabel("zone", "a"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 4)`, `hasLabel("zone", "a") && !matchesTaint("gpu", "NoSchedule") && cpu >= 4`},
		{`or(and(true, false), true)`, `true && false || true`},
		{`true || (false && true)`, `true || false && true`},
		{`(true && false) && true`, `(true && false) && true`},
		{`1 + 2 * 3 - (4 - 5) > 0`, `1 + 2 * 3 - (4 - 5) > 0`},
		{`(1 + 2) * 3 / (4 / 5) > 0`, `(1 + 2) * 3 / (4 / 5) > 0`},
		{`(1 < 2) == (3 < 4)`, `(1 < 2) == (3 < 4)`},
		{`!(cpu < 1)`, `!(cpu < 1)`},
		{`-5 - -cpu - -(5) > --cpu`, `-5 - -cpu - -(5) > --cpu`},
		{`free("cpu") > 0.500`, `cpu > 0.5`},
		{`free("pods") > 500m`, `free("pods") > 0.5`},
		{`memory >= 4Gi && memory < 1.5Gi && cpu < 2k`, `memory >= 4Gi && memory < 1536Mi && cpu < 2000`},
		{"label(\"a\") == \"\\u00e4\\t\"# tab", `label("a") == "ä\t"`},
	} {
		e, err := Parse(test.source, Config{})
		require.NoError(t, err, test.source)
		require.Equal(t, test.want, e.String())
		requireRoundTrip(t, e)
	}
}

func requireRoundTrip(t *testing.T, e *Expr) {
	t.Helper()
	again, err := Parse(e.String(), Config{Functions: (&cluster{}).functions(), MaxSource: 1 << 20, MaxNodes: e.root.size(), MaxDepth: e.root.depth})
	require.NoError(t, err, e)
	require.True(t, e.root.same(again.root), "%v was read as %v", e, again)
}

func TestWhatIsWrittenIsReadAsTheSame(t *testing.T) {
	w := newWorld(t, 7, 1, 0)
	for range 300 {
		requireRoundTrip(t, w.parse(w.bool(5)))
		requireRoundTrip(t, w.parse(w.number(5)))
		requireRoundTrip(t, w.parse(w.text(5)))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`and(hasLabel("zone", "a"), not(matchesTaint("gpu", "NoSchedule")), cpu >= 4)`)
	f.Add(`100 * (free("cpu") - podRequest("cpu")) / allocatable("cpu") - default(labelNumber("price"), 1.5Gi) % -(3)`)
	f.Add("if(count(unschedulable()) > 3, label(\"a\"), \"\\x00\") # why")
	f.Add("-(5) - - -9223372036854775.807m < 8Pi")
	golden, err := os.ReadFile("testdata/errors.txt")
	require.NoError(f, err)
	for block := range strings.SplitSeq(string(golden), "\n\n") {
		f.Add(block)
	}
	graph := newWorld(&testing.T{}, 3, 5, 5)
	f.Fuzz(func(t *testing.T, source string) {
		e, err := Parse(source, Config{Functions: graph.functions()})
		if err != nil {
			var at *Error
			require.ErrorAs(t, err, &at)
			lines := strings.Split(source, "\n")
			require.True(t, 1 <= at.Line && at.Line <= len(lines) && 1 <= at.Column && at.Column <= len(lines[at.Line-1])+1, fmt.Sprint(at))
			return
		}
		requireRoundTrip(t, e)
		if strings.Count(source, "count") > 3 {
			return // counting within counting takes the naive evaluator nodes times nodes times ...
		}
		graph.T = t
		graph.evaluate(e)
	})
}

// evaluate holds an expression against the naive evaluator, be it a filter, a score or a text.
func (w *world) evaluate(e *Expr) {
	truth, number := w.parse("true"), w.parse("0")
	switch e.Type() {
	case BoolType:
		truth = e
	case NumberType:
		number = e
	case TextType:
		truth = &Expr{root: &node{kind: call, text: "present", typ: BoolType, args: []*node{e.root}, reads: e.root.reads, volatile: e.root.volatile, ofClass: e.root.ofClass}}
	}
	filter, err := NewFilter("truth", truth)
	require.NoError(w, err)
	scorer, err := NewScorer("number", number)
	require.NoError(w, err)
	w.same(filter, scorer, truth, number, w.pod("asking"))
}
