package slow

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/kubernetes/conformance"
)

func config(c *conformance.Config) reference.Config {
	out := reference.Config{
		HardPodAffinityWeight:              c.HardPodAffinityWeight,
		IgnorePreferredTermsOfExistingPods: c.IgnorePreferredTermsOfExistingPods,
	}
	for _, d := range c.DefaultConstraints {
		out.DefaultConstraints = append(out.DefaultConstraints, berth.TopologySpreadConstraint{
			MaxSkew: d.MaxSkew, TopologyKey: d.TopologyKey, WhenUnsatisfiable: berth.UnsatisfiableConstraintAction(d.WhenUnsatisfiable),
		})
	}
	if s := c.ScoringStrategy; s != nil {
		out.FitStrategy = reference.FitStrategy(s.Type)
		for _, r := range s.Resources {
			out.FitResources = append(out.FitResources, reference.ResourceSpec{Name: r.Name, Weight: r.Weight})
		}
		for _, p := range s.Shape {
			out.FitShape = append(out.FitShape, reference.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
		}
	}
	return out
}
