package reference_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

func byName(terms ...[]berth.Requirement) func(*berth.Pod) {
	return func(p *berth.Pod) {
		required := &berth.NodeSelector{}
		for _, fields := range terms {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, berth.NodeSelectorTerm{MatchFields: fields})
		}
		p.Affinity = &berth.Affinity{NodeAffinity: &berth.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}
}

func isIn(names ...string) berth.Requirement {
	return berth.Requirement{Key: berth.FieldName, Operator: berth.In, Values: names}
}

func notIn(name string) berth.Requirement {
	return berth.Requirement{Key: berth.FieldName, Operator: berth.NotIn, Values: []string{name}}
}

// TestWhoRefusesFirst: the rules in order, and before them the names of nodes (framework/runtime, RunPreFilterPlugins). All
// nodes are cordoned and tainted, and too small.
func TestWhoRefusesFirst(t *testing.T) {
	var nodes []berth.Node
	for _, name := range []string{"n1", "n2"} {
		n := node(name)
		n.Unschedulable = true
		n.Taints = []berth.Taint{{Key: "k", Effect: berth.NoSchedule}}
		nodes = append(nodes, n)
	}
	p := pod("p", "", 9000)
	tolerates := func(keys ...string) func(*berth.Pod) {
		return func(p *berth.Pod) {
			for _, key := range keys {
				p.Tolerations = append(p.Tolerations, berth.Toleration{Key: key, Operator: berth.TolerationExists})
			}
		}
	}
	on := func(name string) func(*berth.Pod) { return func(p *berth.Pod) { p.NodeName = name } }
	type terms = []berth.Requirement
	for _, c := range []struct {
		name string
		pod  berth.Pod
		want string
	}{
		{"the cordon", p, "n1 NodeUnschedulable, n2 NodeUnschedulable"},
		{"then the taint", with(p, tolerates(berth.TaintNodeUnschedulable)), "n1 TaintToleration, n2 TaintToleration"},
		{"then node affinity", with(p, tolerates(berth.TaintNodeUnschedulable, "k"), byName(terms{notIn("n1")})), "n1 NodeAffinity, n2 NodeResourcesFit"},
		{"nodeName comes before all", with(p, on("n2")), "n1 NodeName, n2 NodeUnschedulable"},
		{"so do names of nodes that are required", with(p, byName(terms{isIn("n2")})), "n1 NodeAffinity, n2 NodeUnschedulable"},
		{"as alternatives", with(p, byName(terms{isIn("n1")}, terms{isIn("n2")})), "n1 NodeUnschedulable, n2 NodeUnschedulable"},
		{"in every term", with(p, byName(terms{isIn("n2")}, terms{notIn("n2")})), "n1 NodeUnschedulable, n2 NodeUnschedulable"},
		{"even if the term does not parse", with(p, byName(terms{isIn("n2", "n3")})), "n1 NodeAffinity, n2 NodeUnschedulable"},
		{"nodeName first", with(p, on("n2"), byName(terms{isIn("n1")})), "n1 NodeName, n2 NodeAffinity"},
		{"unless the names contradict each other", with(p, on("n2"), byName(terms{isIn("n1"), isIn("n2")})), "n1 NodeAffinity, n2 NodeAffinity"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(&reference.Cluster{Nodes: nodes}, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
