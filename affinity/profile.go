package affinity

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Profile answers for pods under one configuration: which nodes are feasible, how they score, which is best, and why not.
// It keeps what it found out about a class of pods, and on the next pod of the class looks only at what changed since.
// A graph may have several profiles; all share the graph's owner.
type Profile struct {
	g   *Graph
	cfg resolved
	// fit and balanced are the resources that the scores look at; few are kept in place.
	fit, balanced               []scoredResource
	fitInPlace, balancedInPlace [2]scoredResource
	plans                       []*plan // by classID, nil where there is none
	demands                     map[string]*demand
	eval                        evaluation // scratch
}

// NewProfile returns a profile of the graph. The error wraps ErrConfig.
func (g *Graph) NewProfile(cfg ProfileConfig) (*Profile, error) {
	r, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	p := &Profile{g: g, cfg: r, demands: make(map[string]*demand)}
	p.fit, p.balanced = p.fitInPlace[:0], p.balancedInPlace[:0]
	p.eval.feasible, p.eval.zeros = p.eval.feasibleInPlace[:0], p.eval.zerosInPlace[:]
	for _, w := range r.FitResources {
		p.fit = append(p.fit, g.scoredResource(w.Name, w.Weight))
	}
	for _, name := range r.BalancedResources {
		p.balanced = append(p.balanced, g.scoredResource(name, 1))
	}
	return p, nil
}

// Graph returns the graph of the profile.
func (p *Profile) Graph() *Graph { return p.g }

// Weights returns the weights of the built-in scores.
func (p *Profile) Weights() Weights { return p.cfg.Weights }

// static is what of a class decides, together with the state of a node, on the rules and scores that look at the node
// alone. Classes that differ in labels, pod affinity or spread only have the same.
type static struct {
	need      *need
	gpu       *berth.GPURequest
	match     *nodeMatcher // nil: every node
	tolerator *tolerator
	preferred []weightedMatcher
}

// rules are the rules of one class under one profile, compiled. Their parts are held in the graph by reference counts.
type rules struct {
	static
	class *class
	// affinity are the required affinity terms. They count the pods that match all of them.
	affinity []*counter
	anti     []*counter
	soft     []softPodTerm
	spread   []spreadRule
	scored   []spreadScore
	// allKeys: nodes that lack the key of a soft constraint are not scored.
	allKeys bool
}

type weightedMatcher struct {
	m      *nodeMatcher
	weight int64
}

type softPodTerm struct {
	counter *counter
	weight  int64 // negative for anti-affinity
}

// spreadRule is a hard spread constraint.
type spreadRule struct {
	counter    *counter // nil if nothing is counted
	key        topology.KeyID
	maxSkew    int32
	minDomains int32
	self       int32 // 1 if the pod itself counts
	selector   selector
	// shift is what a what-if adds on the node in question beyond what the counter counts (see Profile.shift).
	shift int32
}

// spreadScore is a soft spread constraint.
type spreadScore struct {
	counter  *counter // nil if nothing is counted
	key      topology.KeyID
	hostname bool
	maxSkew  int32
}

// compileInto compiles the rules of c.
func (p *Profile) compileInto(r *rules, c *class) {
	g, spec := p.g, &c.spec
	r.class = c
	r.static = static{need: &c.need, gpu: &spec.GPU, match: g.compileRequired(spec), tolerator: g.acquireTolerator(spec.Tolerations)}
	g.holdImages(c.need.images)
	if a := spec.Affinity; a != nil {
		if a.NodeAffinity != nil {
			terms := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			for i := range terms {
				if m := g.compilePreferred(&terms[i]); m != nil {
					r.preferred = append(r.preferred, weightedMatcher{m, int64(terms[i].Weight)})
				}
			}
		}
		if a.PodAffinity != nil {
			p.compileAffinity(r, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
			p.compileSoft(r, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, +1)
		}
		if a.PodAntiAffinity != nil {
			for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
				r.anti = append(r.anti, g.termCounter(t, spec.Namespace))
			}
			p.compileSoft(r, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, -1)
		}
	}
	p.compileSpread(r)
}

func (g *Graph) termCounter(t *berth.PodAffinityTerm, namespace string) *counter {
	m := g.matcher([]podSelector{compileTerm(t, namespace, false)}, false)
	return g.acquireCounter(m, counterSpec{key: g.x.Key(t.TopologyKey), missing: topology.NoValue})
}

func (p *Profile) compileAffinity(r *rules, terms []berth.PodAffinityTerm) {
	if len(terms) == 0 {
		return
	}
	g, c := p.g, r.class
	selectors := make([]podSelector, len(terms))
	for i := range terms {
		selectors[i] = compileTerm(&terms[i], c.spec.Namespace, false)
	}
	for i := range terms {
		m := g.matcher(selectors, false)
		r.affinity = append(r.affinity, g.acquireCounter(m, counterSpec{key: g.x.Key(terms[i].TopologyKey), missing: topology.NoValue}))
	}
}

func (p *Profile) compileSoft(r *rules, terms []berth.WeightedPodAffinityTerm, sign int64) {
	for i := range terms {
		ctr := p.g.termCounter(&terms[i].PodAffinityTerm, r.class.spec.Namespace)
		r.soft = append(r.soft, softPodTerm{ctr, sign * int64(terms[i].Weight)})
	}
}

// constraints returns the spread constraints of a pod: its own, or the defaults with its default selector.
func (p *Profile) constraints(spec *berth.Pod) (cs []berth.TopologySpreadConstraint, own bool) {
	if len(spec.TopologySpreadConstraints) > 0 {
		return spec.TopologySpreadConstraints, true
	}
	if s := spec.DefaultSpreadSelector; s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return nil, false
	}
	cs = append(cs, p.cfg.DefaultConstraints...)
	for i := range cs {
		cs[i].LabelSelector = spec.DefaultSpreadSelector
	}
	return cs, false
}

func (p *Profile) compileSpread(r *rules) {
	g := p.g
	cs, own := p.constraints(&r.class.spec)
	r.allKeys = own || !p.cfg.systemDefaulted
	var hardKeys, softKeys []topology.KeyID
	for i := range cs {
		k := g.x.Key(cs[i].TopologyKey)
		if cs[i].WhenUnsatisfiable == berth.DoNotSchedule {
			hardKeys = append(hardKeys, k)
		} else if r.allKeys {
			softKeys = append(softKeys, k)
		}
	}
	for i := range cs {
		c := &cs[i]
		sel := podSelector{namespaces: []string{r.class.spec.Namespace}, labels: compileSelector(c.LabelSelector)}
		key := g.x.Key(c.TopologyKey)
		// An empty selector matches the pod itself, but counts no other (podtopologyspread/common.go, countPodsMatchSelector).
		counted := sel
		if sel.labels.empty() {
			counted.labels = selector{nothing: true}
		}
		var m *matcher
		if !sel.labels.nothing {
			m = g.matcher([]podSelector{counted}, true)
		}
		if c.WhenUnsatisfiable == berth.DoNotSchedule {
			rule := spreadRule{key: key, maxSkew: c.MaxSkew, minDomains: 1, selector: sel.labels}
			if c.MinDomains != nil {
				rule.minDomains = *c.MinDomains
			}
			if sel.labels.matches(r.class.spec.Labels) {
				rule.self = 1
			}
			if m != nil {
				rule.counter = g.acquireCounter(m, counterSpec{key: key, eligible: p.eligibility(r, c, hardKeys), missing: topology.NoValue, stats: true})
			}
			g.keepKey(key)
			r.spread = append(r.spread, rule)
			continue
		}
		score := spreadScore{key: key, hostname: c.TopologyKey == berth.LabelHostname, maxSkew: c.MaxSkew}
		if m != nil {
			spec := counterSpec{key: key, missing: topology.NoValue}
			if score.hostname {
				spec.key = perNode
			} else {
				spec.eligible = p.eligibility(r, c, softKeys)
				if !r.allKeys {
					spec.missing = g.emptyValue(key)
				}
			}
			score.counter = g.acquireCounter(m, spec)
		}
		g.keepKey(key)
		r.scored = append(r.scored, score)
	}
}

// emptyValue is the value "" of a key, as which a missing key counts under the system's default constraints. It is
// held for good.
func (g *Graph) emptyValue(k topology.KeyID) topology.ValueID {
	v, ok := g.empty[k]
	if !ok {
		v = g.x.Acquire(k, "").Value
		g.empty[k] = v
	}
	return v
}

func (p *Profile) eligibility(r *rules, c *berth.TopologySpreadConstraint, keys []topology.KeyID) *eligibility {
	var match *nodeMatcher
	if c.NodeAffinityPolicy != berth.Ignore && r.match != nil {
		match = r.match
		match.refs++
	}
	var tol *tolerator
	if c.NodeTaintsPolicy == berth.Honor {
		tol = r.tolerator
		tol.refs++
	}
	return p.g.acquireEligibility(keys, match, tol)
}

// release gives back what compile acquired.
func (p *Profile) release(r *rules) {
	g := p.g
	for _, c := range r.affinity {
		g.releaseCounter(c)
	}
	for _, c := range r.anti {
		g.releaseCounter(c)
	}
	for _, t := range r.soft {
		g.releaseCounter(t.counter)
	}
	for _, s := range r.spread {
		g.dropKey(s.key)
		if s.counter != nil {
			g.releaseCounter(s.counter)
		}
	}
	for _, s := range r.scored {
		g.dropKey(s.key)
		if s.counter != nil {
			g.releaseCounter(s.counter)
		}
	}
	g.releaseStatic(&r.static)
}

func (g *Graph) releaseStatic(s *static) {
	for _, w := range s.preferred {
		g.releaseNodeMatcher(w.m)
	}
	g.releaseNodeMatcher(s.match)
	g.releaseTolerator(s.tolerator)
	g.releaseImages(s.need.images)
}

// holdStatic returns a copy of s with references of its own.
func (g *Graph) holdStatic(s *static) static {
	h := *s
	g.holdImages(h.need.images)
	for _, w := range h.preferred {
		w.m.refs++
	}
	if h.match != nil {
		h.match.refs++
	}
	h.tolerator.refs++
	return h
}

// static writes the canonical form of s.
func (e *encoder) static(s *static) {
	e.amountsOf(s.need)
	e.int(int64(s.gpu.Count))
	e.int(s.gpu.Milli)
	e.strings(s.gpu.Models)
	e.bool(s.match != nil)
	if s.match != nil {
		e.string(s.match.key)
	}
	e.string(s.tolerator.key)
	e.int(int64(len(s.preferred)))
	for _, w := range s.preferred {
		e.int(w.weight)
		e.string(w.m.key)
	}
}

func (e *encoder) amountsOf(n *need) {
	e.int(n.request.cpu)
	e.int(n.request.memory)
	e.int(n.request.ephemeral)
	e.int(n.scored.MilliCPU)
	e.int(n.scored.Memory)
	e.int(int64(len(n.scalars)))
	for _, r := range n.scalars {
		e.int(int64(r.id))
		e.int(r.amount)
	}
	e.int(int64(len(n.ports)))
	for _, p := range n.ports {
		e.string(p.HostIP)
		e.string(string(p.Protocol))
		e.int(int64(p.Port))
	}
	e.int(int64(len(n.images)))
	for _, id := range n.images {
		e.int(int64(id))
	}
}
