package affinity

import (
	"maps"
	"slices"

	"github.com/berth-go/berth"
)

type (
	classID int32
	podID   int32
)

// class is all pods that no rule can tell apart: same namespace, labels and scheduling-relevant spec (hash-consed).
type class struct {
	// What a decision reads comes first, so that it is read together.
	key string
	id  classID
	ns  int32
	// users keep the class while it has no pods: profiles with columns for it, nominations.
	users int
	// plan is the plan that was made or used last, of any profile; nil if that is gone.
	plan *plan
	// version changes whenever the owners whose terms match the class may be others.
	version  uint32
	idle     bool
	dropped  bool // forgotten; a Prepared may still point here
	matchers []matcherLink
	// owned are the terms that a placed pod of the class counts for.
	owned []ownedTerm
	// pods are the placed pods of the class.
	pods []podID
	need need

	spec   berth.Pod // a copy without name and placement
	serial uint64
	// The neighbours in the list of classes that nobody uses, least recently used first.
	idlePrev, idleNext *class
}

// ownedTerm is a term of the pods of a class, and the part that it plays.
type ownedTerm struct {
	owners *owners
	kind   termKind
	weight int32 // of soft terms, negative for anti-affinity
}

type termKind uint8

const (
	antiTerm termKind = iota
	hardTerm
	softTerm
)

// classOf returns the class of p, a new one if there is none yet. The pod must be valid.
// Known: O(spec). New: O(spec + matching matchers).
func (g *Graph) classOf(p *berth.Pod) *class {
	g.enc.class(p)
	if c := g.classByKey.get(g.enc.buf); c != nil {
		return c
	}
	return g.newClass(p)
}

// newClass makes the class of p, whose key is in g.enc unless it was checked meanwhile.
func (g *Graph) newClass(p *berth.Pod) *class {
	g.classSerial++
	c := &class{serial: g.classSerial, key: string(g.enc.buf), ns: g.namespaceID(p.Namespace), spec: cloneSpec(p)}
	c.need = g.needOf(&c.spec)
	if f := len(g.freeClasses); f > 0 {
		c.id, g.freeClasses = g.freeClasses[f-1], g.freeClasses[:f-1]
		g.classes[c.id] = c
	} else {
		c.id = classID(len(g.classes))
		g.classes = append(g.classes, c)
	}
	g.classByKey.add(c)
	for k, v := range c.spec.Labels {
		l := labelPair{k, v}
		g.classesByLabel[l] = append(g.classesByLabel[l], c)
	}
	g.linkClass(c)
	g.ownTerms(c)
	g.retire(c)
	return c
}

// ownTerms registers the pod affinity terms of c.
func (g *Graph) ownTerms(c *class) {
	a := c.spec.Affinity
	if a == nil {
		return
	}
	own := func(t *berth.PodAffinityTerm, kind termKind, weight int32) {
		m := g.matcher([]podSelector{compileTerm(t, c.spec.Namespace, true)}, false)
		c.owned = append(c.owned, ownedTerm{g.acquireOwners(m, g.x.Key(t.TopologyKey)), kind, weight})
	}
	if pa := a.PodAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			own(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], hardTerm, 1)
		}
		for i := range pa.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &pa.PreferredDuringSchedulingIgnoredDuringExecution[i]
			own(&t.PodAffinityTerm, softTerm, t.Weight)
		}
	}
	if pa := a.PodAntiAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			own(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], antiTerm, 1)
		}
		for i := range pa.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &pa.PreferredDuringSchedulingIgnoredDuringExecution[i]
			own(&t.PodAffinityTerm, softTerm, -t.Weight)
		}
	}
}

// drop forgets a class that nobody uses.
func (g *Graph) drop(c *class) {
	c.dropped = true
	for len(c.matchers) > 0 {
		l := c.matchers[len(c.matchers)-1]
		g.unlink(l.matcher, l.at)
	}
	for _, o := range c.owned {
		m := o.owners.m
		g.releaseOwners(o.owners)
		g.releaseMatcher(m)
	}
	for k, v := range c.spec.Labels {
		l := labelPair{k, v}
		cs := g.classesByLabel[l]
		cs = slices.DeleteFunc(cs, func(o *class) bool { return o == c })
		if g.classesByLabel[l] = cs; len(cs) == 0 {
			delete(g.classesByLabel, l)
		}
	}
	g.releaseImages(c.need.images)
	g.classByKey.remove(c)
	g.classes[c.id] = nil
	g.freeClasses = append(g.freeClasses, c.id)
}

// use marks that c is in use; each call is undone by one of unuse.
func (g *Graph) use(c *class) {
	c.users++
	g.revive(c)
}

func (g *Graph) unuse(c *class) {
	c.users--
	g.retire(c)
}

// retire puts c at the end of the idle list if it has neither pods nor users, and drops the head of a list that is too
// long.
func (g *Graph) retire(c *class) {
	if c.idle || c.users > 0 || len(c.pods) > 0 {
		return
	}
	c.idle = true
	c.idlePrev, c.idleNext = g.idle.idlePrev, &g.idle
	c.idlePrev.idleNext, g.idle.idlePrev = c, c
	if g.idleLen++; g.idleLen > g.cfg.MaxIdleClasses {
		head := g.idle.idleNext
		g.revive(head)
		g.drop(head)
	}
}

func (g *Graph) revive(c *class) {
	if c.idle {
		g.unlist(c)
	}
}

// refresh makes an idle class the most recently used one.
func (g *Graph) refresh(c *class) {
	g.revive(c)
	g.retire(c)
}

// unlist takes c out of the idle list.
func (g *Graph) unlist(c *class) {
	c.idle = false
	c.idlePrev.idleNext, c.idleNext.idlePrev = c.idleNext, c.idlePrev
	c.idlePrev, c.idleNext = nil, nil
	g.idleLen--
}

// cloneSpec copies the part of p that makes its class.
func cloneSpec(p *berth.Pod) berth.Pod {
	c := *p
	c.Name, c.UID, c.NodeName, c.NominatedNodeName = "", "", "", ""
	c.GPU.Devices = nil
	c.Labels = maps.Clone(p.Labels)
	c.Requests.Scalar = maps.Clone(p.Requests.Scalar)
	if p.NonZeroRequests != nil {
		nz := *p.NonZeroRequests
		c.NonZeroRequests = &nz
	}
	c.GPU.Models = slices.Clone(p.GPU.Models)
	c.HostPorts = slices.Clone(p.HostPorts)
	c.Images = slices.Clone(p.Images)
	c.NodeSelector = maps.Clone(p.NodeSelector)
	c.Affinity = cloneAffinity(p.Affinity)
	c.Tolerations = slices.Clone(p.Tolerations)
	c.TopologySpreadConstraints = slices.Clone(p.TopologySpreadConstraints)
	for i := range c.TopologySpreadConstraints {
		t := &c.TopologySpreadConstraints[i]
		t.LabelSelector = cloneSelector(t.LabelSelector)
		if t.MinDomains != nil {
			min := *t.MinDomains
			t.MinDomains = &min
		}
	}
	c.DefaultSpreadSelector = cloneSelector(p.DefaultSpreadSelector)
	return c
}

func cloneSelector(s *berth.LabelSelector) *berth.LabelSelector {
	if s == nil {
		return nil
	}
	return &berth.LabelSelector{MatchLabels: maps.Clone(s.MatchLabels), MatchExpressions: cloneRequirements(s.MatchExpressions)}
}

func cloneRequirements(rs []berth.Requirement) []berth.Requirement {
	rs = slices.Clone(rs)
	for i := range rs {
		rs[i].Values = slices.Clone(rs[i].Values)
	}
	return rs
}

func cloneAffinity(a *berth.Affinity) *berth.Affinity {
	if a == nil {
		return nil
	}
	var c berth.Affinity
	if n := a.NodeAffinity; n != nil {
		c.NodeAffinity = &berth.NodeAffinity{}
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			terms := slices.Clone(r.NodeSelectorTerms)
			for i := range terms {
				terms[i] = cloneNodeTerm(terms[i])
			}
			c.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &berth.NodeSelector{NodeSelectorTerms: terms}
		}
		preferred := slices.Clone(n.PreferredDuringSchedulingIgnoredDuringExecution)
		for i := range preferred {
			preferred[i].Preference = cloneNodeTerm(preferred[i].Preference)
		}
		c.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = preferred
	}
	if p := a.PodAffinity; p != nil {
		c.PodAffinity = &berth.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  clonePodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution),
			PreferredDuringSchedulingIgnoredDuringExecution: cloneWeightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution),
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		c.PodAntiAffinity = &berth.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  clonePodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution),
			PreferredDuringSchedulingIgnoredDuringExecution: cloneWeightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution),
		}
	}
	return &c
}

func cloneNodeTerm(t berth.NodeSelectorTerm) berth.NodeSelectorTerm {
	return berth.NodeSelectorTerm{MatchExpressions: cloneRequirements(t.MatchExpressions), MatchFields: cloneRequirements(t.MatchFields)}
}

func clonePodTerm(t berth.PodAffinityTerm) berth.PodAffinityTerm {
	t.LabelSelector = cloneSelector(t.LabelSelector)
	t.Namespaces = slices.Clone(t.Namespaces)
	t.NamespaceSelector = cloneSelector(t.NamespaceSelector)
	return t
}

func clonePodTerms(ts []berth.PodAffinityTerm) []berth.PodAffinityTerm {
	ts = slices.Clone(ts)
	for i := range ts {
		ts[i] = clonePodTerm(ts[i])
	}
	return ts
}

func cloneWeightedTerms(ts []berth.WeightedPodAffinityTerm) []berth.WeightedPodAffinityTerm {
	ts = slices.Clone(ts)
	for i := range ts {
		ts[i].PodAffinityTerm = clonePodTerm(ts[i].PodAffinityTerm)
	}
	return ts
}

// validClass checks p and returns its class.
func (g *Graph) validClass(p *berth.Pod) (*class, error) {
	g.enc.class(p)
	if c := g.classByKey.get(g.enc.buf); c != nil && p.Name != "" && p.Namespace != "" {
		// It was checked when it was new.
		if c.idle {
			g.refresh(c)
		}
		return c, nil
	}
	if err := berth.ValidatePod(p).Err(); err != nil {
		return nil, err
	}
	return g.newClass(p), nil
}
