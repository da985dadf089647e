package reference

import (
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// TestRequirementsThatParse covers apimachinery's pkg/labels, NewRequirement.
func TestRequirementsThatParse(t *testing.T) {
	long := strings.Repeat("x", 63)
	for _, c := range []struct {
		key    string
		op     berth.Operator
		values []string
		want   bool
	}{
		{"a", berth.In, []string{"x", "", long}, true},
		{"a", berth.In, nil, false},
		{"a", berth.NotIn, []string{long + "x"}, false},
		{"a", berth.NotIn, []string{"-x"}, false},
		{"a", berth.NotIn, []string{"x_"}, false},
		{"a", berth.NotIn, []string{"x y"}, false},
		{"a", berth.NotIn, []string{"x-_.Y9"}, true},
		{"a", berth.Exists, nil, true},
		{"a", berth.Exists, []string{"x"}, false},
		{"a", berth.DoesNotExist, nil, true},
		{"a", berth.DoesNotExist, []string{""}, false},
		{"a", berth.Gt, []string{"007"}, true},
		{"a", berth.Gt, []string{"9223372036854775807"}, true},
		{"a", berth.Gt, []string{"9223372036854775808"}, false},
		{"a", berth.Gt, []string{"-1"}, false}, // no label value starts with a dash
		{"a", berth.Lt, []string{"1.5"}, false},
		{"a", berth.Lt, []string{""}, false},
		{"a", berth.Lt, []string{"1", "2"}, false},
		{"a", berth.Lt, nil, false},
		{"a", "Like", []string{"x"}, false},
		{"", berth.Exists, nil, false},
		{"kubernetes.io/os", berth.Exists, nil, true},
		{"Kubernetes.io/os", berth.Exists, nil, false},
		{"kubernetes..io/os", berth.Exists, nil, false},
		{"-x.io/os", berth.Exists, nil, false},
		{"/os", berth.Exists, nil, false},
		{"x.io/", berth.Exists, nil, false},
		{"a/b/c", berth.Exists, nil, false},
		{long, berth.Exists, nil, true},
		{long + "x", berth.Exists, nil, false},
		{strings.Repeat("x", 254) + "/os", berth.Exists, nil, false},
	} {
		r := berth.Requirement{Key: c.key, Operator: c.op, Values: c.values}
		if got := parses(&r); got != c.want {
			t.Errorf("%s %s %q: %v, want %v", c.key, c.op, c.values, got, c.want)
		}
		term := berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{r}}
		if got := term.Parses(); got != c.want {
			t.Errorf("package berth: %s %s %q: %v, want %v", c.key, c.op, c.values, got, c.want)
		}
	}
}
