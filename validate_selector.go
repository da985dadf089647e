package berth

import "strconv"

// Parses reports whether kube-scheduler can read the term: operators and values suit each other, keys and values have the
// syntax of labels, and the values of Gt and Lt are integers that fit into 64 bits. A required term that does not parse
// matches no node, not even through NotIn or DoesNotExist, and the other terms are unaffected; a preferred one is a hard
// fault, unless its weight is 0. A term without requirements parses, and matches no node either.
func (t *NodeSelectorTerm) Parses() bool {
	var v validator
	v.nodeSelectorTerm(&fieldPath{}, t, hard)
	return v.faults == nil
}

// grammar is which operators a requirement may use, and with how many values.
type grammar uint8

const (
	ofLabels     grammar = iota // label selectors of pods and namespaces
	ofNodeLabels                // matchExpressions of nodes
	ofNodeFields                // matchFields of nodes
)

// arity returns the least and the largest number of values that the operator takes.
func (g grammar) arity(op Operator) (least, most int, known bool) {
	switch op {
	case In, NotIn:
		if g == ofNodeFields {
			return 1, 1, true
		}
		return 1, MaxItems, true
	case Exists, DoesNotExist:
		return 0, 0, g != ofNodeFields
	case Gt, Lt:
		return 1, 1, g == ofNodeLabels
	}
	return 0, 0, false
}

func (g grammar) operators() string {
	switch g {
	case ofLabels:
		return "In, NotIn, Exists or DoesNotExist"
	case ofNodeLabels:
		return "In, NotIn, Exists, DoesNotExist, Gt or Lt"
	default:
		return "In or NotIn"
	}
}

// requirement checks one requirement. Its form (the operator, and how many values go with it) is hard in any case: it is
// wrong whatever the cluster looks like, and the API server refuses it. The severity is that of what only a parser sees:
// the syntax of key and values.
func (v *validator) requirement(p *fieldPath, r *Requirement, g grammar, syntax severity) {
	key, values := p.field("key"), p.field("values")
	if g == ofNodeFields {
		if r.Key != FieldName {
			v.add(hard, &key, r.Key, "must be "+FieldName)
		}
	} else {
		v.labelKey(&key, r.Key, syntax)
	}
	least, most, known := g.arity(r.Operator)
	switch n := len(r.Values); {
	case !known:
		p := p.field("operator")
		v.add(hard, &p, string(r.Operator), "must be "+g.operators())
	case n < least:
		v.add(hard, &values, "", "must not be empty with operator "+string(r.Operator))
	case n > most && most < MaxItems:
		v.add(hard, &values, cutList(r.Values), "must have exactly "+strconv.Itoa(most)+" with operator "+string(r.Operator))
	}
	if g == ofNodeFields || !v.within(&values, len(r.Values), MaxItems) {
		return
	}
	for i, value := range r.Values {
		e := values.at(i)
		v.labelValue(&e, value, syntax)
		if known && (r.Operator == Gt || r.Operator == Lt) {
			v.integer(&e, value, syntax)
		}
	}
}

// integer comes after labelValue, which bounds what the error of strconv holds on to.
func (v *validator) integer(p *fieldPath, value string, syntax severity) {
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		v.add(syntax, p, value, "must be an integer of 64 bits")
	}
}

func (v *validator) requirements(parent *fieldPath, field string, rs []Requirement, g grammar, syntax severity) {
	p := parent.field(field)
	if !v.within(&p, len(rs), MaxItems) {
		return
	}
	for i := range rs {
		e := p.at(i)
		v.requirement(&e, &rs[i], g, syntax)
	}
}

func (v *validator) selector(parent *fieldPath, field string, s *LabelSelector, syntax severity) {
	if s == nil {
		return
	}
	p := parent.field(field)
	v.labels(&p, "matchLabels", s.MatchLabels, syntax)
	v.requirements(&p, "matchExpressions", s.MatchExpressions, ofLabels, syntax)
}

func (v *validator) nodeSelectorTerm(p *fieldPath, t *NodeSelectorTerm, syntax severity) {
	v.requirements(p, "matchExpressions", t.MatchExpressions, ofNodeLabels, syntax)
	v.requirements(p, "matchFields", t.MatchFields, ofNodeFields, syntax)
}

func (t *NodeSelectorTerm) empty() bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 }
