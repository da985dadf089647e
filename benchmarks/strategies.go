package benchmarks

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
)

// Strategy is a named way to place pods.
type Strategy struct {
	Name string
	// Config returns the pipeline for a trace.
	Config func(t *Trace, o Options) (score.Config, error)
}

// Strategies returns the strategies to compare: kube-scheduler's default weights and each of its resource scores alone,
// the policies of the FGD paper, and Headroom, ours.
func Strategies() []Strategy {
	fixed := func(name string, c score.Config) Strategy {
		return Strategy{name, func(*Trace, Options) (score.Config, error) { return c, nil }}
	}
	return []Strategy{
		fixed("KubeDefault", score.KubeDefault()),
		fixed("LeastAllocated", score.LeastAllocated()),
		fixed("MostAllocated", score.MostAllocated()),
		fixed("RequestedToCapacityRatio", score.RequestedToCapacityRatio(
			affinity.ShapePoint{Utilization: 0, Score: 0}, affinity.ShapePoint{Utilization: 100, Score: 10})),
		fixed("BalancedAllocation", score.BalancedAllocation()),
		{"Random", func(_ *Trace, o Options) (score.Config, error) {
			return score.Only(score.NewRandom(uint64(o.Seed))), nil
		}},
		fixed("DotProduct", score.Only(score.DotProduct{})),
		fixed("GPUClustering", score.Only(score.GPUClustering{})),
		fixed("GPUPacking", score.Only(score.GPUPacking{})),
		fixed("BestFit", score.Only(score.BestFit{})),
		{"FGD", func(t *Trace, _ Options) (score.Config, error) {
			f, err := score.NewFGD(score.TypicalPods(t.Pods, 0.95))
			if err != nil {
				return score.Config{}, err
			}
			return score.Only(f), nil
		}},
		{"Headroom", func(t *Trace, _ Options) (score.Config, error) {
			gpus := make(map[string]int64)
			for _, n := range t.Nodes {
				gpus[n.GPUs.Model] += int64(n.GPUs.Count) * berth.GPUMilli
			}
			h, err := score.NewHeadroom(score.HeadroomConfig{Typical: score.TypicalPods(t.Pods, 1), GPUs: gpus})
			if err != nil {
				return score.Config{}, err
			}
			return score.Only(h), nil
		}},
	}
}

// Select returns the strategies of the given names, separated by commas, in their order; all if names is empty.
func Select(names string) ([]Strategy, error) {
	all := Strategies()
	if names == "" {
		return all, nil
	}
	var chosen []Strategy
	for _, name := range strings.Split(names, ",") {
		found := false
		for _, s := range all {
			if strings.EqualFold(s.Name, strings.TrimSpace(name)) {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			var known []string
			for _, s := range all {
				known = append(known, s.Name)
			}
			return nil, fmt.Errorf("no strategy %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// Paper returns the six policies of the FGD paper.
func Paper() []Strategy {
	s, err := Select("Random,DotProduct,GPUClustering,GPUPacking,BestFit,FGD")
	if err != nil {
		panic(err) // the names are those above
	}
	return s
}
