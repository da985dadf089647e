package kube

import (
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// profilesFor returns the default profile with the arguments of the configuration.
func profilesFor(c *conformance.Config) ([]config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	for _, pc := range defaults.Profiles[0].PluginConfig {
		switch args := pc.Args.(type) {
		case *config.InterPodAffinityArgs:
			args.IgnorePreferredTermsOfExistingPods = c.IgnorePreferredTermsOfExistingPods
			if c.HardPodAffinityWeight != nil {
				args.HardPodAffinityWeight = *c.HardPodAffinityWeight
			}
		case *config.NodeResourcesFitArgs:
			if c.ScoringStrategy != nil {
				args.ScoringStrategy = scoringStrategy(c.ScoringStrategy)
			}
		case *config.PodTopologySpreadArgs:
			if len(c.DefaultConstraints) > 0 {
				args.DefaultingType = config.ListDefaulting
				args.DefaultConstraints = c.DefaultConstraints
			}
		}
	}
	return defaults.Profiles, nil
}

func scoringStrategy(s *conformance.ScoringStrategy) *config.ScoringStrategy {
	out := &config.ScoringStrategy{Type: config.ScoringStrategyType(s.Type)}
	for _, r := range s.Resources {
		out.Resources = append(out.Resources, config.ResourceSpec{Name: r.Name, Weight: r.Weight})
	}
	if len(s.Resources) == 0 {
		out.Resources = []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	}
	if len(s.Shape) > 0 {
		out.RequestedToCapacityRatio = &config.RequestedToCapacityRatioParam{}
		for _, p := range s.Shape {
			point := config.UtilizationShapePoint{Utilization: p.Utilization, Score: p.Score}
			out.RequestedToCapacityRatio.Shape = append(out.RequestedToCapacityRatio.Shape, point)
		}
	}
	return out
}

func featureName(gate string) featuregate.Feature { return featuregate.Feature(gate) }
