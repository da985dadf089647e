package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// dice draws what random tests need.
type dice struct{ *rand.Rand }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

// bool, number and text draw expressions of a type, as source.
func (d dice) bool(depth int) string {
	if depth <= 0 || d.one(4) {
		return d.of(
			`true`, `false`, `unschedulable()`, `tolerated()`,
			`hasLabel("zone")`, `hasLabel("zone", "a")`, `hasLabel("zone", "b", "c", "nowhere")`, `hasLabel("disk", "ssd")`, `hasLabel("unheard")`,
			`matchesTaint("gpu")`, `matchesTaint("gpu", "NoSchedule")`, `matchesTaint("spot", "x", "PreferNoSchedule")`,
			`podHasLabel("app")`, `podHasLabel("team", "red", "blue")`,
			`label("zone") == "a"`, `label("zone") != "a"`, `startsWith(label("zone"), "")`, `contains(label("price"), "5")`,
			`labelNumber("price") < 5`, `labelNumber("price") != 2.5`, `nodeName() == "node-3"`,
			`cpu >= 4`, `memory > 2Gi`, `free("nvidia.com/gpu") >= podRequest("nvidia.com/gpu")`, `cpu >= 2 * podRequest("cpu")`,
			`label("zone") == podLabel("zone")`, `podLabel("team") == label("zone")`, `"a" == label("zone")`, `"a" != label("zone")`,
			`5 > labelNumber("price")`, `2 < labelNumber("price")`, `3 >= labelNumber("price")`, `0 <= labelNumber("price")`, `podRequest("cpu") < cpu`, `"node-2" == nodeName()`,
		)
	}
	switch d.IntN(12) {
	case 0, 1, 2:
		return "and(" + d.list(depth, d.bool) + ")"
	case 3, 4:
		return "(" + d.bool(depth-1) + " || " + d.bool(depth-1) + ")"
	case 5:
		return "(" + d.bool(depth-1) + " && " + d.bool(depth-1) + " && " + d.bool(depth-1) + ")"
	case 6:
		return d.of("!", "not") + "(" + d.bool(depth-1) + ")"
	case 7, 8:
		return "(" + d.number(depth-1) + d.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + d.number(depth-1) + ")"
	case 9:
		return "(" + d.text(depth-1) + d.of(" == ", " != ") + d.text(depth-1) + ")"
	case 10:
		return d.of("startsWith", "endsWith", "contains") + "(" + d.text(depth-1) + ", " + d.text(depth-1) + ")"
	}
	return d.of(
		"present("+d.number(depth-1)+")", "present("+d.text(depth-1)+")",
		"either("+d.bool(depth-1)+", "+d.bool(depth-1)+")", "(("+d.bool(depth-1)+") == ("+d.bool(depth-1)+"))",
	)
}

func (d dice) list(depth int, of func(int) string) string {
	parts := []string{of(depth - 1), of(depth - 1)}
	for d.one(2) {
		parts = append(parts, of(depth-1))
	}
	return strings.Join(parts, ", ")
}

func (d dice) number(depth int) string {
	if depth <= 0 || d.one(4) {
		return d.of(
			"0", "1", "2.5", "-3", "500m", "1Gi", "0.001", "8Pi", "9P", "cpu", "memory", `labelNumber("price")`, `labelNumber("zone")`,
			`allocatable("cpu")`, `requested("memory")`, `free("pods")`, `allocatable("nvidia.com/gpu")`, `requested("ephemeral-storage")`,
			`free("unheard.of/thing")`, `podsWithLabel("app")`, `podsWithLabel("team", "red")`, `gpus()`, `gpusFree()`, `podPriority()`,
			`podGPUs()`, `podRequest("cpu")`, `podRequest("memory")`, `podRequest("pods")`, `nodes()`, `placedPods()`, `domains("zone")`,
			`domains("unheard")`, `market()`, `bill()`,
		)
	}
	switch d.IntN(8) {
	case 0, 1, 2:
		return "(" + d.number(depth-1) + d.of(" + ", " - ", " * ", " / ", " % ") + d.number(depth-1) + ")"
	case 3:
		return "-" + d.number(depth-1)
	case 4:
		return d.of("min", "max") + "(" + d.list(depth, d.number) + ")"
	case 5:
		return "if(" + d.bool(depth-1) + ", " + d.number(depth-1) + ", " + d.number(depth-1) + ")"
	case 6:
		return "count(" + d.bool(depth-1) + ")"
	}
	return d.of("abs("+d.number(depth-1)+")", "twice("+d.number(depth-1)+")", "default("+d.number(depth-1)+", "+d.number(depth-1)+")")
}

func (d dice) text(depth int) string {
	if depth <= 0 || d.one(2) {
		return d.of(
			`"a"`, `""`, `"red"`, `"node-1"`, `label("zone")`, `label("price")`, `label("unheard")`, `podLabel("team")`, `podLabel("zone")`,
			`nodeName()`, `gpuModel()`, `podNamespace()`, `team("")`, `team("x")`,
		)
	}
	return d.of(
		"if("+d.bool(depth-1)+", "+d.text(depth-1)+", "+d.text(depth-1)+")",
		"default("+d.text(depth-1)+", "+d.text(depth-1)+")", "rack("+d.text(depth-1)+")",
	)
}

func (d dice) amounts() berth.Resources {
	r := berth.Resources{
		MilliCPU: int64(d.IntN(9)) * 500, Memory: int64(d.IntN(5)) << 30, EphemeralStorage: int64(d.IntN(3)) << 40, Pods: int64(d.IntN(20)),
	}
	if d.one(20) {
		r.Memory = berth.MaxAmount
	}
	if d.one(3) {
		r.Scalar = map[string]int64{"nvidia.com/gpu": int64(d.IntN(3))}
	}
	return r
}

func (d dice) node(name string) *berth.Node {
	n := &berth.Node{Name: name, Labels: map[string]string{}, Unschedulable: d.one(6), Allocatable: d.amounts()}
	if !d.one(4) {
		n.Labels["zone"] = d.of("a", "b", "c", "", "3")
	}
	if d.one(2) {
		n.Labels["disk"] = d.of("ssd", "hdd")
	}
	if !d.one(3) {
		n.Labels["price"] = d.of("1", "2.5", "-3", "500m", "1Gi", "x", "", "5.0001", "1.", "9999999P", "-7k")
	}
	for d.one(2) && len(n.Taints) < 3 {
		n.Taints = append(n.Taints, berth.Taint{
			Key: d.of("gpu", "spot"), Value: d.of("", "x"), Effect: berth.TaintEffect(d.of("NoSchedule", "PreferNoSchedule", "NoExecute")),
		})
	}
	n.GPUs.Count = 4 // always, so that no pod loses a device that it holds
	n.GPUs.Model = d.of("", "T4", "A100")
	return n
}

func (d dice) pod(name string) *berth.Pod {
	p := &berth.Pod{Namespace: d.of("default", "shop"), Name: name, Labels: map[string]string{}, Requests: d.amounts(), Priority: int32(d.IntN(5) - 2)}
	for _, key := range []string{"app", "team", "zone"} {
		if d.one(2) {
			p.Labels[key] = d.of("red", "blue", "a", "b")
		}
	}
	if d.one(4) {
		p.GPU = berth.GPURequest{Count: 1, Milli: 250}
	}
	for d.one(3) {
		p.Tolerations = append(p.Tolerations, berth.Toleration{Operator: berth.TolerationExists})
	}
	return p
}

// world is a cluster twice: as plain specs and as a graph.
type world struct {
	*testing.T
	dice
	cluster
	graph *affinity.Graph
	named int
}

func newWorld(t *testing.T, seed uint64, nodes, pods int) *world {
	g, err := affinity.New(affinity.Config{})
	require.NoError(t, err)
	w := &world{T: t, dice: dice{rand.New(rand.NewPCG(seed, 1))}, graph: g}
	for range nodes {
		w.addNode()
	}
	for range pods {
		w.bind()
	}
	return w
}

func (w *world) name(prefix string) string {
	w.named++
	return fmt.Sprint(prefix, w.named)
}

func (w *world) addNode() {
	n := w.node(w.name("node-"))
	w.nodes = append(w.nodes, n)
	require.NoError(w, w.graph.AddNode(n))
}

func (w *world) bind() {
	p := w.pod(w.name("pod-"))
	node := w.nodes[w.IntN(len(w.nodes))].Name
	if w.graph.Bind(p, node) == nil { // or its GPUs are taken
		p.NodeName = node
		w.pods = append(w.pods, p)
	}
}

func (w *world) node(name string) *berth.Node { return w.dice.node(name) }

// change makes one change to both.
func (w *world) change() {
	i := w.IntN(len(w.nodes))
	switch w.IntN(7) {
	case 0:
		w.addNode()
	case 1:
		if len(w.nodes) > 1 && w.graph.RemoveNode(w.nodes[i].Name) == nil { // one with pods stays
			w.nodes = append(w.nodes[:i], w.nodes[i+1:]...)
		}
	case 2:
		w.nodes[i] = w.node(w.nodes[i].Name)
		require.NoError(w, w.graph.UpdateNode(w.nodes[i]))
	case 3:
		w.bind()
	case 4:
		if k := len(w.pods); k > 0 {
			k = w.IntN(k)
			require.NoError(w, w.graph.Release(w.pods[k].Key()))
			w.pods = append(w.pods[:k], w.pods[k+1:]...)
		}
	case 5:
		if k := len(w.pods); k > 0 {
			k = w.IntN(k)
			p := *w.pods[k]
			p.Labels = w.pod("").Labels
			require.NoError(w, w.graph.UpdatePod(&p))
			w.pods[k] = &p
		}
	case 6:
		w.price = int64(w.IntN(5))
	}
}

func (w *world) input(p *berth.Pod) *score.Input {
	class, err := w.graph.Class(p)
	require.NoError(w, err)
	return &score.Input{Pod: p, Graph: w.graph, Class: class}
}

// question is a random set of nodes to ask about: often all of them.
func (w *world) question() *topology.NodeSet {
	s := w.graph.Topology().Live().Clone()
	if w.one(2) {
		for n := range s.All() {
			if w.one(3) {
				s.Remove(n)
			}
		}
	}
	return s
}

func (w *world) parse(source string) *Expr {
	e, err := Parse(source, Config{Functions: w.functions(), MaxSource: 1 << 20, MaxNodes: 10_000})
	require.NoError(w, err, source)
	return e
}

// TestFiltersAndScoresEqualANaiveEvaluation asks for random pods while the cluster changes, so that what is kept is used,
// repaired and dropped.
func TestFiltersAndScoresEqualANaiveEvaluation(t *testing.T) {
	for seed := range uint64(25) {
		w := newWorld(t, seed, 1+int(seed)%30, 40)
		pods := make([]*berth.Pod, 20) // more than a family has members
		for i := range pods {
			pods[i] = w.pod("asking")
		}
		for range 4 {
			truth, number := w.parse(w.bool(4)), w.parse(w.number(4))
			filter, err := NewFilter("truth", truth)
			require.NoError(t, err)
			scorer, err := NewScorer("number", number)
			require.NoError(t, err)
			for range 25 {
				for range w.IntN(4) {
					w.change()
				}
				w.same(filter, scorer, truth, number, pods[w.IntN(len(pods))])
			}
		}
	}
}

// same holds a filter and a scorer against the naive evaluation of their expressions.
func (w *world) same(filter *Filter, scorer score.Scorer, truth, number *Expr, pod *berth.Pod) {
	x := w.graph.Topology()
	set, asked := w.question(), &topology.NodeSet{}
	asked.CopyFrom(set)
	in := w.input(pod)
	require.NoError(w, filter.Filter(in, set))
	const untouched = -1 << 50
	column := make([]int64, x.Cap())
	for i := range column {
		column[i] = untouched
	}
	require.NoError(w, scorer.Score(in, asked.AppendTo(nil), column))
	for n := range topology.NodeID(x.Cap()) {
		var holds bool
		wantScore := int64(untouched)
		if asked.Has(n) {
			v := naive{&w.cluster, w.cluster.node(x.Name(n)), pod}
			holds, wantScore = v.truth(truth.root), wholePart(v, number.root)
		}
		if set.Has(n) != holds {
			w.Fatalf("node %d: %v is %v, want %v", n, truth, set.Has(n), holds)
		}
		if column[n] != wantScore {
			w.Fatalf("node %d: %v is %d, want %d", n, number, column[n], wantScore)
		}
	}
}

func wholePart(v naive, n *node) int64 {
	x := v.number(n)
	if x == nil {
		return 0
	}
	f, _ := x.Float64()
	return int64(max(min(f, 1<<40), -1<<40))
}

func TestRandomExpressionsHaveTermsOfEachKind(t *testing.T) {
	kinds := map[string]int{}
	var visit func(term)
	visit = func(t term) {
		kinds[fmt.Sprintf("%T", t)]++
		switch t := t.(type) {
		case allOf:
			kinds["policy.onceTerm"] += len(t.once)
			for _, o := range t.rest {
				visit(o)
			}
		case anyOf:
			kinds["policy.onceTerm"] += len(t.once)
			for _, o := range t.sources {
				visit(o)
			}
			for _, o := range t.rest {
				visit(o)
			}
		case complement:
			visit(t.of)
		case *keptTerm:
			visit(t.made)
		case *family:
			if t.made != nil {
				visit(t.made)
			}
		}
	}
	w := newWorld(t, 1, 1, 0)
	for range 300 {
		f, err := NewFilter("", w.parse(w.bool(4)))
		require.NoError(t, err)
		visit(f.root)
	}
	for _, k := range []string{"policy.allOf", "policy.anyOf", "policy.complement", "policy.postings", "policy.each", "policy.onceTerm", "*policy.keptTerm", "*policy.family"} {
		require.Greater(t, kinds[k], 10, k)
	}
}
