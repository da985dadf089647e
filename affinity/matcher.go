package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// matcher selects pods: those that match all of its pod selectors. It is the selecting half of a term, shared by all
// terms that select the same; its counters and owners are the other half, one for each topology key.
//
// Whether a class matches is computed once, when the class or the matcher appears (or a namespace is relabelled), and
// kept as links in both directions.
type matcher struct {
	key   string
	terms []podSelector
	// live leaves terminating pods out, as topology spread does.
	live    bool
	refs    int
	classes []classLink
	// counters count the placed pods that match.
	counters []*counter
	// owners count the placed pods that have this as a term of their own.
	owners []*owners
}

// A pair of links ties a class to a matcher; each knows its index on the other side.
type classLink struct {
	class *class
	at    int
}

type matcherLink struct {
	matcher *matcher
	at      int
}

// labelPair is a label of pods.
type labelPair struct{ key, value string }

// matcher returns the matcher for terms, with a reference for the caller.
func (g *Graph) matcher(terms []podSelector, live bool) *matcher {
	e := &g.enc
	e.reset()
	e.bool(live)
	e.int(int64(len(terms)))
	for i := range terms {
		e.podSelector(&terms[i])
	}
	m, ok := g.matchers[string(e.buf)]
	if !ok {
		m = &matcher{key: string(e.buf), terms: terms, live: live}
		g.matchers[m.key] = m
		g.indexMatcher(m)
		g.linkMatcher(m)
	}
	m.refs++
	return m
}

func (g *Graph) releaseMatcher(m *matcher) {
	if m.refs--; m.refs > 0 {
		return
	}
	delete(g.matchers, m.key)
	g.unindexMatcher(m)
	for len(m.classes) > 0 {
		g.unlink(m, len(m.classes)-1)
	}
}

func (m *matcher) matches(g *Graph, c *class) bool {
	if m.live && c.spec.Terminating {
		return false
	}
	nsLabels := g.namespaces[c.spec.Namespace]
	for i := range m.terms {
		if !m.terms[i].matches(c.spec.Namespace, nsLabels, c.spec.Labels) {
			return false
		}
	}
	return true
}

// byNamespaceLabels reports whether relabelling a namespace can change what m matches.
func (m *matcher) byNamespaceLabels() bool {
	return slices.ContainsFunc(m.terms, func(t podSelector) bool { return t.nsSelector != nil })
}

// indexMatcher enters m where a new class looks for it: under each label that a match can have for the pivot of its
// selectors, or among those that every class must try.
func (g *Graph) indexMatcher(m *matcher) {
	if p := m.pivot(); p != nil {
		for _, v := range p.values {
			k := labelPair{p.key, v}
			g.matchersByLabel[k] = append(g.matchersByLabel[k], m)
		}
		return
	}
	g.matchersOfAll = append(g.matchersOfAll, m)
}

func (g *Graph) unindexMatcher(m *matcher) {
	drop := func(ms []*matcher) []*matcher {
		i := slices.Index(ms, m)
		last := len(ms) - 1
		ms[i], ms[last] = ms[last], nil
		return ms[:last]
	}
	p := m.pivot()
	if p == nil {
		g.matchersOfAll = drop(g.matchersOfAll)
		return
	}
	for _, v := range p.values {
		k := labelPair{p.key, v}
		if g.matchersByLabel[k] = drop(g.matchersByLabel[k]); len(g.matchersByLabel[k]) == 0 {
			delete(g.matchersByLabel, k)
		}
	}
}

// pivot returns the most selective In requirement of m, nil if it has none.
func (m *matcher) pivot() *requirement {
	var best *requirement
	for i := range m.terms {
		if p := m.terms[i].labels.pivot(); p != nil && (best == nil || len(p.values) < len(best.values)) {
			best = p
		}
	}
	return best
}

// linkMatcher links a new matcher to the classes that it matches.
func (g *Graph) linkMatcher(m *matcher) {
	p := m.pivot()
	if p == nil {
		for _, c := range g.classes {
			if c != nil && m.matches(g, c) {
				g.link(m, c)
			}
		}
		return
	}
	for _, v := range p.values {
		for _, c := range g.classesByLabel[labelPair{p.key, v}] {
			if m.matches(g, c) {
				g.link(m, c)
			}
		}
	}
}

// linkClass links a new class to the matchers that match it.
func (g *Graph) linkClass(c *class) {
	for k, v := range c.spec.Labels {
		for _, m := range g.matchersByLabel[labelPair{k, v}] {
			if m.matches(g, c) {
				g.link(m, c)
			}
		}
	}
	for _, m := range g.matchersOfAll {
		if m.matches(g, c) {
			g.link(m, c)
		}
	}
}

// link ties m and c, and counts the pods of c.
func (g *Graph) link(m *matcher, c *class) {
	m.classes = append(m.classes, classLink{c, len(c.matchers)})
	c.matchers = append(c.matchers, matcherLink{m, len(m.classes) - 1})
	g.recount(m, c, +1)
}

// unlink undoes link for m.classes[i].
func (g *Graph) unlink(m *matcher, i int) {
	c, j := m.classes[i].class, m.classes[i].at
	g.recount(m, c, -1)
	last := len(m.classes) - 1
	m.classes[i] = m.classes[last]
	m.classes[i].class.matchers[m.classes[i].at].at = i
	m.classes[last] = classLink{}
	m.classes = m.classes[:last]

	end := len(c.matchers) - 1
	c.matchers[j] = c.matchers[end]
	if j < end {
		moved := c.matchers[j]
		moved.matcher.classes[moved.at].at = j
	}
	c.matchers[end] = matcherLink{}
	c.matchers = c.matchers[:end]
}

func (g *Graph) recount(m *matcher, c *class, by int32) {
	if len(m.owners) > 0 {
		c.version++
	}
	for _, ctr := range m.counters {
		for _, p := range c.pods {
			ctr.add(g, g.pods[p].node, by)
		}
	}
}

// rematch brings the links of the classes of a namespace up to date after a change of its labels.
func (g *Graph) rematch(namespace string) {
	for _, c := range g.classes {
		if c == nil || c.spec.Namespace != namespace {
			continue
		}
		for _, m := range g.byNamespace() {
			i := slices.IndexFunc(c.matchers, func(l matcherLink) bool { return l.matcher == m })
			switch matches := m.matches(g, c); {
			case matches && i < 0:
				g.link(m, c)
			case !matches && i >= 0:
				g.unlink(m, c.matchers[i].at)
			}
		}
	}
}

// byNamespace returns the matchers that look at namespace labels, in the order of their keys.
func (g *Graph) byNamespace() []*matcher {
	var ms []*matcher
	for _, m := range g.matchers {
		if m.byNamespaceLabels() {
			ms = append(ms, m)
		}
	}
	slices.SortFunc(ms, func(a, b *matcher) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return ms
}

// owners count, for one matcher and one key, the placed pods by domain that have the matcher as a term of their own:
// what they demand of, or wish for, the pods that it matches.
type owners struct {
	m    *matcher
	key  topology.KeyID
	refs int
	// anti counts required anti-affinity terms, hard required affinity terms; soft is the sum of the weights of preferred
	// terms, negative for anti-affinity.
	anti, hard, soft counts
	// antiPods is the sum of anti.
	antiPods int
}

func (g *Graph) acquireOwners(m *matcher, key topology.KeyID) *owners {
	for _, o := range m.owners {
		if o.key == key {
			o.refs++
			return o
		}
	}
	o := &owners{m: m, key: key, refs: 1}
	m.owners = append(m.owners, o)
	g.keepKey(key)
	for _, l := range m.classes {
		l.class.version++
	}
	return o
}

func (g *Graph) releaseOwners(o *owners) {
	if o.refs--; o.refs > 0 {
		return
	}
	o.m.owners = slices.DeleteFunc(o.m.owners, func(p *owners) bool { return p == o })
	g.dropKey(o.key)
	for _, l := range o.m.classes {
		l.class.version++
	}
}
