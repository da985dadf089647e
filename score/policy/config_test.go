package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigsThatMakeNoSenseAreRefused(t *testing.T) {
	truth := func(*Call) bool { return true }
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"a negative limit", Config{MaxNodes: -1}, "MaxNodes -1 is not in 0..100000"},
		{"nesting that the stack would not bear", Config{MaxDepth: 1001}, "MaxDepth 1001 is not in 0..1000"},
		{"no name", Config{Functions: []Function{{Bool: truth}}}, `Functions[0] (""): the name is not a letter`},
		{"a name that is none", Config{Functions: []Function{{Name: "a-b", Bool: truth}}}, `Functions[0] ("a-b"): the name is not a letter`},
		{"a name that begins with a digit", Config{Functions: []Function{{Name: "1a", Bool: truth}}}, `the name is not a letter`},
		{"the name of a built-in function", Config{Functions: []Function{{Name: "if", Bool: truth}}}, `("if"): the name is taken`},
		{"the name of a literal", Config{Functions: []Function{{Name: "true", Bool: truth}}}, `("true"): the name is taken`},
		{"the name of a resource", Config{Functions: []Function{{Name: "cpu", Bool: truth}}}, `("cpu"): the name is taken`},
		{"a name twice", Config{Functions: []Function{{Name: "f", Bool: truth}, {Name: "f", Bool: truth}}}, `Functions[1] ("f"): the name is taken`},
		{"no result", Config{Functions: []Function{{Name: "f"}}}, "0 of Bool, Number and Text are set"},
		{"two results", Config{Functions: []Function{{Name: "f", Bool: truth, Text: func(*Call) (string, bool) { return "", true }}}}, "2 of Bool"},
		{"a parameter without a type", Config{Functions: []Function{{Name: "f", Bool: truth, Params: []Type{TextType, 0}}}}, "Params[1] is no type"},
		{"a parameter of an unknown type", Config{Functions: []Function{{Name: "f", Bool: truth, Params: []Type{4}}}}, "Params[0] is no type"},
		{"reading what there is not", Config{Functions: []Function{{Name: "f", Bool: truth, Reads: 8}}}, "Reads 0x8 is unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("true", test.cfg)
			require.ErrorIs(t, err, ErrConfig)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAConfigIsNotKept(t *testing.T) {
	functions := []Function{{Name: "f", Params: []Type{NumberType}, Bool: func(c *Call) bool { return c.Number(0) > 0 }}}
	e, err := Parse("f(1)", Config{Functions: functions})
	require.NoError(t, err)
	functions[0] = Function{}
	f, err := NewFilter("f", e)
	require.NoError(t, err)
	w := newWorld(t, 1, 3, 0)
	require.Equal(t, 3, apply(t, f, w.graph, w.pod("p")).Len())
}

func TestTypesHaveNames(t *testing.T) {
	require.Equal(t, "bool number text none", BoolType.String()+" "+NumberType.String()+" "+TextType.String()+" "+Type(0).String())
}
