package casefile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

const example = `
id: 001-example
source: nowhere
kind: score
question: Which?
nodes:
- {name: "n", count: 4, labels: {host: "{name}", zone: "z{i%2}", number: "{i}"}, allocatable: {cpu: "2"}}
- {name: big, allocatable: {cpu: "8", pods: "5"}, images: [{name: app, bytes: 7}]}
pods:
- {name: p, count: 3, node: "n-{i}", labels: {app: web}, requests: {cpu: 500m}}
- {name: t, namespace: other, terminating: true, nominatedNode: big, startTime: "2030-01-01T00:00:00Z", images: [a, b], imageVolumes: [c]}
incoming:
- {name: q, requests: {cpu: "1"}}
steps:
- deletePod: p-0
- assume: {pod: q, node: n-1}
- forget: q
- confirm: {pod: q, node: n-2}
expect:
- {after: 0, snapshotNodes: [n-0], requested: {n-0: {cpu: 500m, pods: "1"}}}
- pod: q
  feasible: [a]
  infeasible: {b: "[NodePorts] taken", c: "whatever"}
  best: [a]
  scores: {NodeAffinity: {a: 7}, total: {a: 9}}
  placed: a
`

func TestExpand(t *testing.T) {
	c, err := Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := c.Cluster()
	if err != nil {
		t.Fatal(err)
	}
	if len(cluster.Nodes) != 5 || len(cluster.Pods) != 4 {
		t.Fatalf("%d nodes and %d pods", len(cluster.Nodes), len(cluster.Pods))
	}
	n := cluster.Nodes[3]
	if n.Name != "n-3" || n.Labels["host"] != "n-3" || n.Labels["zone"] != "z1" || n.Labels["number"] != "3" {
		t.Errorf("node %s with labels %v", n.Name, n.Labels)
	}
	if pods := n.Status.Allocatable.Pods().Value(); pods != 110 {
		t.Errorf("a node without an amount of pods offers %d", pods)
	}
	if pods := cluster.Nodes[4].Status.Allocatable.Pods().Value(); pods != 5 {
		t.Errorf("a node with one offers %d", pods)
	}
	p := cluster.Pods[2]
	if conformance.Key(p) != "default/p-2" || p.Spec.NodeName != "n-2" || p.UID == "" {
		t.Errorf("pod %s, UID %q, on %q", conformance.Key(p), p.UID, p.Spec.NodeName)
	}
	w := cluster.Pods[3]
	if conformance.Key(w) != "other/t" || w.DeletionTimestamp == nil || w.Status.NominatedNodeName != "big" || w.Status.StartTime == nil {
		t.Errorf("waiting pod %+v", w)
	}
	if len(w.Spec.Containers) != 3 || len(w.Spec.Volumes) != 1 || w.Spec.Volumes[0].Image.Reference != "c" {
		t.Errorf("containers %v, volumes %v", w.Spec.Containers, w.Spec.Volumes)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]string{
		"unknown field": "kind: filter\nexpect: [{pod: p, feasable: [n]}]",
		"kind":          "expect: [{pod: p}]",
		"expect":        "kind: filter",
		"cannot":        "kind: filter\nexpect: 3",
		"{i%k}":         "kind: filter\nnodes: [{name: n, labels: {a: '{i%0}'}}]\nexpect: [{pod: p}]",
		"startTime":     "kind: filter\npods: [{name: p, startTime: yesterday}]\nexpect: [{pod: p}]",
		"cpu: \"many\"": "kind: filter\nnodes: [{name: n, allocatable: {cpu: many}}]\nexpect: [{pod: p}]",
	}
	for what, text := range tests {
		c, err := Parse([]byte(text))
		if err == nil {
			_, err = c.Cluster()
		}
		if err == nil {
			t.Errorf("%s: no error for %q", what, text)
		}
	}
}

// script is a scheduler that answers what it is told to, and notes what happens to it.
type script struct {
	evaluation conformance.Evaluation
	preemption conformance.Preemption
	changes    []string
	nodes      []string
	requested  map[v1.ResourceName]int64
}

func (s *script) Apply(c conformance.Change) error {
	s.changes = append(s.changes, c.String())
	return nil
}
func (s *script) Evaluate(*v1.Pod) (*conformance.Evaluation, error)   { return &s.evaluation, nil }
func (s *script) Preempt(*v1.Pod) (*conformance.Preemption, error)    { return &s.preemption, nil }
func (s *script) Nodes() ([]string, error)                            { return s.nodes, nil }
func (s *script) Requested(string) (map[v1.ResourceName]int64, error) { return s.requested, nil }

// check runs a case against the script.
func check(t *testing.T, text string, s *script, actual bool) []string {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c.Check(func(*conformance.Cluster) (conformance.Scheduler, func(), error) { return s, func() {}, nil }, actual)
}

func rightAnswers() *script {
	return &script{
		nodes:     []string{"n-0"},
		requested: map[v1.ResourceName]int64{v1.ResourceCPU: 500, v1.ResourcePods: 1},
		evaluation: conformance.Evaluation{
			Refusals: map[string]conformance.Refusal{"b": {Plugin: "NodePorts"}, "c": {Plugin: "NodeName"}},
			Scores:   map[string]map[string]int64{"NodeAffinity": {"a": 7}},
			Totals:   map[string]int64{"a": 9},
		},
	}
}

func TestCheckPassesRightAnswersAndAppliesTheSteps(t *testing.T) {
	s := rightAnswers()
	if failures := check(t, example, s, false); len(failures) > 0 {
		t.Errorf("failures %q", failures)
	}
	want := []string{
		`delete pod default/p-0 on "n-0"`, `assume pod default/q on "n-1"`, `forget pod default/q on ""`, `add pod default/q on "n-2"`,
		`assume pod default/q on "a"`, `add pod default/q on "a"`, // placed
	}
	if !slices.Equal(s.changes, want) {
		t.Errorf("changes %q\nwant    %q", s.changes, want)
	}
}

func TestCheckReportsEveryWrongAnswer(t *testing.T) {
	tests := []struct {
		report string
		change func(*script)
	}{
		{"snapshot: expected nodes [n-0], got [n-1]", func(s *script) { s.nodes = []string{"n-1"} }},
		{"requested: cpu of n-0: expected 500, got 499", func(s *script) { s.requested[v1.ResourceCPU] = 499 }},
		{"feasible: expected [a], got [a d]", func(s *script) { s.evaluation.Totals["d"] = 0 }},
		{"expected b to be refused by NodePorts, got NodeName", func(s *script) { s.evaluation.Refusals["b"] = conformance.Refusal{Plugin: "NodeName"} }},
		{"expected c to be refused, got no refusal", func(s *script) { delete(s.evaluation.Refusals, "c") }},
		{"best: expected [a], got [d]", func(s *script) { s.evaluation.Totals["d"] = 10 }},
		{"scores: NodeAffinity on a: expected 7, got 8", func(s *script) { s.evaluation.Scores["NodeAffinity"]["a"] = 8 }},
		{"scores: total on a: expected 9, got 8", func(s *script) { s.evaluation.Totals["a"] = 8 }},
		{"scores: NodeAffinity on a: expected 7, got 0 (scored: false)", func(s *script) { s.evaluation.Scores = nil }},
	}
	for _, test := range tests {
		s := rightAnswers()
		test.change(s)
		if failures := check(t, example, s, false); !strings.Contains(strings.Join(failures, "\n"), test.report) {
			t.Errorf("want %q among %q", test.report, failures)
		}
	}
}

func TestCheckOfPreemption(t *testing.T) {
	const text = `
kind: preemption
incoming: [{name: p}]
expect: [{pod: p, candidates: {a: [v, w], b: [x]}, nominated: a, victims: [w, v]}]
`
	right := func() *script {
		return &script{preemption: conformance.Preemption{
			Candidates: map[string]conformance.Victims{"a": {Pods: []string{"default/v", "other/w"}}, "b": {Pods: []string{"default/x"}}},
			Chosen:     []string{"a"},
		}}
	}
	if failures := check(t, text, right(), false); len(failures) > 0 {
		t.Errorf("failures %q", failures)
	}
	tests := []struct {
		report string
		change func(*conformance.Preemption)
	}{
		{"candidates: b: expected victims [x], got [] (candidate: false)", func(p *conformance.Preemption) { delete(p.Candidates, "b") }},
		{"candidates: did not expect c", func(p *conformance.Preemption) { p.Candidates["c"] = conformance.Victims{} }},
		{"candidates: a: expected victims [v w], got [default/v]", func(p *conformance.Preemption) { p.Candidates["a"] = conformance.Victims{Pods: []string{"default/v"}} }},
		{"nominated: expected a, got [b]", func(p *conformance.Preemption) { p.Chosen = []string{"b"} }},
		{"victims: expected [w v], got [v]", func(p *conformance.Preemption) { p.Candidates["a"] = conformance.Victims{Pods: []string{"default/v"}} }},
	}
	for _, test := range tests {
		s := right()
		test.change(&s.preemption)
		if failures := check(t, text, s, false); !strings.Contains(strings.Join(failures, "\n"), test.report) {
			t.Errorf("want %q among %q", test.report, failures)
		}
	}
	none := strings.Replace(text, "nominated: a, victims: [w, v]", `nominated: ""`, 1)
	if failures := check(t, none, right(), false); !strings.Contains(strings.Join(failures, "\n"), "nominated: expected none, got [a]") {
		t.Errorf("failures %q", failures)
	}
}

func TestActualAnswersAreExpectedOnlyIfAskedFor(t *testing.T) {
	const text = `
kind: filter
incoming: [{name: p}]
expect: [{pod: p, feasible: [a], v1_37_2: {feasible: []}}]
`
	s := &script{evaluation: conformance.Evaluation{Totals: map[string]int64{"a": 0}}}
	if failures := check(t, text, s, false); len(failures) > 0 {
		t.Errorf("documented: %q", failures)
	}
	if failures := check(t, text, s, true); len(failures) == 0 {
		t.Error("actual: no failure")
	}
}

func TestCheckReportsWhatCannotBeDone(t *testing.T) {
	tests := map[string]string{
		`no pod "default/x" is placed`: "kind: cache\nsteps: [{deletePod: x}]\nexpect: [{snapshotNodes: []}]",
		`no pod "x" is incoming`:       "kind: cache\nsteps: [{assume: {pod: x, node: n}}]\nexpect: [{snapshotNodes: []}]",
		"no such pod is incoming":      "kind: filter\nexpect: [{pod: x, feasible: []}]",
		"a case of kind cache":         "kind: cache\nsteps: [{queueAdd: x}]\nexpect: [{snapshotNodes: []}]",
	}
	for want, text := range tests {
		if failures := check(t, text, &script{}, false); !strings.Contains(strings.Join(failures, "\n"), want) {
			t.Errorf("want %q among %q", want, failures)
		}
	}
	c, err := Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	failures := c.Check(func(*conformance.Cluster) (conformance.Scheduler, func(), error) {
		return nil, nil, errors.New("closed")
	}, false)
	if !slices.Equal(failures, []string{"closed"}) {
		t.Errorf("failures %q", failures)
	}
}
