package gen

import "github.com/berth-go/berth"

// spread draws a pod's spread constraints, of which no two may have the same key and action, and its selector for the
// default ones.
func (g *Generator) spread(p *berth.Pod) {
	draw := func(action berth.UnsatisfiableConstraintAction) func() berth.TopologySpreadConstraint {
		return func() berth.TopologySpreadConstraint { return g.spreadConstraint(p, action) }
	}
	constraints := append(upTo(g, 2, g.o.HardSpread, draw(berth.DoNotSchedule)), upTo(g, 2, g.o.SoftSpread, draw(berth.ScheduleAnyway))...)
	for _, c := range constraints {
		twice := false
		for _, k := range p.TopologySpreadConstraints {
			twice = twice || k.TopologyKey == c.TopologyKey && k.WhenUnsatisfiable == c.WhenUnsatisfiable
		}
		if !twice {
			p.TopologySpreadConstraints = append(p.TopologySpreadConstraints, c)
		}
	}
	if g.chance(g.o.DefaultSpread) {
		p.DefaultSpreadSelector = g.selector(podVocabulary(), p.Labels)
	}
}

func (g *Generator) spreadConstraint(p *berth.Pod, action berth.UnsatisfiableConstraintAction) berth.TopologySpreadConstraint {
	c := berth.TopologySpreadConstraint{
		MaxSkew: pick[int32](g, 1, 1, 2, 3, 5), TopologyKey: g.topologyKey(), WhenUnsatisfiable: action,
		LabelSelector: g.selector(podVocabulary(), p.Labels),
	}
	if c.TopologyKey == "nowhere" && g.chance(0.7) {
		c.TopologyKey = "pool"
	}
	if action == berth.DoNotSchedule && g.chance(g.o.MinDomains) {
		n := int32(g.between(1, 6))
		c.MinDomains = &n
	}
	if g.chance(g.o.SpreadPolicy) {
		c.NodeAffinityPolicy = pick(g, berth.Honor, berth.Ignore)
	}
	if g.chance(g.o.SpreadPolicy) {
		c.NodeTaintsPolicy = pick(g, berth.Honor, berth.Ignore)
	}
	if g.chance(g.o.MatchLabelKeys) && c.LabelSelector != nil {
		c.MatchLabelKeys = []string{pick(g, "rev", "nowhere")}
	}
	if g.chance(g.o.Faults.Spread) {
		g.misspread(&c)
	}
	return c
}

func (g *Generator) misspread(c *berth.TopologySpreadConstraint) {
	n := int32(0)
	switch g.rng.IntN(4) {
	case 0:
		c.MaxSkew = 0
	case 1:
		c.MinDomains = &n
	case 2:
		c.WhenUnsatisfiable = "Perhaps"
	case 3:
		c.NodeTaintsPolicy = "Perhaps"
	}
}
