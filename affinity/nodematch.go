package affinity

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// nodeMatcher is a compiled selection of nodes by name and labels, shared by all classes with the same spec, and the
// set of the nodes that it selects, kept up to date as nodes change.
// Source: component-helpers/scheduling/corev1/nodeaffinity.
type nodeMatcher struct {
	key  string
	refs int
	// all must hold (a pod's nodeSelector), and one of terms if anyOf.
	all   []nodeRequirement
	anyOf bool
	terms []nodeTerm
	set   topology.NodeSet
	// pinned: every term names nodes, and only those in names, sorted, are looked at at all.
	pinned bool
	names  []string
}

type nodeTerm struct {
	labels []nodeRequirement
	fields []fieldRequirement
}

// nodeRequirement is a requirement on a node label. Its values are held in the index (Acquire), so that they have an id
// even before a node carries them.
type nodeRequirement struct {
	key    topology.KeyID
	op     berth.Operator
	values []topology.ValueID // of In and NotIn, sorted
	bound  int64              // of Gt and Lt
}

// fieldRequirement is a requirement on metadata.name; a field that is not known is empty on every node.
type fieldRequirement struct {
	known bool
	value string
	equal bool
}

// compileRequired compiles node selector and required node affinity of p, or returns nil if they accept every node.
func (g *Graph) compileRequired(p *berth.Pod) *nodeMatcher {
	var required *berth.NodeSelector
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil {
		required = p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(p.NodeSelector) == 0 && required == nil {
		return nil
	}
	g.enc.reset()
	g.enc.nodeMatch(p)
	return g.nodeMatcher(func(m *nodeMatcher) {
		for _, k := range sortedKeys(&g.enc, p.NodeSelector) {
			d := g.x.Acquire(g.x.Key(k), p.NodeSelector[k])
			m.all = append(m.all, nodeRequirement{key: d.Key, op: berth.In, values: []topology.ValueID{d.Value}})
		}
		if required == nil {
			return
		}
		m.anyOf = true
		m.names, m.pinned = pinnedNames(required)
		for i := range required.NodeSelectorTerms {
			if t, ok := g.compileNodeTerm(&required.NodeSelectorTerms[i]); ok {
				m.terms = append(m.terms, t)
			}
		}
	})
}

// pinnedNames returns the names that the terms allow, if each of them allows certain names only
// (plugins/nodeaffinity/node_affinity.go, PreFilter).
func pinnedNames(s *berth.NodeSelector) (names []string, pinned bool) {
	for i := range s.NodeSelectorTerms {
		var of []string
		named := false
		for _, r := range s.NodeSelectorTerms[i].MatchFields {
			if r.Key != berth.FieldName || r.Operator != berth.In {
				continue
			}
			if !named {
				of = slices.Clone(r.Values)
			} else {
				of = slices.DeleteFunc(of, func(n string) bool { return !slices.Contains(r.Values, n) })
			}
			named = true
		}
		if !named {
			return nil, false
		}
		names = append(names, of...)
	}
	slices.Sort(names)
	return slices.Compact(names), len(s.NodeSelectorTerms) > 0
}

// excludes reports whether the node of that name is not even looked at, by a matcher that is pinned.
func (m *nodeMatcher) excludes(name string) bool {
	_, ok := slices.BinarySearch(m.names, name)
	return !ok
}

// compilePreferred compiles one preferred term, or returns nil if it can be left out.
func (g *Graph) compilePreferred(t *berth.PreferredSchedulingTerm) *nodeMatcher {
	p := &t.Preference
	if t.Weight == 0 || len(p.MatchExpressions) == 0 && len(p.MatchFields) == 0 {
		return nil
	}
	g.enc.reset()
	g.enc.int(-1) // no node selector can begin like this
	g.enc.nodeTerm(p)
	return g.nodeMatcher(func(m *nodeMatcher) {
		m.anyOf = true
		if t, ok := g.compileNodeTerm(p); ok {
			m.terms = append(m.terms, t)
		}
	})
}

// nodeMatcher returns the matcher whose canonical form is in g.enc, made by compile if it is new.
func (g *Graph) nodeMatcher(compile func(*nodeMatcher)) *nodeMatcher {
	m, ok := g.nodeMatchers[string(g.enc.buf)]
	if !ok {
		m = &nodeMatcher{key: string(g.enc.buf)}
		compile(m)
		g.nodeMatchers[m.key] = m
		m.fill(&g.x)
	}
	m.refs++
	return m
}

func (g *Graph) releaseNodeMatcher(m *nodeMatcher) {
	if m == nil {
		return
	}
	if m.refs--; m.refs > 0 {
		return
	}
	delete(g.nodeMatchers, m.key)
	release := func(rs []nodeRequirement) {
		for _, r := range rs {
			for _, v := range r.values {
				g.x.Release(topology.Domain{Key: r.key, Value: v})
			}
		}
	}
	release(m.all)
	for _, t := range m.terms {
		release(t.labels)
	}
}

// compileNodeTerm reports false for a term that matches nothing: one without requirements, or one that does not parse,
// which kube-scheduler skips.
func (g *Graph) compileNodeTerm(t *berth.NodeSelectorTerm) (nodeTerm, bool) {
	var c nodeTerm
	if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 || !t.Parses() {
		return c, false
	}
	for i := range t.MatchExpressions {
		c.labels = append(c.labels, g.compileRequirement(&t.MatchExpressions[i]))
	}
	for _, r := range t.MatchFields {
		c.fields = append(c.fields, fieldRequirement{r.Key == berth.FieldName, r.Values[0], r.Operator == berth.In})
	}
	return c, true
}

func (g *Graph) compileRequirement(r *berth.Requirement) nodeRequirement {
	c := nodeRequirement{key: g.x.Key(r.Key), op: r.Operator}
	switch r.Operator {
	case berth.In, berth.NotIn:
		values := slices.Clone(r.Values)
		slices.Sort(values)
		for _, v := range slices.Compact(values) {
			c.values = append(c.values, g.x.Acquire(c.key, v).Value)
		}
		slices.SortFunc(c.values, func(a, b topology.ValueID) int { return cmp.Compare(a, b) })
	case berth.Gt, berth.Lt:
		c.bound, _ = strconv.ParseInt(r.Values[0], 10, 64) // it parses: see compileNodeTerm
	}
	return c
}

// matches reports whether node n is selected. O(requirements).
func (m *nodeMatcher) matches(x *topology.Index, n topology.NodeID) bool {
	for i := range m.all {
		if !m.all[i].matches(x, n) {
			return false
		}
	}
	if !m.anyOf {
		return true
	}
	return slices.ContainsFunc(m.terms, func(t nodeTerm) bool { return t.matches(x, n) })
}

func (t *nodeTerm) matches(x *topology.Index, n topology.NodeID) bool {
	for i := range t.labels {
		if !t.labels[i].matches(x, n) {
			return false
		}
	}
	for i := range t.fields {
		if !t.fields[i].matches(x.Name(n)) {
			return false
		}
	}
	return true
}

func (f *fieldRequirement) matches(name string) bool {
	if !f.known {
		name = ""
	}
	return (name == f.value) == f.equal
}

func (r *nodeRequirement) matches(x *topology.Index, n topology.NodeID) bool {
	v := x.Value(n, r.key)
	switch r.op {
	case berth.In:
		return v != topology.NoValue && r.has(v)
	case berth.NotIn:
		return v == topology.NoValue || !r.has(v)
	case berth.Exists:
		return v != topology.NoValue
	case berth.DoesNotExist:
		return v == topology.NoValue
	}
	return v != topology.NoValue && r.compare(x.ValueName(topology.Domain{Key: r.key, Value: v}))
}

// compare is Gt and Lt: a label that is not an integer does not match.
func (r *nodeRequirement) compare(label string) bool {
	i, err := strconv.ParseInt(label, 10, 64)
	if err != nil {
		return false
	}
	if r.op == berth.Gt {
		return i > r.bound
	}
	return i < r.bound
}

func (r *nodeRequirement) has(v topology.ValueID) bool {
	if len(r.values) == 1 {
		return r.values[0] == v
	}
	_, ok := slices.BinarySearch(r.values, v)
	return ok
}

// fill computes the set by posting lists: O(nodes/64) a requirement.
func (m *nodeMatcher) fill(x *topology.Index) {
	m.set.CopyFrom(x.Live())
	var scratch topology.NodeSet
	for i := range m.all {
		m.all[i].restrict(x, &m.set, &scratch)
	}
	if !m.anyOf {
		return
	}
	var union, one topology.NodeSet
	for i := range m.terms {
		t := &m.terms[i]
		one.CopyFrom(&m.set)
		for j := range t.labels {
			t.labels[j].restrict(x, &one, &scratch)
		}
		for _, f := range t.fields {
			f.restrict(x, &one)
		}
		union.Union(&one)
	}
	m.set = union
}

// restrict keeps the nodes of s that meet r.
func (r *nodeRequirement) restrict(x *topology.Index, s, scratch *topology.NodeSet) {
	scratch.Clear()
	switch r.op {
	case berth.In, berth.NotIn:
		for _, v := range r.values {
			x.Union(scratch, topology.Domain{Key: r.key, Value: v})
		}
	case berth.Exists, berth.DoesNotExist:
		x.UnionCarriers(scratch, r.key)
	default:
		for v := range topology.ValueID(x.ValueCap(r.key)) {
			if d := (topology.Domain{Key: r.key, Value: v}); x.Size(d) > 0 && r.compare(x.ValueName(d)) {
				x.Union(scratch, d)
			}
		}
	}
	if r.op == berth.NotIn || r.op == berth.DoesNotExist {
		s.Subtract(scratch)
	} else {
		s.Intersect(scratch)
	}
}

func (f *fieldRequirement) restrict(x *topology.Index, s *topology.NodeSet) {
	if !f.known {
		if !f.matches("") {
			s.Clear()
		}
		return
	}
	n, ok := x.Lookup(f.value)
	has := ok && s.Has(n)
	if f.equal {
		s.Clear()
	}
	if has {
		s.Set(n, f.equal)
	}
}
