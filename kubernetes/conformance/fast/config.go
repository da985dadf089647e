package fast

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/score"
)

func config(c *conformance.Config) score.Config {
	out := affinity.ProfileConfig{IgnorePreferredTermsOfExistingPods: c.IgnorePreferredTermsOfExistingPods}
	if w := c.HardPodAffinityWeight; w != nil {
		if out.HardPodAffinityWeight = int64(*w); *w == 0 {
			out.HardPodAffinityWeight = -1
		}
	}
	for _, d := range c.DefaultConstraints {
		out.DefaultConstraints = append(out.DefaultConstraints, berth.TopologySpreadConstraint{
			MaxSkew: d.MaxSkew, TopologyKey: d.TopologyKey, WhenUnsatisfiable: berth.UnsatisfiableConstraintAction(d.WhenUnsatisfiable),
		})
	}
	if s := c.ScoringStrategy; s != nil {
		switch s.Type {
		case "MostAllocated":
			out.Fit = affinity.MostAllocated
		case "RequestedToCapacityRatio":
			out.Fit = affinity.RequestedToCapacityRatio
		}
		for _, r := range s.Resources {
			out.FitResources = append(out.FitResources, affinity.ResourceWeight{Name: r.Name, Weight: r.Weight})
		}
		for _, p := range s.Shape {
			out.FitShape = append(out.FitShape, affinity.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
		}
	}
	return score.Config{Profile: out}
}
