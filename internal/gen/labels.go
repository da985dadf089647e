package gen

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// label is a key with the values that it usually has.
type label struct {
	key    string
	values []string
}

// Keys whose values are numbers, or should be.
const coresKey = "cores"

// The vocabularies are functions so that no state is shared. Their order fixes the order of draws.
func nodeVocabulary() []label {
	return []label{
		{berth.LabelZone, []string{"z1", "z2", "z3"}},
		{berth.LabelRegion, []string{"r1", "r2"}},
		{"rack", []string{"k1", "k2", "k3", "k4", "k5"}},
		{"pool", []string{"blue", "green"}},
		{coresKey, []string{"4", "8", "16", "32"}},
	}
}

func podVocabulary() []label {
	return []label{
		{"app", []string{"a", "b", "c"}},
		{"tier", []string{"web", "db"}},
		{"rev", []string{"1", "2"}},
	}
}

func namespaceVocabulary() []label {
	return []label{
		{"team", []string{"red", "blue"}},
		{"env", []string{"prod", "dev"}},
	}
}

// Namespaces of pods. The last has no Namespace object.
func namespaceNames() []string { return []string{"default", "n1", "n2", "ghost"} }

// labels draws labels from a vocabulary.
func (g *Generator) labels(vocabulary []label) map[string]string {
	labels := map[string]string{}
	if g.chance(g.o.Faults.ManyLabels) {
		for i := range 10_000 {
			labels[fmt.Sprintf("key-%d", i)] = ""
		}
	}
	for _, l := range vocabulary {
		if !g.chance(g.o.MissingLabel) {
			labels[l.key] = g.value(l)
		}
	}
	return labels
}

func (g *Generator) value(l label) string {
	if !g.chance(g.o.AwkwardLabel) {
		return pick(g, l.values...)
	}
	if l.key != coresKey {
		return ""
	}
	return pick(g, "", "x", "1.5", "-4", "008", "9223372036854775807", "9223372036854775808")
}

// relabel returns a copy of labels in which one of the vocabulary's is set anew or dropped.
func (g *Generator) relabel(labels map[string]string, vocabulary []label) map[string]string {
	copied := make(map[string]string, len(labels)+1)
	for key, value := range labels {
		copied[key] = value
	}
	l := pick(g, vocabulary...)
	if g.chance(0.2) {
		delete(copied, l.key)
	} else {
		copied[l.key] = g.value(l)
	}
	return copied
}

// selector draws a label selector over a vocabulary. If own is not nil the selector may be made to select it.
func (g *Generator) selector(vocabulary []label, own map[string]string) *berth.LabelSelector {
	switch {
	case g.chance(g.o.NilSelector):
		return nil
	case g.chance(g.o.EmptySelector):
		return &berth.LabelSelector{}
	}
	s := g.nonEmptySelector(vocabulary, own)
	if g.chance(g.o.Faults.SelectorOperator) {
		s.MatchExpressions = append(s.MatchExpressions, pick(g,
			berth.Requirement{Key: "app", Operator: "Like", Values: []string{"a"}},
			berth.Requirement{Key: "app", Operator: berth.Gt, Values: []string{"1"}},
			berth.Requirement{Key: "app", Operator: berth.In},
			berth.Requirement{Key: "app", Operator: berth.Exists, Values: []string{"a"}}))
	}
	return s
}

func (g *Generator) nonEmptySelector(vocabulary []label, own map[string]string) *berth.LabelSelector {
	s := &berth.LabelSelector{}
	if len(own) > 0 && g.chance(g.o.SelfMatch) {
		s.MatchLabels = map[string]string{}
		for _, l := range vocabulary {
			if value, ok := own[l.key]; ok && (len(s.MatchLabels) == 0 || g.chance(0.3)) {
				s.MatchLabels[l.key] = value
			}
		}
	}
	if len(s.MatchLabels) == 0 || g.chance(0.2) {
		if g.chance(0.5) {
			l := pick(g, vocabulary...)
			s.MatchLabels = map[string]string{l.key: g.value(l)}
		} else {
			s.MatchExpressions = append(s.MatchExpressions, g.requirement(vocabulary, berth.In, berth.NotIn, berth.Exists, berth.DoesNotExist))
		}
	}
	if g.chance(0.15) {
		s.MatchExpressions = append(s.MatchExpressions, g.requirement(vocabulary, berth.NotIn, berth.Exists))
	}
	return s
}

// requirement draws a well-formed requirement with one of the operators.
func (g *Generator) requirement(vocabulary []label, operators ...berth.Operator) berth.Requirement {
	l := pick(g, vocabulary...)
	r := berth.Requirement{Key: l.key, Operator: pick(g, operators...)}
	switch r.Operator {
	case berth.In, berth.NotIn:
		for range g.between(1, 2) {
			// A value that a requirement names must be a valid label value, unlike the values that nodes happen to have.
			if v := g.value(l); v != "-4" && !slices.Contains(r.Values, v) {
				r.Values = append(r.Values, v)
			}
		}
		if len(r.Values) == 0 {
			r.Values = []string{l.values[0]}
		}
	case berth.Gt, berth.Lt:
		r.Key = coresKey
		r.Values = []string{pick(g, "0", "4", "8", "15", "9223372036854775806")}
	}
	return r
}
