package convert

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth"
)

func affinity(a *v1.Affinity) *berth.Affinity {
	if a == nil {
		return nil
	}
	out := &berth.Affinity{NodeAffinity: nodeAffinity(a.NodeAffinity)}
	if pa := a.PodAffinity; pa != nil {
		out.PodAffinity = &berth.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  each(pa.RequiredDuringSchedulingIgnoredDuringExecution, podAffinityTerm),
			PreferredDuringSchedulingIgnoredDuringExecution: each(pa.PreferredDuringSchedulingIgnoredDuringExecution, weightedTerm),
		}
	}
	if pa := a.PodAntiAffinity; pa != nil {
		out.PodAntiAffinity = &berth.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  each(pa.RequiredDuringSchedulingIgnoredDuringExecution, podAffinityTerm),
			PreferredDuringSchedulingIgnoredDuringExecution: each(pa.PreferredDuringSchedulingIgnoredDuringExecution, weightedTerm),
		}
	}
	return out
}

func toAffinity(a *berth.Affinity) *v1.Affinity {
	if a == nil {
		return nil
	}
	out := &v1.Affinity{NodeAffinity: toNodeAffinity(a.NodeAffinity)}
	if pa := a.PodAffinity; pa != nil {
		out.PodAffinity = &v1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  each(pa.RequiredDuringSchedulingIgnoredDuringExecution, toPodAffinityTerm),
			PreferredDuringSchedulingIgnoredDuringExecution: each(pa.PreferredDuringSchedulingIgnoredDuringExecution, toWeightedTerm),
		}
	}
	if pa := a.PodAntiAffinity; pa != nil {
		out.PodAntiAffinity = &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  each(pa.RequiredDuringSchedulingIgnoredDuringExecution, toPodAffinityTerm),
			PreferredDuringSchedulingIgnoredDuringExecution: each(pa.PreferredDuringSchedulingIgnoredDuringExecution, toWeightedTerm),
		}
	}
	return out
}

func nodeAffinity(a *v1.NodeAffinity) *berth.NodeAffinity {
	if a == nil {
		return nil
	}
	out := &berth.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: each(a.PreferredDuringSchedulingIgnoredDuringExecution,
			func(t *v1.PreferredSchedulingTerm) berth.PreferredSchedulingTerm {
				return berth.PreferredSchedulingTerm{Weight: t.Weight, Preference: nodeSelectorTerm(&t.Preference)}
			}),
	}
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		out.RequiredDuringSchedulingIgnoredDuringExecution = &berth.NodeSelector{
			NodeSelectorTerms: each(required.NodeSelectorTerms, nodeSelectorTerm),
		}
	}
	return out
}

func toNodeAffinity(a *berth.NodeAffinity) *v1.NodeAffinity {
	if a == nil {
		return nil
	}
	out := &v1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: each(a.PreferredDuringSchedulingIgnoredDuringExecution,
			func(t *berth.PreferredSchedulingTerm) v1.PreferredSchedulingTerm {
				return v1.PreferredSchedulingTerm{Weight: t.Weight, Preference: toNodeSelectorTerm(&t.Preference)}
			}),
	}
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		out.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{
			NodeSelectorTerms: each(required.NodeSelectorTerms, toNodeSelectorTerm),
		}
	}
	return out
}

func podAffinityTerm(t *v1.PodAffinityTerm) berth.PodAffinityTerm {
	return berth.PodAffinityTerm{
		LabelSelector:     labelSelector(t.LabelSelector),
		Namespaces:        t.Namespaces,
		NamespaceSelector: labelSelector(t.NamespaceSelector),
		TopologyKey:       t.TopologyKey,
		MatchLabelKeys:    t.MatchLabelKeys,
		MismatchLabelKeys: t.MismatchLabelKeys,
	}
}

func toPodAffinityTerm(t *berth.PodAffinityTerm) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{
		LabelSelector:     toLabelSelector(t.LabelSelector),
		Namespaces:        t.Namespaces,
		NamespaceSelector: toLabelSelector(t.NamespaceSelector),
		TopologyKey:       t.TopologyKey,
		MatchLabelKeys:    t.MatchLabelKeys,
		MismatchLabelKeys: t.MismatchLabelKeys,
	}
}

func weightedTerm(t *v1.WeightedPodAffinityTerm) berth.WeightedPodAffinityTerm {
	return berth.WeightedPodAffinityTerm{Weight: t.Weight, PodAffinityTerm: podAffinityTerm(&t.PodAffinityTerm)}
}

func toWeightedTerm(t *berth.WeightedPodAffinityTerm) v1.WeightedPodAffinityTerm {
	return v1.WeightedPodAffinityTerm{Weight: t.Weight, PodAffinityTerm: toPodAffinityTerm(&t.PodAffinityTerm)}
}

func spreadConstraint(c *v1.TopologySpreadConstraint) berth.TopologySpreadConstraint {
	out := berth.TopologySpreadConstraint{
		MaxSkew:           c.MaxSkew,
		TopologyKey:       c.TopologyKey,
		WhenUnsatisfiable: berth.UnsatisfiableConstraintAction(c.WhenUnsatisfiable),
		LabelSelector:     labelSelector(c.LabelSelector),
		MinDomains:        c.MinDomains,
		MatchLabelKeys:    c.MatchLabelKeys,
	}
	if c.NodeAffinityPolicy != nil {
		out.NodeAffinityPolicy = berth.NodeInclusionPolicy(*c.NodeAffinityPolicy)
	}
	if c.NodeTaintsPolicy != nil {
		out.NodeTaintsPolicy = berth.NodeInclusionPolicy(*c.NodeTaintsPolicy)
	}
	return out
}

func toSpreadConstraint(c *berth.TopologySpreadConstraint) v1.TopologySpreadConstraint {
	return v1.TopologySpreadConstraint{
		MaxSkew:            c.MaxSkew,
		TopologyKey:        c.TopologyKey,
		WhenUnsatisfiable:  v1.UnsatisfiableConstraintAction(c.WhenUnsatisfiable),
		LabelSelector:      toLabelSelector(c.LabelSelector),
		MinDomains:         c.MinDomains,
		NodeAffinityPolicy: toInclusionPolicy(c.NodeAffinityPolicy),
		NodeTaintsPolicy:   toInclusionPolicy(c.NodeTaintsPolicy),
		MatchLabelKeys:     c.MatchLabelKeys,
	}
}

func toInclusionPolicy(p berth.NodeInclusionPolicy) *v1.NodeInclusionPolicy {
	if p == "" {
		return nil
	}
	policy := v1.NodeInclusionPolicy(p)
	return &policy
}
