package affinity_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
)

// started is a start time, so many hours after the first.
func started(hours int) time.Time { return time.Date(2030, 1, 1, hours, 0, 0, 0, time.UTC) }

// placed returns a pod that runs on a node since the given hour.
func placed(name, node string, priority int32, milliCPU int64, hour int) berth.Pod {
	return berth.Pod{Namespace: "default", Name: name, NodeName: node, Priority: priority, StartTime: started(hour),
		Requests: berth.Resources{MilliCPU: milliCPU}}
}

func labelled(p berth.Pod, key, value string) berth.Pod {
	p.Labels = map[string]string{key: value}
	return p
}

// spreadByZone is a constraint over the pods of the app web.
func spreadByZone(action berth.UnsatisfiableConstraintAction) []berth.TopologySpreadConstraint {
	return []berth.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: action,
		LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}

func nodeOf(name, zone string, milliCPU int64) berth.Node {
	return berth.Node{Name: name, Labels: map[string]string{berth.LabelHostname: name, "zone": zone},
		Allocatable: berth.Resources{MilliCPU: milliCPU, Memory: 8 << 30, Pods: 110}}
}

// victims are the names of the pods to evict, by node.
type victims map[string][]string

func TestPreempt(t *testing.T) {
	vip := berth.Pod{Namespace: "default", Name: "vip", Priority: 10_000, Requests: berth.Resources{MilliCPU: 4000}}
	two := []berth.Node{nodeOf("w1", "a", 4000), nodeOf("w2", "b", 4000)}
	guarded := []berth.PodDisruptionBudget{{Namespace: "default", Name: "guarded",
		Selector: &berth.LabelSelector{MatchLabels: map[string]string{"guard": "yes"}}}}
	zones := []berth.Node{nodeOf("na", "a", 4000), nodeOf("nb", "b", 8000)}
	uneven := []berth.Pod{
		labelled(placed("w1", "na", 0, 1000, 0), "app", "web"),
		labelled(placed("w2", "nb", 0, 1000, 0), "app", "web"),
		labelled(placed("w3", "nb", 0, 1000, 0), "app", "web"),
		placed("filler-1", "na", -10, 1000, 0),
		placed("filler-2", "na", -10, 2000, 1),
	}
	web := labelled(berth.Pod{Namespace: "default", Name: "hard", Requests: berth.Resources{MilliCPU: 1000}}, "app", "web")
	web.TopologySpreadConstraints = spreadByZone(berth.DoNotSchedule)
	never := vip
	never.PreemptNever = true
	waiting := vip
	waiting.NominatedNodeName = "w1"
	leaving := placed("leaving", "w1", 1, 4000, 0)
	leaving.Terminating, leaving.Preempted = true, true
	refused := waiting
	refused.NodeSelector = map[string]string{"zone": "b"}
	elsewhere := vip
	elsewhere.NodeSelector = map[string]string{"zone": "b"}
	for _, c := range []struct {
		name    string
		nodes   []berth.Node
		pods    []berth.Pod
		budgets []berth.PodDisruptionBudget
		pod     berth.Pod
		want    victims
		chosen  string
	}{
		{ // kubernetes#128307
			name: "equal violations: the node whose most important victim is less important", nodes: two, budgets: guarded,
			pods: []berth.Pod{
				placed("high", "w1", 1000, 2000, 0),
				labelled(placed("low", "w1", 1, 2000, 0), "guard", "yes"),
				labelled(placed("mid", "w2", 100, 4000, 0), "guard", "yes"),
			},
			pod: vip, want: victims{"w1": {"high", "low"}, "w2": {"mid"}}, chosen: "w2",
		},
		{
			name: "fewer violations go before lower priorities", nodes: two, budgets: guarded,
			pods: []berth.Pod{placed("high", "w1", 1000, 4000, 0), labelled(placed("low", "w2", 1, 4000, 0), "guard", "yes")},
			pod:  vip, want: victims{"w1": {"high"}, "w2": {"low"}}, chosen: "w1",
		},
		{
			name: "the smallest sum of priorities", nodes: two,
			pods: []berth.Pod{placed("a", "w1", 9, 2000, 0), placed("b", "w1", 8, 2000, 0), placed("c", "w2", 9, 2000, 0), placed("d", "w2", 7, 2000, 0)},
			pod:  vip, want: victims{"w1": {"a", "b"}, "w2": {"c", "d"}}, chosen: "w2",
		},
		{
			name: "the latest start of the most important victim", nodes: two,
			pods: []berth.Pod{placed("old", "w1", 9, 4000, 1), placed("young", "w2", 9, 4000, 2)},
			pod:  vip, want: victims{"w1": {"old"}, "w2": {"young"}}, chosen: "w2",
		},
		{ // kubernetes#117634
			name: "a hard spread constraint preempts where evictions help; the older filler is put back", nodes: zones,
			pods: uneven, pod: web, want: victims{"na": {"filler-2"}}, chosen: "na",
		},
		{
			name: "equal priority is no victim", nodes: two[:1], pods: []berth.Pod{placed("peer", "w1", 10_000, 4000, 0)},
			pod: vip, want: victims{},
		},
		{name: "a pod that must not preempt", nodes: two[:1], pods: []berth.Pod{placed("low", "w1", 1, 4000, 0)}, pod: never, want: victims{}},
		{name: "a pod whose room is being made", nodes: two, pods: []berth.Pod{leaving, placed("low", "w2", 1, 4000, 0)}, pod: waiting, want: victims{}},
		{
			name: "a pod that the node made free for it refuses meanwhile", nodes: two, pods: []berth.Pod{leaving, placed("low", "w2", 1, 4000, 0)},
			pod: refused, want: victims{"w2": {"low"}}, chosen: "w2",
		},
		{
			name: "only a resolvable refusal makes a candidate", nodes: two,
			pods: []berth.Pod{placed("low", "w1", 1, 4000, 0), placed("high", "w2", 1000, 4000, 0)},
			pod:  elsewhere, want: victims{"w2": {"high"}}, chosen: "w2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tw, err := newTwin(&gen.Cluster{Nodes: c.nodes, Pods: c.pods, Budgets: c.budgets}, affinity.Config{}, pair{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := tw.profile.Preempt(&c.pod, c.budgets)
			if err != nil {
				t.Fatal(err)
			}
			got := victims{}
			for _, cand := range found.Candidates {
				for _, v := range cand.Victims {
					got[cand.Node] = append(got[cand.Node], v.Name)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("victims %v, want %v", got, c.want)
			}
			chosen := ""
			if found.Chosen >= 0 {
				chosen = found.Candidates[found.Chosen].Node
			}
			if chosen != c.chosen {
				t.Errorf("chose %q, want %q", chosen, c.chosen)
			}
		})
	}
}

func TestASoftSpreadConstraintPreemptsNothing(t *testing.T) {
	tw, err := newTwin(&gen.Cluster{Nodes: []berth.Node{nodeOf("na", "a", 4000), nodeOf("nb", "b", 8000)}, Pods: []berth.Pod{
		labelled(placed("w1", "na", 0, 1000, 0), "app", "web"), labelled(placed("w2", "nb", 0, 1000, 0), "app", "web"),
		placed("filler", "na", -10, 3000, 0),
	}}, affinity.Config{}, pair{})
	if err != nil {
		t.Fatal(err)
	}
	soft := labelled(berth.Pod{Namespace: "default", Name: "soft", Requests: berth.Resources{MilliCPU: 1000}}, "app", "web")
	soft.TopologySpreadConstraints = spreadByZone(berth.ScheduleAnyway)
	choice, ok, err := tw.profile.Best(&soft)
	if err != nil || !ok || tw.graph.Topology().Name(choice.Node) != "nb" {
		t.Errorf("%+v %v %v, want nb", choice, ok, err)
	}
}

// TestNominatedSpace: which pods may use the room that was promised to a pod (kubernetes#72124).
func TestNominatedSpace(t *testing.T) {
	waiting := labelled(placed("waiting", "", 10, 2000, 0), "app", "waiting")
	waiting.NominatedNodeName = "n1"
	tw, err := newTwin(&gen.Cluster{Nodes: []berth.Node{nodeOf("n1", "a", 4000)},
		Pods: []berth.Pod{placed("running", "n1", 50, 1000, 0), waiting}}, affinity.Config{}, pair{})
	if err != nil {
		t.Fatal(err)
	}
	wantsPeer := placed("lower-wants-peer", "", 5, 500, 0)
	wantsPeer.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{
		{TopologyKey: berth.LabelHostname, LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "waiting"}}}}}}
	for _, c := range []struct {
		name string
		pod  berth.Pod
		want affinity.Rule
	}{
		{"a lower pod does not fit beside it", placed("lower", "", 5, 2000, 0), affinity.NodeResourcesFit},
		{"a small lower pod does", placed("lower-small", "", 5, 1000, 0), affinity.Feasible},
		{"equal priority respects it too", placed("equal", "", 10, 2000, 0), affinity.NodeResourcesFit},
		{"a higher pod does not", placed("higher", "", 11, 3000, 0), affinity.Feasible},
		{"nobody may rely on it", wantsPeer, affinity.InterPodAffinity},
		{"it may use its own room", placed("waiting", "", 10, 2000, 0), affinity.Feasible},
	} {
		v, err := tw.profile.Verdict(&c.pod, "n1", nil)
		if err != nil || v.Rule != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, v, err, c.want)
		}
	}
}

// TestPreemptTakesWhatIsNeededAndNoMore wants of random preemptions that they change nothing, that the evictions of each candidate
// make its node feasible, and that with any one victim left it is not.
func TestPreemptTakesWhatIsNeededAndNoMore(t *testing.T) {
	candidates := 0
	for seed := range uint64(40 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 41))
		opts := gen.Crowded()
		opts.Nodes, opts.Pods = 8, 80
		// kube-scheduler's what-if counts for spread what a decision does not (see Profile.shift), and a nominated pod that
		// finds no GPU takes none: with these, less may be enough or more be needed.
		opts.Terminating, opts.EmptySelector = 0, 0
		if seed%2 == 0 {
			opts.GPU = 0
		} else {
			opts.Nominated = 0
		}
		gn := gen.New(rng, opts)
		tw, err := newTwin(gn.Cluster(), tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			n, err := tw.evictions(&pod)
			if err != nil {
				t.Fatalf("seed %d, pod %d: %v", seed, i, err)
			}
			candidates += n
		}
	}
	if candidates < 20 {
		t.Errorf("only %d candidates: the test tests too little", candidates)
	}
}

// TestPreemptCountsForSpreadAsTheSourceDoes compares preemptions where kube-scheduler's what-if counts pods for topology spread that
// a decision does not: terminating ones, and those under a selector {}.
func TestPreemptCountsForSpreadAsTheSourceDoes(t *testing.T) {
	for seed := range uint64(60 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 43))
		opts := gen.Crowded()
		opts.Nodes, opts.Pods = 8, 60
		opts.Terminating, opts.EmptySelector, opts.HardSpread, opts.SelfMatch, opts.Priority = 0.4, 0.3, 0.7, 0.7, 1
		opts.Taint, opts.NodeAffinity, opts.NodeSelector, opts.MissingLabel, opts.NodeName = 0, 0, 0, 0.02, 0
		gn := gen.New(rng, opts)
		tw, err := newTwin(gn.Cluster(), tight, pair{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			if _, err := tw.checkPreempt(&pod); err != nil {
				t.Fatalf("seed %d, pod %d: %v", seed, i, err)
			}
		}
	}
}

// evictions checks the candidates for a pod, if it fits nowhere, and returns how many there are.
func (t *twin) evictions(pod *berth.Pod) (int, error) {
	if _, ok, err := t.profile.Best(pod); ok || err != nil {
		return 0, err
	}
	before := t.graph.Dump()
	found, err := t.checkPreempt(pod)
	if err != nil {
		return 0, err
	}
	if t.graph.Dump() != before {
		return 0, errors.New("the what-if left traces")
	}
	if err := t.graph.CheckInvariants(t.profiles...); err != nil {
		return 0, err
	}
	for _, c := range found.Candidates {
		if err := t.evict(pod, &c); err != nil {
			return 0, fmt.Errorf("node %s, victims %v: %w", c.Node, c.Victims, err)
		}
	}
	return len(found.Candidates), nil
}

// evict releases the victims, asks, asks again with each one back, and binds all again.
func (t *twin) evict(pod *berth.Pod, c *affinity.Candidate) error {
	ask := func(want bool) error {
		v, err := t.profile.Verdict(pod, c.Node, nil)
		if err == nil && (v.Rule == affinity.Feasible) != want {
			err = fmt.Errorf("the verdict is %q", v.Rule)
		}
		return err
	}
	if err := ask(false); err != nil {
		return err
	}
	for _, key := range c.Victims {
		if err := t.graph.Release(key); err != nil {
			return err
		}
	}
	if err := ask(true); err != nil {
		return fmt.Errorf("with all gone: %w", err)
	}
	for _, key := range c.Victims {
		victim := t.Pods[slices.IndexFunc(t.Pods, func(p berth.Pod) bool { return p.Key() == key })]
		if victim.Priority >= pod.Priority {
			return fmt.Errorf("%v has priority %d, not below %d", key, victim.Priority, pod.Priority)
		}
		if err := t.graph.Bind(&victim, c.Node); err != nil {
			return err
		}
		if err := ask(false); err != nil {
			return fmt.Errorf("with %v left: %w", key, err)
		}
		if err := t.graph.Release(key); err != nil {
			return err
		}
	}
	for _, key := range c.Victims {
		victim := t.Pods[slices.IndexFunc(t.Pods, func(p berth.Pod) bool { return p.Key() == key })]
		if err := t.graph.Bind(&victim, c.Node); err != nil {
			return err
		}
	}
	return ask(false)
}
