package affinity

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// sort puts the blockers in the order of the rules.
func (c *collector) sort() {
	slices.SortStableFunc(c.found, func(a, b Blocker) int { return cmp.Compare(a.Rule, b.Rule) })
}

// nodeAlone applies the rules that look at neither pods nor room.
func (c *collector) nodeAlone() {
	g, s := c.p.g, &c.p.g.nodes[c.n]
	if s.unschedulable && !c.r.tolerator.unschedulable {
		c.add(Blocker{Rule: NodeUnschedulable, Index: -1})
	}
	if want := c.pod.NodeName; want != "" && want != g.x.Name(c.n) {
		c.add(Blocker{Rule: NodeName, Index: -1, Value: want})
	}
	for _, t := range g.taintSets[s.taints].taints {
		if t.Effect != berth.PreferNoSchedule && !c.r.tolerator.tolerates(&t) {
			c.add(Blocker{Rule: TaintToleration, Index: -1, Taint: t})
		}
	}
	if m := c.r.match; m != nil && (m.pinned && m.excludes(g.x.Name(c.n)) || !m.set.Has(c.n)) {
		c.nodeAffinity(m)
	}
}

// nodeAffinity tells what of the nodeSelector is unmet, and of the term of which least is.
func (c *collector) nodeAffinity(m *nodeMatcher) {
	x, spec := &c.p.g.x, &c.r.class.spec
	for i, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		if !m.all[i].matches(x, c.n) {
			unmet := berth.Requirement{Key: key, Operator: berth.In, Values: []string{spec.NodeSelector[key]}}
			c.add(Blocker{Rule: NodeAffinity, Index: -1, Unmet: unmet})
		}
	}
	if !m.anyOf || slices.ContainsFunc(m.terms, func(t nodeTerm) bool { return t.matches(x, c.n) }) && !(m.pinned && m.excludes(x.Name(c.n))) {
		return
	}
	nearest := []Blocker{{Rule: NodeAffinity}} // nothing that a label could meet
	fields, compiled := true, 0
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		t := &terms[i]
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 || !t.Parses() {
			continue
		}
		unmet, byField := c.unmet(i, t, &m.terms[compiled])
		compiled++
		if len(unmet) == 0 {
			continue // another term's names exclude the node, which is no fault of this one
		}
		if nearest[0].Unmet.Key == "" || fields && !byField || fields == byField && len(unmet) < len(nearest) {
			nearest, fields = unmet, byField
		}
	}
	for _, b := range nearest {
		c.add(b)
	}
}

// unmet returns the requirements of term i that the node does not meet.
func (c *collector) unmet(i int, t *berth.NodeSelectorTerm, compiled *nodeTerm) (unmet []Blocker, byField bool) {
	for k := range t.MatchExpressions {
		if !compiled.labels[k].matches(&c.p.g.x, c.n) {
			unmet = append(unmet, Blocker{Rule: NodeAffinity, Index: i, Unmet: t.MatchExpressions[k]})
		}
	}
	for k := range t.MatchFields {
		if !compiled.fields[k].matches(c.p.g.x.Name(c.n)) {
			unmet = append(unmet, Blocker{Rule: NodeAffinity, Index: i, Unmet: t.MatchFields[k], ByField: true})
			byField = true
		}
	}
	return unmet, byField
}

// load applies the rules that look at what the pods of the node take.
func (c *collector) load() {
	g, s := c.p.g, &c.p.g.nodes[c.n]
	for _, port := range c.r.need.ports {
		if !s.portsFree([]berth.HostPort{port}) {
			b := Blocker{Rule: NodePorts, Index: -1, Port: port}
			b.PodCount, b.pods = s.users(port), c.holders(port)
			c.add(b)
		}
	}
	g.insufficient(s, c.r.need, func(f Shortfall) {
		c.add(Blocker{Rule: NodeResourcesFit, Index: -1, Shortfall: f})
	})
	want := c.r.gpu
	if want.Count == 0 {
		return
	}
	var have ledger.GPUs
	if s.extra != nil {
		have = s.extra.gpu
	}
	if fits, _ := have.Fits(want); fits {
		return
	}
	short := GPUShortfall{Model: have.Model, Devices: len(have.Free)}
	short.WrongModel = len(want.Models) > 0 && !slices.Contains(want.Models, have.Model)
	for _, free := range have.Free {
		if free >= want.Milli {
			short.Room++
		}
	}
	c.add(Blocker{Rule: GPU, Index: -1, GPU: short})
}

// spread applies the hard spread constraints.
func (c *collector) spread() {
	constraints, _ := c.p.constraints(&c.r.class.spec)
	constraints = slices.DeleteFunc(slices.Clone(constraints), func(o berth.TopologySpreadConstraint) bool {
		return o.WhenUnsatisfiable != berth.DoNotSchedule
	})
	for i := range c.r.spread {
		s := &c.r.spread[i]
		v := c.p.g.x.Value(c.n, s.key)
		b := Blocker{Rule: PodTopologySpread, Index: i, Constraint: &constraints[i], Key: c.p.g.x.KeyName(s.key)}
		if v == topology.NoValue {
			b.Missing = true
			c.add(b)
			continue
		}
		if s.counter == nil {
			continue
		}
		count := s.counter.counts.at(v)
		least := s.counter.stats.smallestShifted(s.minDomains, count, s.shift)
		if count += s.shift; count+s.self-least <= s.maxSkew {
			continue
		}
		b.Value = c.p.g.x.ValueName(topology.Domain{Key: s.key, Value: v})
		b.Count, b.Self, b.Min, b.MaxSkew = count, s.self, least, s.maxSkew
		b.Below = c.below(s, count+s.self-s.maxSkew)
		b.PodCount, b.pods = int(count), c.counted(s, v)
		c.add(b)
	}
}

// below returns the domains with less than want pods.
func (c *collector) below(s *spreadRule, want int32) []Below {
	st, x := s.counter.stats, &c.p.g.x
	if st.n < int(s.minDomains) {
		return nil
	}
	var out []Below
	for v := range topology.ValueID(len(st.nodes)) {
		count := s.counter.counts.at(v)
		if st.nodes[v] == 0 || count >= want || v == x.Value(c.n, s.key) {
			continue
		}
		d := topology.Domain{Key: s.key, Value: v}
		b := Below{Value: x.ValueName(d), Count: count, Lacks: want - count}
		for n := range x.Nodes(d) {
			if e := s.counter.eligible; e == nil || e.set.Has(n) {
				b.Node = x.Name(n)
				break
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Below) int { return cmp.Compare(a.Value, b.Value) })
	return out
}

// interPod applies required pod affinity and anti-affinity, the pod's own and that of placed pods.
func (c *collector) interPod() {
	g, spec := c.p.g, &c.r.class.spec
	inDomain := func(b Blocker, k topology.KeyID, v topology.ValueID) Blocker {
		b.Rule, b.Key = InterPodAffinity, g.x.KeyName(k)
		if b.Missing = v == topology.NoValue; !b.Missing {
			b.Value = g.x.ValueName(topology.Domain{Key: k, Value: v})
		}
		return b
	}
	first := c.r.mayBeFirst()
	for i, ctr := range c.r.affinity {
		v := g.x.Value(c.n, ctr.key)
		if v == topology.NoValue || ctr.counts.at(v) <= 0 && !first {
			term := &spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
			c.add(inDomain(Blocker{Side: OwnAffinity, Index: i, Term: term}, ctr.key, v))
		}
	}
	for i, ctr := range c.r.anti {
		if v := g.x.Value(c.n, ctr.key); v != topology.NoValue && ctr.counts.at(v) > 0 {
			term := &spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
			b := Blocker{Side: OwnAntiAffinity, Index: i, Term: term}
			b.PodCount, b.pods = int(ctr.counts.at(v)), c.matching(ctr, v)
			c.add(inDomain(b, ctr.key, v))
		}
	}
	for i, l := range c.r.class.matchers {
		for _, o := range l.matcher.owners {
			if v := g.x.Value(c.n, o.key); v != topology.NoValue && o.anti.at(v) > 0 {
				b := Blocker{Side: ExistingAntiAffinity, Index: i, Term: o.term(g)}
				b.PodCount, b.pods = int(o.anti.at(v)), c.owning(o, v)
				c.add(inDomain(b, o.key, v))
			}
		}
	}
}
