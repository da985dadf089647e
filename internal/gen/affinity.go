package gen

import "github.com/berth-go/berth"

// affinity draws a pod's affinity; nil, or empty parts, occur.
func (g *Generator) affinity(p *berth.Pod) *berth.Affinity {
	a := berth.Affinity{
		NodeAffinity: g.nodeAffinity(),
		PodAffinity: &berth.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  upTo(g, 2, g.o.PodAffinity/2, g.podTerm(p)),
			PreferredDuringSchedulingIgnoredDuringExecution: upTo(g, 2, g.o.PodAffinity, g.weightedPodTerm(p)),
		},
		PodAntiAffinity: &berth.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  upTo(g, 2, g.o.PodAntiAffinity/2, g.podTerm(p)),
			PreferredDuringSchedulingIgnoredDuringExecution: upTo(g, 2, g.o.PodAntiAffinity, g.weightedPodTerm(p)),
		},
	}
	if len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)+
		len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 && g.chance(0.9) {
		a.PodAffinity = nil
	}
	if len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)+
		len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 && g.chance(0.9) {
		a.PodAntiAffinity = nil
	}
	if a == (berth.Affinity{}) && g.chance(0.9) {
		return nil
	}
	return &a
}

func (g *Generator) nodeAffinity() *berth.NodeAffinity {
	var a berth.NodeAffinity
	if g.chance(g.o.NodeAffinity) {
		s := &berth.NodeSelector{}
		for range g.between(1, 2) {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.nodeTerm(g.o.Faults.RequiredTerm))
		}
		if g.chance(g.o.Faults.EmptyTerm / 4) {
			s.NodeSelectorTerms = nil
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = s
	}
	a.PreferredDuringSchedulingIgnoredDuringExecution = upTo(g, 2, g.o.NodeAffinity, func() berth.PreferredSchedulingTerm {
		t := berth.PreferredSchedulingTerm{Weight: int32(g.between(1, 100)), Preference: g.nodeTerm(g.o.Faults.PreferredTerm)}
		if g.chance(g.o.Faults.ZeroWeight) {
			t.Weight = 0
		}
		g.misweigh(&t.Weight)
		return t
	})
	if a.RequiredDuringSchedulingIgnoredDuringExecution == nil && a.PreferredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return &a
}

func (g *Generator) nodeTerm(malformed float64) berth.NodeSelectorTerm {
	var t berth.NodeSelectorTerm
	if g.chance(g.o.Faults.EmptyTerm) {
		return t
	}
	byName := g.chance(g.o.MatchFields)
	if byName {
		t.MatchFields = append(t.MatchFields, g.fieldRequirement())
		if g.chance(0.1) {
			t.MatchFields = append(t.MatchFields, g.fieldRequirement())
		}
	}
	if !byName && g.chance(0.1) {
		t.MatchExpressions = append(t.MatchExpressions, berth.Requirement{
			Key: berth.LabelHostname, Operator: pick(g, berth.In, berth.NotIn), Values: []string{g.nodeName(), g.nodeName()},
		})
	} else if !byName || g.chance(0.3) {
		for range g.between(1, 2) {
			t.MatchExpressions = append(t.MatchExpressions, g.requirement(nodeVocabulary(),
				berth.In, berth.In, berth.NotIn, berth.NotIn, berth.Exists, berth.Exists, berth.DoesNotExist, berth.Gt, berth.Lt))
		}
	}
	if g.chance(malformed) {
		g.malform(&t)
	}
	return t
}

func (g *Generator) fieldRequirement() berth.Requirement {
	return berth.Requirement{
		Key: berth.FieldName, Operator: pick(g, berth.In, berth.NotIn, berth.NotIn), Values: []string{g.nodeName()},
	}
}

// malform adds a requirement that does not parse.
func (g *Generator) malform(t *berth.NodeSelectorTerm) {
	if g.chance(0.3) {
		t.MatchFields = append(t.MatchFields, pick(g,
			berth.Requirement{Key: berth.FieldName, Operator: berth.Exists},
			berth.Requirement{Key: berth.FieldName, Operator: berth.In, Values: []string{g.nodeName(), g.nodeName()}},
			berth.Requirement{Key: berth.FieldName, Operator: berth.In}))
		return
	}
	t.MatchExpressions = append(t.MatchExpressions, pick(g,
		berth.Requirement{Key: coresKey, Operator: berth.Gt, Values: []string{"1.5"}},
		berth.Requirement{Key: coresKey, Operator: berth.Gt, Values: []string{"-4"}},
		berth.Requirement{Key: coresKey, Operator: berth.Lt, Values: []string{"9223372036854775808"}},
		berth.Requirement{Key: coresKey, Operator: berth.Lt, Values: []string{"8", "16"}},
		berth.Requirement{Key: "pool", Operator: "Like", Values: []string{"blue"}},
		berth.Requirement{Key: "pool", Operator: berth.In},
		berth.Requirement{Key: "pool", Operator: berth.Exists, Values: []string{"blue"}},
		berth.Requirement{Key: "pool", Operator: berth.NotIn, Values: []string{"no value!"}},
		berth.Requirement{Key: "a/b/c", Operator: berth.DoesNotExist},
		berth.Requirement{Key: "-pool", Operator: berth.DoesNotExist},
		berth.Requirement{Key: "Bad.Prefix/pool", Operator: berth.DoesNotExist}))
}

func (g *Generator) topologyKey() string {
	if g.chance(g.o.Faults.TopologyKey) {
		return ""
	}
	return pick(g, berth.LabelHostname, berth.LabelHostname, berth.LabelZone, berth.LabelZone, berth.LabelRegion, "rack", "rack",
		"pool", "nowhere")
}

func (g *Generator) podTerm(p *berth.Pod) func() berth.PodAffinityTerm {
	return func() berth.PodAffinityTerm {
		t := berth.PodAffinityTerm{LabelSelector: g.selector(podVocabulary(), p.Labels), TopologyKey: g.topologyKey()}
		if g.chance(g.o.NamespaceList) {
			for range g.between(1, 2) {
				t.Namespaces = append(t.Namespaces, pick(g, namespaceNames()...))
			}
		}
		if g.chance(g.o.NamespaceSelector) {
			t.NamespaceSelector = &berth.LabelSelector{}
			if g.chance(0.7) {
				t.NamespaceSelector = g.nonEmptySelector(namespaceVocabulary(), nil)
			}
		}
		if g.chance(g.o.MatchLabelKeys) {
			t.MatchLabelKeys = []string{pick(g, "rev", "nowhere")}
		}
		if g.chance(g.o.MatchLabelKeys) {
			t.MismatchLabelKeys = []string{"tier"}
		}
		return t
	}
}

func (g *Generator) weightedPodTerm(p *berth.Pod) func() berth.WeightedPodAffinityTerm {
	return func() berth.WeightedPodAffinityTerm {
		t := berth.WeightedPodAffinityTerm{Weight: int32(g.between(1, 100)), PodAffinityTerm: g.podTerm(p)()}
		g.misweigh(&t.Weight)
		return t
	}
}

func (g *Generator) misweigh(weight *int32) {
	if g.chance(g.o.Faults.Weight) {
		*weight = pick[int32](g, -1, 101)
	}
}
