package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// TestMissingValues says what an expression is on a node that has a label "price" of "5", and no other.
func TestMissingValues(t *testing.T) {
	for _, test := range []struct {
		rule, source string
		want         bool
	}{
		{"a comparison with a missing text is false", `label("zone") == "a"`, false},
		{"whatever the operator", `label("zone") != "a"`, false},
		{"even with another that is missing", `label("zone") == label("rack")`, false},
		{"its negation is true", `!(label("zone") == "a")`, true},
		{"so for numbers", `labelNumber("cost") < 5 || labelNumber("cost") >= 5 || labelNumber("cost") != 5`, false},
		{"and functions of texts", `startsWith(label("zone"), "") || contains("a", label("zone"))`, false},
		{"a label is not there", `hasLabel("zone")`, false},
		{"a taint is not there", `matchesTaint("gpu")`, false},
		{"arithmetic passes it on", `labelNumber("cost") + 1 == labelNumber("cost") + 1`, false},
		{"so do min and max", `min(1, labelNumber("cost")) == 1 || max(labelNumber("cost"), 1) == 1`, false},
		{"a label that is no number is missing as one", `present(label("price")) && present(labelNumber("price"))`, true},
		{"a division by 0 is missing", `present(1 / 0) || present(1 % 0) || present(1 / (labelNumber("price") - 5))`, false},
		{"present tells", `present(label("zone"))`, false},
		{"default fills in", `default(label("zone"), "a") == "a" && default(labelNumber("cost"), 3) == 3`, true},
		{"if looks at one side", `if(true, 1, 1 / 0) == 1 && if(hasLabel("zone"), label("zone"), "none") == "none"`, true},
		{"and passes on what it finds there", `present(if(true, 1 / 0, 1))`, false},
		{"a resource that is not known is 0", `allocatable("example.com/thing") == 0 && free("example.com/thing") == 0`, true},
		{"a domain that is not known is none", `domains("zone") == 0 && domains("price") == 1`, true},
		{"a function of one's own is not called", `even(labelNumber("cost"))`, false},
		{"or is", `even(labelNumber("price") + 1)`, true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			g := graphOf(t, &berth.Node{Name: "n", Labels: map[string]string{"price": "5"}})
			even := Function{Name: "even", Params: []Type{NumberType}, Bool: func(c *Call) bool { return c.Number(0)%2000 == 0 }}
			require.Equal(t, test.want, holds(t, g, test.source, even))
		})
	}
}

func graphOf(t testing.TB, nodes ...*berth.Node) *affinity.Graph {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	for _, n := range nodes {
		require.NoError(t, g.AddNode(n))
	}
	return g
}

func filterOf(t testing.TB, source string, functions ...Function) *Filter {
	e, err := Parse(source, Config{Functions: functions})
	require.NoError(t, err)
	f, err := NewFilter("f", e)
	require.NoError(t, err)
	return f
}

// apply returns what a filter leaves of all nodes.
func apply(t testing.TB, f *Filter, g *affinity.Graph, p *berth.Pod) *topology.NodeSet {
	class, err := g.Class(p)
	require.NoError(t, err)
	s := g.Topology().Live().Clone()
	require.NoError(t, f.Filter(&score.Input{Pod: p, Graph: g, Class: class}, s))
	return s
}

// holds reports whether an expression is true for the one node of a graph.
func holds(t testing.TB, g *affinity.Graph, source string, functions ...Function) bool {
	return !apply(t, filterOf(t, source, functions...), g, &berth.Pod{Namespace: "x", Name: "y"}).Empty()
}

func TestAFilterIsABoolAndAScoreANumber(t *testing.T) {
	truth, err := Parse("true", Config{})
	require.NoError(t, err)
	number, err := Parse("1", Config{})
	require.NoError(t, err)
	_, err = NewFilter("f", number)
	require.ErrorIs(t, err, ErrType)
	_, err = NewScorer("s", truth)
	require.ErrorIs(t, err, ErrType)
}

func TestScoresAreWholeAndInRange(t *testing.T) {
	for source, want := range map[string]int64{
		"2.9": 2, "-2.9": -2, "1 / 0": 0, "8Pi": 1 << 40, "-8Pi": -1 << 40, "1024 * 1Gi": 1 << 40, `label("a")` + ` == "b"`: -1,
	} {
		e, err := Parse(source, Config{})
		require.NoError(t, err)
		s, err := NewScorer("s", e)
		if want == -1 {
			require.ErrorIs(t, err, ErrType)
			continue
		}
		require.NoError(t, err)
		column := []int64{7}
		g := graphOf(t, &berth.Node{Name: "n"})
		require.NoError(t, s.Score(&score.Input{Pod: &berth.Pod{}, Graph: g}, []topology.NodeID{0}, column))
		require.Equal(t, want, column[0], source)
	}
}

// TestAScoreIsLocalUnlessItReadsTheCluster: columns of others must not be kept.
func TestAScoreIsLocalUnlessItReadsTheCluster(t *testing.T) {
	for source, want := range map[string]bool{
		"1": true, "cpu": true, `podRequest("cpu") * cpu`: true, "nodes()": false, "count(cpu > 1)": false, "market()": false,
		"bill()": false, "if(tolerated(), 1, 2)": true,
	} {
		e, err := Parse(source, Config{Functions: (&cluster{}).functions()})
		require.NoError(t, err)
		s, err := NewScorer("s", e)
		require.NoError(t, err)
		_, local := s.(score.Local)
		require.Equal(t, want, local, source)
	}
}

// TestFunctionsAreCalledAsOftenAsTheyDeclare counts the calls over three evaluations on four nodes, before the last of which
// one node changes.
func TestFunctionsAreCalledAsOftenAsTheyDeclare(t *testing.T) {
	for _, test := range []struct {
		rule  string
		reads Reads
		want  []int
	}{
		{"what reads nothing is called once an evaluation", 0, []int{1, 1, 1}},
		{"so is what reads the pod", ReadsPod, []int{1, 1, 1}},
		{"and what reads the cluster", ReadsCluster, []int{1, 1, 1}},
		{"what reads a node is called for each node, then for those that changed", ReadsNode, []int{4, 0, 1}},
		{"so is what reads node and pod", ReadsNode | ReadsPod, []int{4, 0, 1}},
		{"what reads node and cluster is called for each node in question", ReadsNode | ReadsCluster, []int{4, 4, 4}},
		{"and what reads all", ReadsNode | ReadsPod | ReadsCluster, []int{4, 4, 4}},
	} {
		for _, source := range []string{"f()", "f() && podPriority() == 0", "!(podPriority() > 0 || !f())"} {
			t.Run(test.rule+": "+source, func(t *testing.T) {
				calls := 0
				f := filterOf(t, source, Function{Name: "f", Reads: test.reads, Bool: func(*Call) bool { calls++; return true }})
				g := graphOf(t, &berth.Node{Name: "a"}, &berth.Node{Name: "b"}, &berth.Node{Name: "c"}, &berth.Node{Name: "d"})
				var got []int
				for i := range 3 {
					if i == 2 {
						require.NoError(t, g.UpdateNode(&berth.Node{Name: "b"}))
					}
					calls = 0
					require.Equal(t, 4, apply(t, f, g, &berth.Pod{Namespace: "x", Name: "y"}).Len())
					got = append(got, calls)
				}
				require.Equal(t, test.want, got)
			})
		}
	}
}

func TestFunctionsAreGivenWhatTheyRead(t *testing.T) {
	for reads := range ReadsNode | ReadsPod | ReadsCluster + 1 {
		var seen Call
		f := filterOf(t, `f(1, "a", true)`, Function{
			Name: "f", Params: []Type{NumberType, TextType, BoolType}, Reads: reads,
			Bool: func(c *Call) bool {
				seen = *c
				return c.Number(0) == 1000 && c.Text(1) == "a" && c.Bool(2)
			},
		})
		g := graphOf(t, &berth.Node{Name: "a"})
		require.False(t, apply(t, f, g, &berth.Pod{Namespace: "x", Name: "y"}).Empty())
		require.Equal(t, reads != 0, seen.Graph != nil, reads)
		require.Equal(t, reads&ReadsPod != 0, seen.Pod != nil, reads)
		require.Equal(t, reads&ReadsNode != 0, seen.Node != topology.None, reads)
	}
}

// TestAPanicLeavesNothingHalfDone: sets that were about to be repaired are not taken for up to date.
func TestAPanicLeavesNothingHalfDone(t *testing.T) {
	for _, source := range []string{`f(label("zone"))`, `f(label("zone")) && podPriority() == 0`, `number(label("zone")) > podPriority()`, `g(podNamespace())`} {
		fail := false
		test := func(c *Call) bool {
			if fail {
				panic("f")
			}
			zone := c.Graph.Topology().Labels(c.Node)
			return c.Graph.Topology().ValueName(zone[0]) == "a"
		}
		functions := []Function{
			{Name: "f", Params: []Type{TextType}, Reads: ReadsNode, Bool: test},
			{Name: "g", Params: []Type{TextType}, Reads: ReadsNode, Bool: test},
			{Name: "number", Params: []Type{TextType}, Reads: ReadsNode, Number: func(c *Call) (Number, bool) {
				if test(c) {
					return 1, true
				}
				return 0, true
			}},
		}
		node := func(name, zone string) *berth.Node {
			return &berth.Node{Name: name, Labels: map[string]string{"zone": zone}}
		}
		g := graphOf(t, node("n", "a"), node("m", "b"))
		f, pod := filterOf(t, source, functions...), &berth.Pod{Namespace: "x", Name: "y"}
		require.True(t, apply(t, f, g, pod).Equal(topology.NewNodeSet(0)), source)
		require.NoError(t, g.UpdateNode(node("n", "b")))
		require.NoError(t, g.UpdateNode(node("m", "a")))
		fail = true
		require.Panics(t, func() { apply(t, f, g, pod) }, source)
		fail = false
		require.True(t, apply(t, f, g, pod).Equal(topology.NewNodeSet(1)), source)
	}
}

// TestADoneContextLeavesNothingHalfDone stops evaluations amid their loops over nodes, and asks again.
func TestADoneContextLeavesNothingHalfDone(t *testing.T) {
	for _, source := range []string{
		`even()`, `even() && podPriority() == 0`, `index() % 2 == podPriority()`, `evenFor(podNamespace())`, `always() && even()`,
		`podPriority() + index() % 2 == 0`, `count(even()) == 2000 && even()`, `label("i") != "" && even()`,
	} {
		stop, calls := func() {}, 0
		index := func(c *Call) int64 {
			if calls++; calls == 700 {
				stop()
			}
			n, _ := labelNumber(c.Graph.Topology().ValueName(c.Graph.Topology().Labels(c.Node)[0]))
			return n.whole()
		}
		even := func(c *Call) bool { return index(c)%2 == 0 }
		functions := []Function{
			{Name: "even", Reads: ReadsNode, Bool: even},
			{Name: "always", Reads: ReadsNode | ReadsCluster, Bool: func(c *Call) bool { index(c); return true }},
			{Name: "evenFor", Reads: ReadsNode, Params: []Type{TextType}, Bool: even},
			{Name: "index", Reads: ReadsNode, Number: func(c *Call) (Number, bool) { return Whole(index(c)), true }},
		}
		g := graphOf(t)
		for i := range 4000 {
			require.NoError(t, g.AddNode(&berth.Node{Name: fmt.Sprint(i), Labels: map[string]string{"i": fmt.Sprint(i)}}))
		}
		f := filterOf(t, source, functions...)
		pod := &berth.Pod{Namespace: "x", Name: "y"}
		for range 3 { // at first, then after many changes
			ctx, cancel := context.WithCancel(t.Context())
			stop, calls = cancel, 0
			in := (&score.Input{Pod: pod, Graph: g}).WithContext(ctx)
			if err := f.Filter(in, g.Topology().Live().Clone()); calls >= 700+512 || err != nil {
				require.ErrorIs(t, err, context.Canceled, source)
			}
			require.Less(t, calls, 700+2*512, source)
			cancel()
			calls = 1 << 20
			require.Equal(t, 2000, apply(t, f, g, pod).Len(), source)
			require.ErrorIs(t, f.Filter(in, g.Topology().Live().Clone()), context.Canceled)
			for i := range 4000 {
				require.NoError(t, g.UpdateNode(&berth.Node{Name: fmt.Sprint(i), Labels: map[string]string{"i": fmt.Sprint(3999 - i)}}))
			}
			require.Equal(t, 2000, apply(t, f, g, pod).Len(), source)
			for i := range 800 {
				require.NoError(t, g.UpdateNode(&berth.Node{Name: fmt.Sprint(i), Labels: map[string]string{"i": fmt.Sprint(i)}}))
			}
		}
	}
}

// TestAFilterMayBeUsedOnOneGraphAfterAnother: what was kept of the one says nothing about the other, although there are as
// many nodes and changes. The keys have other ids.
func TestAFilterMayBeUsedOnOneGraphAfterAnother(t *testing.T) {
	f := filterOf(t, `hasLabel("zone", "a") && cpu >= podRequest("cpu") + 1 && count(hasLabel("zone", "a")) == 1`)
	node := func(name, zone, other string) *berth.Node {
		labels := map[string]string{"zone": zone, other: "a"}
		return &berth.Node{Name: name, Labels: labels, Allocatable: berth.Resources{MilliCPU: 2000}}
	}
	// Ids are given in the order of keys.
	one, two := graphOf(t, node("n", "a", "zzz"), node("m", "b", "zzz")), graphOf(t, node("n", "b", "arch"), node("m", "a", "arch"))
	pod := &berth.Pod{Namespace: "x", Name: "y", Requests: berth.Resources{MilliCPU: 1000}}
	for range 2 {
		require.True(t, apply(t, f, one, pod).Equal(topology.NewNodeSet(0)))
		require.True(t, apply(t, f, two, pod).Equal(topology.NewNodeSet(1)))
	}
}

// TestALongAbsenceIsMadeUpFor: the graph forgets changes that are long ago.
func TestALongAbsenceIsMadeUpFor(t *testing.T) {
	f := filterOf(t, `cpu >= 1 && cpu >= podRequest("cpu") && memory >= podRequest("cpu")`)
	g := graphOf(t, &berth.Node{Name: "n", Allocatable: berth.Resources{MilliCPU: 2000, Memory: 10}}, &berth.Node{Name: "m"})
	pod := &berth.Pod{Namespace: "x", Name: "y", Requests: berth.Resources{MilliCPU: 1000}}
	require.True(t, apply(t, f, g, pod).Equal(topology.NewNodeSet(0)))
	for i := range 5000 {
		require.NoError(t, g.UpdateNode(&berth.Node{Name: []string{"n", "m"}[i%2], Allocatable: berth.Resources{MilliCPU: int64(i % 2 * 2000), Memory: 10}}))
	}
	require.True(t, apply(t, f, g, pod).Equal(topology.NewNodeSet(1)))
}

// TestScoresMayBeAskedForAtOnce is for the race detector.
func TestScoresMayBeAskedForAtOnce(t *testing.T) {
	w := newWorld(t, 3, 100, 50)
	e := w.parse(`count(hasLabel("zone", "a") && cpu > 1) * 10 + twice(cpu) - if(tolerated(), podRequest("cpu"), 2)`)
	s, err := NewScorer("s", e)
	require.NoError(t, err)
	nodes := w.graph.Topology().Live().AppendTo(nil)
	in, column := w.input(w.pod("asking")), make([]int64, w.graph.Topology().Cap())
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for k := range 20 {
				from := part*25 + k
				_ = s.Score(in, nodes[from:from+1], column)
			}
			_ = s.Score(in, nodes[part*25:part*25+25], column)
		})
	}
	wg.Wait()
	for _, n := range nodes {
		v := naive{&w.cluster, w.cluster.node(w.graph.Topology().Name(n)), in.Pod}
		require.Equal(t, wholePart(v, e.root), column[n])
	}
}

// TestEvaluationsAllocateNothing, once they are warm and the pod's values have been seen.
func TestEvaluationsAllocateNothing(t *testing.T) {
	w := newWorld(t, 5, 500, 500)
	e := w.parse(`and(hasLabel("zone", "a", "b"), cpu >= podRequest("cpu"), label("zone") == podLabel("zone") || tolerated(),
		bill() >= 0, count(memory > 1Gi) > 3, not(startsWith(rack("x"), podNamespace())))`)
	filter, err := NewFilter("f", e)
	require.NoError(t, err)
	scorer, err := NewScorer("s", w.parse(`twice(cpu) / allocatable("cpu") + podRequest("cpu") + count(hasLabel("disk"))`))
	require.NoError(t, err)
	pods := []*score.Input{w.input(w.pod("a")), w.input(w.pod("b"))}
	set, nodes := &topology.NodeSet{}, w.graph.Topology().Live().AppendTo(nil)
	column := make([]int64, w.graph.Topology().Cap())
	evaluate := func() {
		for _, in := range pods {
			set.CopyFrom(w.graph.Topology().Live())
			if err := errors.Join(filter.Filter(in, set), scorer.Score(in, nodes, column)); err != nil {
				panic(err)
			}
		}
	}
	evaluate()
	before := set.Len()
	require.Positive(t, before)
	require.Zero(t, testing.AllocsPerRun(20, evaluate))
	require.Equal(t, before, set.Len())
}

// TestAPipelineDecidesByExpressions puts both into a decision.
func TestAPipelineDecidesByExpressions(t *testing.T) {
	g := graphOf(t)
	for i, zone := range []string{"a", "a", "b"} {
		require.NoError(t, g.AddNode(&berth.Node{
			Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": zone, "price": fmt.Sprint(10 - i)},
			Allocatable: berth.Resources{MilliCPU: 4000, Pods: 1},
		}))
	}
	cheap, err := Parse(`-labelNumber("price")`, Config{})
	require.NoError(t, err)
	scorer, err := NewScorer("cheap", cheap)
	require.NoError(t, err)
	cfg := score.Only(scorer)
	cfg.Filters = []score.Filter{filterOf(t, `hasLabel("zone", "a")`)}
	pipeline, err := score.New(g, cfg)
	require.NoError(t, err)
	for i, want := range []string{"n1", "n0"} {
		d, err := pipeline.Place(&berth.Pod{Namespace: "x", Name: fmt.Sprint(i)})
		require.NoError(t, err)
		require.Equal(t, want, d.Node)
	}
	_, err = pipeline.Place(&berth.Pod{Namespace: "x", Name: "third"})
	require.ErrorIs(t, err, score.ErrUnschedulable)
}
