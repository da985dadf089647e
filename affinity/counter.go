package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// perNode stands for a key whose domains are the single nodes, whatever their labels: soft spread by hostname counts
// like that (plugins/podtopologyspread/scoring.go).
const perNode topology.KeyID = -1

// counter counts the placed pods that a matcher matches, by domain of a key, on eligible nodes.
type counter struct {
	m   *matcher
	key topology.KeyID
	// eligible nodes count; nil means all.
	eligible *eligibility
	// missing is the domain of nodes without the key, NoValue if they don't count.
	missing topology.ValueID
	// stats are kept for hard spread constraints.
	stats  *domainStats
	counts counts
	// total is the sum of counts.
	total int
	refs  int
}

// counterSpec says which counter is meant; the matcher goes beside it.
type counterSpec struct {
	key      topology.KeyID
	eligible *eligibility
	missing  topology.ValueID
	stats    bool
}

// acquireCounter returns the counter of m for spec, with a reference for the caller. It takes over the caller's references
// to m and to the eligibility. O(pods of the matching classes) if it is new.
func (g *Graph) acquireCounter(m *matcher, spec counterSpec) *counter {
	for _, c := range m.counters {
		if c.key == spec.key && c.eligible == spec.eligible && c.missing == spec.missing && (c.stats != nil) == spec.stats {
			c.refs++
			g.releaseMatcher(m)
			g.releaseEligibility(spec.eligible)
			return c
		}
	}
	c := &counter{m: m, key: spec.key, eligible: spec.eligible, missing: spec.missing, refs: 1}
	if c.key != perNode {
		g.keepKey(c.key)
	}
	if spec.stats {
		c.stats = g.acquireDomains(c)
	}
	m.counters = append(m.counters, c)
	for _, l := range m.classes {
		for _, p := range l.class.pods {
			c.add(g, g.pods[p].node, +1)
		}
	}
	return c
}

func (g *Graph) releaseCounter(c *counter) {
	if c.refs--; c.refs > 0 {
		return
	}
	c.m.counters = slices.DeleteFunc(c.m.counters, func(o *counter) bool { return o == c })
	if c.stats != nil {
		g.releaseDomains(c)
	}
	if c.key != perNode {
		g.dropKey(c.key)
	}
	g.releaseEligibility(c.eligible)
	g.releaseMatcher(c.m)
}

// eligibility is the set of the nodes that count for a spread constraint: they carry all of its keys and pass its
// policies. It is shared by all constraints with the same.
type eligibility struct {
	key  string
	refs int
	keys []topology.KeyID
	// match is the pod's node selection if it is honoured, tolerator its tolerations likewise; nil if not.
	match     *nodeMatcher
	tolerator *tolerator
	set       topology.NodeSet
}

// acquireEligibility returns the eligibility, nil if it is every node. It takes over the caller's references.
func (g *Graph) acquireEligibility(keys []topology.KeyID, match *nodeMatcher, tol *tolerator) *eligibility {
	if len(keys) == 0 && match == nil && tol == nil {
		return nil
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	e := &g.enc
	e.reset()
	e.int(int64(len(keys)))
	for _, k := range keys {
		e.int(int64(k))
	}
	e.bool(match != nil)
	if match != nil {
		e.string(match.key)
	}
	e.bool(tol != nil)
	if tol != nil {
		e.string(tol.key)
	}
	l, ok := g.eligibilities[string(e.buf)]
	if ok {
		g.releaseNodeMatcher(match)
		g.releaseTolerator(tol)
	} else {
		l = &eligibility{key: string(e.buf), keys: keys, match: match, tolerator: tol}
		g.eligibilities[l.key] = l
		for n := range g.x.Live().All() {
			l.set.Set(n, l.matches(g, n))
		}
	}
	l.refs++
	return l
}

func (g *Graph) releaseEligibility(l *eligibility) {
	if l == nil {
		return
	}
	if l.refs--; l.refs > 0 {
		return
	}
	delete(g.eligibilities, l.key)
	g.releaseNodeMatcher(l.match)
	g.releaseTolerator(l.tolerator)
}

func (l *eligibility) matches(g *Graph, n topology.NodeID) bool {
	for _, k := range l.keys {
		if g.x.Value(n, k) == topology.NoValue {
			return false
		}
	}
	if l.match != nil && !l.match.set.Has(n) {
		return false
	}
	return l.tolerator == nil || !l.tolerator.of(g, g.nodes[n].taints).refused
}
