package affinity_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/topology"
)

// Nodes that something else rules out take no part in normalising, as if they were refused by a filter of kube-scheduler's.
func TestScoresWithinASetAreTheReferencesOfThoseNodes(t *testing.T) {
	compared := 0
	for seed := range uint64(60 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 23))
		opts := presets()[seed%uint64(len(presets()))]
		opts.Nodes, opts.Pods = 1+rng.IntN(40), rng.IntN(100)
		gn := gen.New(rng, opts)
		cfgs := configs()
		tw, err := newTwin(gn.Cluster(), tight, cfgs[rng.IntN(len(cfgs))])
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 {
			tw.graph.SetFollow(rng.IntN(3), rng.IntN(20))
		}
		for range 8 {
			pod := gn.Pod()
			pod = *berth.Fold(&pod)
			n, err := tw.checkWithin(&pod, rng)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			compared += n
		}
	}
	if compared < 1000 {
		t.Errorf("only %d scores were compared", compared)
	}
}

func (t *twin) checkWithin(pod *berth.Pod, rng *rand.Rand) (compared int, err error) {
	var within topology.NodeSet
	var left []int
	for _, f := range t.Feasible(pod) {
		if n, _ := t.graph.Topology().Lookup(t.Nodes[f].Name); rng.IntN(3) > 0 {
			within.Add(n)
			left = append(left, f)
		}
	}
	for n := range t.graph.Topology().Live().All() { // what is not feasible may be in the set
		if rng.IntN(9) == 0 && !t.feasible(pod, n) {
			within.Add(n)
		}
	}
	scores, err := t.Score(pod, left)
	if err != nil {
		return 0, err
	}
	var ev affinity.Evaluation
	if err := t.profile.EvaluateWithin(context.Background(), pod, &within, &ev); err != nil {
		return 0, err
	}
	if ev.Feasible.Len() != len(left) {
		return 0, fmt.Errorf("%d nodes are feasible within the set, want %d", ev.Feasible.Len(), len(left))
	}
	for i, f := range left {
		n, _ := t.graph.Topology().Lookup(t.Nodes[f].Name)
		for s := range affinity.Scorers {
			if got, want := ev.Scores[s][n], scores.ByPlugin[s.String()][i]; got != want {
				return 0, fmt.Errorf("node %s: %v score %d, reference %d", t.Nodes[f].Name, s, got, want)
			}
		}
		if ev.Total[n] != scores.Total[i] || !ev.Feasible.Has(n) {
			return 0, fmt.Errorf("node %s: total %d, reference %d", t.Nodes[f].Name, ev.Total[n], scores.Total[i])
		}
	}
	return len(left), nil
}

func (t *twin) feasible(pod *berth.Pod, n topology.NodeID) bool {
	v, err := t.profile.Verdict(pod, t.graph.Topology().Name(n), nil)
	return err == nil && v.Rule == affinity.Feasible
}

func TestAnEvaluationEndsWithItsContext(t *testing.T) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if err := g.AddNode(&berth.Node{Name: fmt.Sprint("n", i), Allocatable: berth.Resources{MilliCPU: 1000, Pods: 9}}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := g.NewProfile(affinity.ProfileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("not wanted any more")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	pod := &berth.Pod{Namespace: "a", Name: "b"}
	var ev affinity.Evaluation
	if err := p.EvaluateWithin(ctx, pod, nil, &ev); !errors.Is(err, why) {
		t.Error(err)
	}
	if ev.Feasible.Len() > 600 {
		t.Errorf("it went on for %d nodes", ev.Feasible.Len())
	}
	if err := p.Evaluate(pod, &ev); err != nil || ev.Feasible.Len() != 2000 {
		t.Errorf("%d nodes afterwards, %v", ev.Feasible.Len(), err)
	}
}
