package affinity

import (
	"slices"

	"github.com/berth-go/berth"
)

// selector is a compiled label selector over labels in map form, for pods and namespaces. They are matched once for each
// pair of class and selector, so strings are compared as they are.
type selector struct {
	nothing bool
	reqs    []requirement
}

type requirement struct {
	key    string
	op     berth.Operator
	values []string // sorted
}

// compileSelector compiles s; nil matches nothing. The spec must be valid.
func compileSelector(s *berth.LabelSelector) selector {
	if s == nil {
		return selector{nothing: true}
	}
	var c selector
	for k, v := range s.MatchLabels {
		c.reqs = append(c.reqs, requirement{k, berth.In, []string{v}})
	}
	for _, r := range s.MatchExpressions {
		values := slices.Clone(r.Values)
		slices.Sort(values)
		c.reqs = append(c.reqs, requirement{r.Key, r.Operator, values})
	}
	slices.SortStableFunc(c.reqs, func(a, b requirement) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return 0
	})
	return c
}

// empty reports whether the selector has no requirement and so matches everything.
func (s *selector) empty() bool { return !s.nothing && len(s.reqs) == 0 }

func (s *selector) matches(labels map[string]string) bool {
	if s.nothing {
		return false
	}
	for i := range s.reqs {
		if !s.reqs[i].matches(labels) {
			return false
		}
	}
	return true
}

func (r *requirement) matches(labels map[string]string) bool {
	v, ok := labels[r.key]
	switch r.op {
	case berth.In:
		return ok && r.has(v)
	case berth.NotIn:
		return !ok || !r.has(v)
	case berth.Exists:
		return ok
	case berth.DoesNotExist:
		return !ok
	}
	return false
}

func (r *requirement) has(v string) bool {
	_, ok := slices.BinarySearch(r.values, v)
	return ok
}

// pivot returns an In requirement of the selector, the one with the fewest values: every match has one of its labels.
func (s *selector) pivot() *requirement {
	var best *requirement
	for i := range s.reqs {
		if r := &s.reqs[i]; r.op == berth.In && (best == nil || len(r.values) < len(best.values)) {
			best = r
		}
	}
	return best
}

// podSelector selects pods by namespace and labels: one pod affinity term, apart from its key.
type podSelector struct {
	namespaces []string // sorted
	nsSelector *selector
	// known: nsSelector selects among the namespaces that are known, unless it is empty. That is so for the terms of a pod
	// to be placed; those of placed pods take a namespace that is not known for one without labels
	// (plugins/interpodaffinity/plugin.go, mergeAffinityTermNamespacesIfNotEmpty).
	known  bool
	labels selector
}

// compileTerm compiles the selection of t, a term of a pod of namespace own that is placed or to be placed.
func compileTerm(t *berth.PodAffinityTerm, own string, placed bool) podSelector {
	c := podSelector{labels: compileSelector(t.LabelSelector), namespaces: slices.Clone(t.Namespaces)}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		c.namespaces = []string{own}
	}
	slices.Sort(c.namespaces)
	c.namespaces = slices.Compact(c.namespaces)
	if t.NamespaceSelector != nil {
		s := compileSelector(t.NamespaceSelector)
		c.nsSelector = &s
		c.known = !placed && !s.empty()
	}
	return c
}

// matches reports whether a pod of namespace ns with these labels is selected. nsLabels are nil if ns is not known.
func (c *podSelector) matches(ns string, nsLabels, labels map[string]string) bool {
	if _, ok := slices.BinarySearch(c.namespaces, ns); !ok {
		if c.nsSelector == nil || c.known && nsLabels == nil || !c.nsSelector.matches(nsLabels) {
			return false
		}
	}
	return c.labels.matches(labels)
}

func (e *encoder) compiled(s *selector) {
	e.bool(s.nothing)
	e.int(int64(len(s.reqs)))
	for i := range s.reqs {
		e.string(s.reqs[i].key)
		e.string(string(s.reqs[i].op))
		e.strings(s.reqs[i].values)
	}
}

func (e *encoder) podSelector(c *podSelector) {
	e.strings(c.namespaces)
	e.bool(c.nsSelector != nil)
	if c.nsSelector != nil {
		e.compiled(c.nsSelector)
	}
	e.bool(c.known)
	e.compiled(&c.labels)
}
