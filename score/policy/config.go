package policy

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Config says what expressions may use and how large they may be. The zero value is ready to use.
type Config struct {
	// Functions are callable besides the built-in ones, whose names they must not take.
	Functions []Function
	// MaxSource is the length of the source in bytes. 0 means 16 KiB.
	MaxSource int
	// MaxNodes is the number of operators, calls and literals, at most 100,000. 0 means 1000.
	MaxNodes int
	// MaxDepth is how deeply they may be nested, at most 1000. 0 means 100. A chain of one operator is not nested.
	MaxDepth int
}

// Function is a function of one's own. Which of Bool, Number and Text is set, one of them, is its result type. In a scorer it
// may be called by several goroutines at a time, unless it reads the cluster.
type Function struct {
	// Name is a letter followed by letters, digits and underscores.
	Name string
	// Params are the types of its arguments.
	Params []Type
	// Reads is what the function looks at besides its arguments. It decides how often it is called and what it is given
	// (see Call); a function that looks at what is not declared here gives stale answers.
	Reads Reads

	Bool func(*Call) bool
	// Number and Text report false for a missing value.
	Number func(*Call) (Number, bool)
	Text   func(*Call) (string, bool)
}

// Reads is a set of what a function may look at.
type Reads uint8

const (
	// ReadsNode is a node's own state: labels, taints, resources, devices, pods. Answers are kept until it changes.
	ReadsNode Reads = 1 << iota
	// ReadsPod is the spec of the pod that is placed, but for name, UID, start and placement: all that makes its class.
	ReadsPod
	// ReadsCluster is anything else, as it is at the time of the evaluation: other nodes, counts, prices. With ReadsNode
	// too, the function is called in each evaluation for each node in question; alone, once an evaluation.
	ReadsCluster
)

// Call is what a function is called with. It is valid during the call. A function is not called if an argument is missing:
// then its result is missing, or false.
type Call struct {
	// Graph is nil for a function that reads nothing.
	Graph *affinity.Graph
	// Node is topology.None without ReadsNode.
	Node topology.NodeID
	// Pod is nil without ReadsPod. It must not be changed.
	Pod *berth.Pod

	args []value
}

// Bool returns argument i, from 0, which is of type BoolType.
func (c *Call) Bool(i int) bool { return c.args[i].truth }

// Number returns argument i, which is of type NumberType.
func (c *Call) Number(i int) Number { return c.args[i].num }

// Text returns argument i, which is of type TextType.
func (c *Call) Text(i int) string { return c.args[i].text }

// resolved returns the Config with its defaults filled in.
func (c Config) resolved() (Config, error) {
	for _, limit := range []struct {
		name         string
		value        *int
		normal, most int
	}{
		{"MaxSource", &c.MaxSource, 16 << 10, 1 << 30},
		{"MaxNodes", &c.MaxNodes, 1000, 100_000},
		{"MaxDepth", &c.MaxDepth, 100, 1000},
	} {
		if *limit.value < 0 || *limit.value > limit.most {
			return c, fmt.Errorf("%w: %s %d is not in 0..%d", ErrConfig, limit.name, *limit.value, limit.most)
		}
		if *limit.value == 0 {
			*limit.value = limit.normal
		}
	}
	names := make(map[string]bool)
	c.Functions = slices.Clone(c.Functions)
	for i := range c.Functions {
		f := &c.Functions[i]
		f.Params = slices.Clone(f.Params)
		if fault := f.fault(names); fault != "" {
			return c, fmt.Errorf("%w: Functions[%d] (%q): %s", ErrConfig, i, f.Name, fault)
		}
		names[f.Name] = true
	}
	return c, nil
}

// fault returns what is wrong with a function, or "".
func (f *Function) fault(taken map[string]bool) string {
	if !isName(f.Name) {
		return "the name is not a letter followed by letters, digits and underscores"
	}
	if isReserved(f.Name) || taken[f.Name] {
		return "the name is taken"
	}
	results := 0
	for _, set := range []bool{f.Bool != nil, f.Number != nil, f.Text != nil} {
		if set {
			results++
		}
	}
	if results != 1 {
		return fmt.Sprintf("%d of Bool, Number and Text are set, want 1", results)
	}
	for i, p := range f.Params {
		if p < BoolType || p > TextType {
			return fmt.Sprintf("Params[%d] is no type", i)
		}
	}
	if all := ReadsNode | ReadsPod | ReadsCluster; f.Reads&^all != 0 {
		return fmt.Sprintf("Reads %#x is unknown", uint8(f.Reads))
	}
	return ""
}

// result is the type of what the function returns.
func (f *Function) result() Type {
	switch {
	case f.Bool != nil:
		return BoolType
	case f.Number != nil:
		return NumberType
	}
	return TextType
}
