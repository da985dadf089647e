package reference_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

// preemption writes down the candidates with their victims, and the best: "w1: high low (1), w2: mid; best w2", with the
// number of violations where there are some.
func preemption(c *reference.Cluster, p berth.Pod) string {
	got := c.Preempt(&p)
	var out []string
	for _, candidate := range got.Candidates {
		s := c.Nodes[candidate.Node].Name + ":"
		for _, v := range candidate.Victims {
			s += " " + v.Name
		}
		if candidate.Violations > 0 {
			s += fmt.Sprintf(" (%d)", candidate.Violations)
		}
		out = append(out, s)
	}
	var best []string
	for _, n := range got.Best {
		best = append(best, c.Nodes[n].Name)
	}
	return strings.Join(out, ", ") + "; best " + strings.Join(best, " ")
}

func budget(allowed int32, labels ...string) berth.PodDisruptionBudget {
	return berth.PodDisruptionBudget{Namespace: "default", Name: "guard", Selector: selector(labels...), DisruptionsAllowed: allowed}
}

// TestVictims states which pods of a node must go.
func TestVictims(t *testing.T) {
	low, old, late := with(pod("low", "n1", 2000), priority(1), started(1)), with(pod("old", "n1", 1000), priority(5), started(1)), with(pod("late", "n1", 1000), priority(5), started(2))
	vip := func(milli int64) berth.Pod { return with(pod("vip", "", milli), priority(10)) }
	guarded := with(low, func(p *berth.Pod) { p.Labels = map[string]string{"guard": "yes"} })
	spent := budget(0, "guard=yes")
	spent.DisruptedPods = []string{"low"}
	waits := with(vip(4000), func(p *berth.Pod) { p.NominatedNodeName = "n1" })
	leaving := with(low, terminating, func(p *berth.Pod) { p.Preempted = true })
	for _, c := range []struct {
		name    string
		pods    []berth.Pod
		budgets []berth.PodDisruptionBudget
		pod     berth.Pod
		want    string
	}{
		{"the least important go, as few as will do", []berth.Pod{low, old, late}, nil, vip(2000), "n1: low; best n1"},
		{"of equal priority the one that started last goes", []berth.Pod{late, old, with(pod("big", "n1", 2000), priority(99))}, nil, vip(1000), "n1: late; best n1"},
		{"one that has not started counts as last", []berth.Pod{with(pod("new", "n1", 2000), priority(5)), with(pod("run", "n1", 2000), priority(5), started(9))}, nil, vip(2000), "n1: new; best n1"},
		{"victims are named from the most important down", []berth.Pod{low, late, old}, nil, vip(4000), "n1: old late low; best n1"},
		{"pods of the same priority stay", []berth.Pod{with(low, priority(10))}, nil, vip(4000), "; best "},
		{"a node that would stay full is no candidate", []berth.Pod{low, with(pod("top", "n1", 2000), priority(99))}, nil, vip(3000), "; best "},
		{"a request above what there is helps nobody", []berth.Pod{low}, nil, vip(4001), "; best "},
		{"a pod whose budget is spent is put back first", []berth.Pod{guarded, old, late}, []berth.PodDisruptionBudget{budget(0, "guard=yes")}, vip(2000), "n1: old late; best n1"},
		{"if it must go all the same, it is a violation", []berth.Pod{guarded, old, late}, []berth.PodDisruptionBudget{budget(0, "guard=yes")}, vip(4000), "n1: old late low (1); best n1"},
		{"a budget that allows it is none", []berth.Pod{guarded, old, late}, []berth.PodDisruptionBudget{budget(1, "guard=yes")}, vip(2000), "n1: low; best n1"},
		{"an eviction that is accounted for is none", []berth.Pod{guarded, old, late}, []berth.PodDisruptionBudget{spent}, vip(2000), "n1: low; best n1"},
		{"a budget with an empty selector selects nothing", []berth.Pod{guarded, old, late}, []berth.PodDisruptionBudget{budget(0)}, vip(2000), "n1: low; best n1"},
		{"a pod that must not preempt does not", []berth.Pod{low, old, late}, nil, with(vip(2000), func(p *berth.Pod) { p.PreemptNever = true }), "; best "},
		{"nor one for which room is being made", []berth.Pod{leaving, old, late}, nil, waits, "; best "},
		{"a pod that leaves for another reason makes no room for it", []berth.Pod{with(low, terminating), old, late}, nil, waits, "n1: old late low; best n1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &reference.Cluster{Nodes: []berth.Node{node("n1", host+"=n1")}, Pods: c.pods, Budgets: c.budgets}
			if got := preemption(cluster, c.pod); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestBestCandidate states the criteria in their order, each with the later ones against it.
func TestBestCandidate(t *testing.T) {
	victim := func(name, on string, p int32, milli int64, hour int, labels ...string) berth.Pod {
		return with(pod(name, on, milli, labels...), priority(p), started(hour))
	}
	for _, c := range []struct {
		name string
		pods []berth.Pod
		want string
	}{
		{"fewest violations", []berth.Pod{victim("a", "n1", 1, 4000, 9, "guard=yes"), victim("b", "n2", 90, 4000, 1)}, "n1: a (1), n2: b; best n2"},
		{"lowest highest priority", []berth.Pod{victim("a", "n1", 10, 4000, 9), victim("b", "n2", 9, 2000, 1), victim("c", "n2", 9, 2000, 1)}, "n1: a, n2: b c; best n2"},
		{"smallest sum of priorities, which counts each above zero", []berth.Pod{victim("a", "n1", 9, 2000, 9), victim("b", "n1", -9, 2000, 9), victim("c", "n2", 9, 4000, 1)}, "n1: a b, n2: c; best n2"},
		{"latest start of the most important", []berth.Pod{victim("a", "n1", 9, 4000, 3), victim("b", "n2", 9, 4000, 2)}, "n1: a, n2: b; best n1"},
		{"the earliest of several most important counts", []berth.Pod{victim("a", "n1", 9, 2000, 3), victim("b", "n1", 9, 2000, 7), victim("c", "n2", 9, 2000, 4), victim("d", "n2", 9, 2000, 5)},
			"n1: a b, n2: c d; best n2"},
		{"nothing else decides", []berth.Pod{victim("a", "n1", 9, 4000, 3), victim("b", "n2", 9, 4000, 3)}, "n1: a, n2: b; best n1 n2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &reference.Cluster{
				Nodes: []berth.Node{node("n1"), node("n2")}, Pods: c.pods, Budgets: []berth.PodDisruptionBudget{budget(0, "guard=yes")},
			}
			if got := preemption(cluster, with(pod("vip", "", 4000), priority(100))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestHighestPriorityIsThatOfAllVictims: one that violates a budget does not stand first in the list (kubernetes#128307).
func TestHighestPriorityIsThatOfAllVictims(t *testing.T) {
	cluster := &reference.Cluster{
		Nodes:   []berth.Node{node("w1"), node("w2")},
		Budgets: []berth.PodDisruptionBudget{budget(0, "guard=yes")},
		Pods: []berth.Pod{
			with(pod("high", "w1", 2000, "app=h"), priority(1000), started(0)),
			with(pod("low", "w1", 2000, "guard=yes"), priority(1), started(0)),
			with(pod("mid", "w2", 4000, "guard=yes"), priority(100), started(0)),
		},
	}
	vip := with(pod("vip", "", 4000), priority(10000))
	if got, want := verdicts(cluster, vip), "w1 NodeResourcesFit*, w2 NodeResourcesFit*"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := preemption(cluster, vip), "w1: high low (1), w2: mid (1); best w2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHardSpreadPreemptsSoftDoesNot: a preference is no reason to evict while a node is feasible (kubernetes#117634).
func TestHardSpreadPreemptsSoftDoesNot(t *testing.T) {
	nb := node("nb", "zone=b")
	nb.Allocatable.MilliCPU = 8000
	web := func(name, on string) berth.Pod { return pod(name, on, 1000, "app=web") }
	cluster := &reference.Cluster{
		Nodes: []berth.Node{node("na", "zone=a"), nb},
		Pods: []berth.Pod{
			web("w1", "na"), web("w2", "nb"), web("w3", "nb"),
			with(pod("filler-1", "na", 1000), priority(-10), started(0)), with(pod("filler-2", "na", 2000), priority(-10), started(1)),
		},
	}
	constraint := berth.TopologySpreadConstraint{TopologyKey: zone, LabelSelector: selector("app=web")}
	hard := with(web("hard", ""), spread(constraint))
	constraint.WhenUnsatisfiable = berth.ScheduleAnyway
	if got, want := verdicts(cluster, with(web("soft", ""), spread(constraint))), "na NodeResourcesFit*, nb ok"; got != want {
		t.Errorf("soft: got %s, want %s", got, want)
	}
	if got, want := verdicts(cluster, hard), "na NodeResourcesFit*, nb PodTopologySpread*"; got != want {
		t.Errorf("hard: got %s, want %s", got, want)
	}
	if got, want := preemption(cluster, hard), "na: filler-2; best na"; got != want {
		t.Errorf("hard: got %s, want %s", got, want)
	}
}
