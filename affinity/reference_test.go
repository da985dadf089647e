package affinity_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/topology"
)

// presets are the mixes of features that random clusters are drawn from.
func presets() []gen.Options {
	return []gen.Options{gen.Everything(), gen.Plain(), gen.Affine(), gen.Spreading(), gen.Crowded()}
}

// configs are pairs of the same configuration for the reference and for the graph.
func configs() []pair {
	none, ten := int32(0), int32(10)
	most := pair{
		reference.Config{FitStrategy: reference.MostAllocated, HardPodAffinityWeight: &none, IgnorePreferredTermsOfExistingPods: true},
		affinity.ProfileConfig{Fit: affinity.MostAllocated, HardPodAffinityWeight: -1, IgnorePreferredTermsOfExistingPods: true},
	}
	var ratio pair
	ratio.reference.FitStrategy, ratio.profile.Fit = reference.RequestedToCapacityRatio, affinity.RequestedToCapacityRatio
	ratio.reference.HardPodAffinityWeight, ratio.profile.HardPodAffinityWeight = &ten, 10
	for _, pt := range [][2]int64{{0, 0}, {40, 7}, {100, 3}} {
		ratio.reference.FitShape = append(ratio.reference.FitShape, reference.ShapePoint{Utilization: pt[0], Score: pt[1]})
		ratio.profile.FitShape = append(ratio.profile.FitShape, affinity.ShapePoint{Utilization: pt[0], Score: pt[1]})
	}
	for i, name := range []string{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
		weight := int64(i + 2)
		ratio.reference.FitResources = append(ratio.reference.FitResources, reference.ResourceSpec{Name: name, Weight: weight})
		ratio.profile.FitResources = append(ratio.profile.FitResources, affinity.ResourceWeight{Name: name, Weight: weight})
		ratio.reference.BalancedResources = append(ratio.reference.BalancedResources, reference.ResourceSpec{Name: name, Weight: 1})
		ratio.profile.BalancedResources = append(ratio.profile.BalancedResources, name)
	}
	ratio.profile.DefaultConstraints = []berth.TopologySpreadConstraint{
		{TopologyKey: berth.LabelZone, MaxSkew: 1, WhenUnsatisfiable: berth.DoNotSchedule},
		{TopologyKey: berth.LabelHostname, MaxSkew: 2, WhenUnsatisfiable: berth.ScheduleAnyway},
	}
	ratio.reference.DefaultConstraints = ratio.profile.DefaultConstraints
	return []pair{{}, most, ratio}
}

type pair struct {
	reference reference.Config
	profile   affinity.ProfileConfig
}

// twin is a cluster held twice: as plain specs for the reference, and as a graph, with a profile for each configuration. The
// first answers until use says otherwise.
type twin struct {
	reference.Cluster
	graph    *affinity.Graph
	configs  []pair
	profiles []*affinity.Profile
	profile  *affinity.Profile
}

// use makes configuration i the one that answers.
func (t *twin) use(i int) { t.Config, t.profile = t.configs[i].reference, t.profiles[i] }

// tight are bounds under which hardly anything is kept.
var tight = affinity.Config{Seed: 1, MaxIdleClasses: 3, MaxColumnBytes: 1 << 16}

func newTwin(c *gen.Cluster, cfg affinity.Config, configs ...pair) (*twin, error) {
	g, err := affinity.New(cfg)
	if err != nil {
		return nil, err
	}
	t := &twin{graph: g, configs: configs}
	for _, cfg := range configs {
		p, err := g.NewProfile(cfg.profile)
		if err != nil {
			return nil, err
		}
		t.profiles = append(t.profiles, p)
	}
	t.use(0)
	t.Namespaces = c.Namespaces
	for i := range c.Namespaces {
		if err := g.SetNamespace(&c.Namespaces[i]); err != nil {
			return nil, err
		}
	}
	t.Nodes = c.Nodes
	for i := range c.Nodes {
		if err := g.AddNode(&c.Nodes[i]); err != nil {
			return nil, err
		}
	}
	t.Budgets = c.Budgets
	for i := range c.Pods {
		if err := t.add(*berth.Fold(&c.Pods[i])); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add adds a placed or nominated pod to both sides. One whose node is not there stays out of the graph, one whose GPUs
// are taken is left out.
func (t *twin) add(p berth.Pod) error {
	var err error
	switch topo := t.graph.Topology(); {
	case p.NodeName != "":
		if _, ok := topo.Lookup(p.NodeName); ok {
			err = t.graph.Bind(&p, p.NodeName)
			p.GPU.Devices = t.graph.Devices(p.Key()) // they stay when others go
		}
	case p.NominatedNodeName != "":
		if _, ok := topo.Lookup(p.NominatedNodeName); ok {
			err = t.graph.Nominate(&p, p.NominatedNodeName)
		}
	}
	if errors.Is(err, affinity.ErrDevices) {
		return nil
	}
	t.Pods = append(t.Pods, p)
	return err
}

// check compares the answers of both sides for one pod and returns the choice of the graph.
func (t *twin) check(pod *berth.Pod) (affinity.Choice, error) {
	want := t.Filter(pod)
	topo := t.graph.Topology()
	var failed error
	err := t.profile.Verdicts(pod, func(n topology.NodeID, got affinity.Verdict) {
		i := t.node(topo.Name(n))
		if w := want[i]; failed == nil && (got.Rule.String() != w.Plugin || got.Resolvable != w.Resolvable) {
			failed = fmt.Errorf("node %s: verdict %v %v, reference %q %v", topo.Name(n), got.Rule, got.Resolvable, w.Plugin, w.Resolvable)
		}
	})
	if err != nil || failed != nil {
		return affinity.Choice{}, fmt.Errorf("%w %w", err, failed)
	}
	feasible := t.Feasible(pod)
	scores, err := t.Score(pod, feasible)
	if err != nil {
		return affinity.Choice{}, err
	}
	var ev affinity.Evaluation
	if err := t.profile.Evaluate(pod, &ev); err != nil {
		return affinity.Choice{}, err
	}
	var set topology.NodeSet
	if err := t.profile.Feasible(pod, &set); err != nil || !set.Equal(&ev.Feasible) {
		return affinity.Choice{}, fmt.Errorf("feasible %v alone, %v with scores: %w", set.AppendTo(nil), ev.Feasible.AppendTo(nil), err)
	}
	if ev.Feasible.Len() != len(feasible) {
		return affinity.Choice{}, fmt.Errorf("%d feasible nodes, reference %d", ev.Feasible.Len(), len(feasible))
	}
	for i, f := range feasible {
		n, _ := topo.Lookup(t.Nodes[f].Name)
		if !ev.Feasible.Has(n) {
			return affinity.Choice{}, fmt.Errorf("node %s is not feasible", t.Nodes[f].Name)
		}
		for s := range affinity.Scorers {
			if got, want := ev.Scores[s][n], scores.ByPlugin[s.String()][i]; got != want {
				return affinity.Choice{}, fmt.Errorf("node %s: %v score %d, reference %d", t.Nodes[f].Name, s, got, want)
			}
		}
		if ev.Total[n] != scores.Total[i] {
			return affinity.Choice{}, fmt.Errorf("node %s: total %d, reference %d", t.Nodes[f].Name, ev.Total[n], scores.Total[i])
		}
	}
	choice, ok, err := t.profile.Best(pod)
	if err != nil || ok != (len(feasible) > 0) {
		return choice, fmt.Errorf("best: %v %v, %d feasible", ok, err, len(feasible))
	}
	if ok {
		found := false
		for _, b := range scores.Best {
			found = found || t.Nodes[b].Name == topo.Name(choice.Node)
		}
		if !found || choice.Feasible != len(feasible) {
			return choice, fmt.Errorf("chose %s of %d, not one of the reference's best of %d", topo.Name(choice.Node), choice.Feasible, len(feasible))
		}
	}
	return choice, nil
}

// checkPreempt compares who must go for a pod, where it fits nowhere, and returns the answer of the graph.
func (t *twin) checkPreempt(pod *berth.Pod) (affinity.Preemption, error) {
	got, err := t.profile.Preempt(pod, t.Budgets)
	if err != nil {
		return got, err
	}
	want := t.inOrder().Preempt(pod)
	if len(got.Candidates) != len(want.Candidates) || len(want.Best) > 0 != (got.Chosen >= 0) {
		return got, fmt.Errorf("candidates %v, chosen %d, reference %v", got.Candidates, got.Chosen, want.Candidates)
	}
	for _, w := range want.Candidates {
		name := t.Nodes[w.Node].Name
		i := slices.IndexFunc(got.Candidates, func(c affinity.Candidate) bool { return c.Node == name })
		if i < 0 {
			return got, fmt.Errorf("node %s is no candidate", name)
		}
		c := &got.Candidates[i]
		var victims []berth.PodKey
		for _, v := range w.Victims {
			victims = append(victims, v.Key())
		}
		if !slices.Equal(c.Victims, victims) || c.Violations != w.Violations {
			return got, fmt.Errorf("node %s: victims %v with %d violations, reference %v with %d", name, c.Victims, c.Violations, victims, w.Violations)
		}
		if got.Chosen == i && !slices.Contains(want.Best, w.Node) {
			return got, fmt.Errorf("chose %s, not one of the reference's best of %d", name, len(want.Best))
		}
	}
	return got, nil
}

// inOrder returns the reference's cluster with the pods of each node in the order that they have in the graph, which decides among
// victims of equal priority and start.
func (t *twin) inOrder() *reference.Cluster {
	c := t.Cluster
	c.Pods = slices.Clone(c.Pods)
	at := make(map[berth.PodKey]int)
	for n := range t.graph.Topology().Live().All() {
		for key := range t.graph.PodsOn(n) {
			at[key] = len(at)
		}
	}
	slices.SortStableFunc(c.Pods, func(a, b berth.Pod) int { return cmp.Compare(at[a.Key()], at[b.Key()]) })
	return &c
}

func (t *twin) node(name string) int {
	for i := range t.Nodes {
		if t.Nodes[i].Name == name {
			return i
		}
	}
	return -1
}

// TestDecisionsEqualReference compares the verdict for every node, every score and the choice, for random pods on
// random clusters, and places each pod before the next.
func TestDecisionsEqualReference(t *testing.T) {
	clusters := 60
	if testing.Short() {
		clusters = 15
	}
	for seed := range clusters * *steps {
		if err := decisions(uint64(seed)); err != nil {
			t.Fatal(err)
		}
	}
}

func decisions(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	opts := presets()[seed%uint64(len(presets()))]
	opts.Nodes, opts.Pods = 1+rng.IntN(60), rng.IntN(150)
	gn := gen.New(rng, opts)
	cfgs := configs()
	t, err := newTwin(gn.Cluster(), tight, cfgs[rng.IntN(len(cfgs))])
	if err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	if rng.IntN(2) == 0 {
		t.graph.SetFollow(rng.IntN(3), rng.IntN(20))
	}
	for i := range 12 {
		pod := gn.Pod()
		pod = *berth.Fold(&pod)
		choice, err := t.check(&pod)
		if err != nil {
			return fmt.Errorf("seed %d, pod %d (%v): %w", seed, i, pod.Key(), err)
		}
		if choice.Node != topology.None {
			pod.NodeName = t.graph.Topology().Name(choice.Node)
			pod.GPU.Devices = nil
			if err := t.add(pod); err != nil {
				return fmt.Errorf("seed %d, pod %d: %w", seed, i, err)
			}
		}
	}
	return nil
}
