package berth

import "strconv"

// Parses reports whether kube-scheduler can read the term: operators are known, values suit them, keys and values have the
// syntax of labels, and the values of Gt and Lt are integers of 64 bits (component-helpers, scheduling/corev1/nodeaffinity).
// A required term that does not parse matches no node, not even through NotIn or DoesNotExist, and leaves the other terms
// as they are. A term without requirements parses, and matches no node either.
func (t *NodeSelectorTerm) Parses() bool {
	var v validator
	v.nodeSelectorTerm(&fieldPath{}, t, hard)
	return v.listed[hard] == 0
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

// requirement checks one requirement. The severity is that of a requirement that does not parse.
func (v *validator) requirement(p *fieldPath, r *Requirement, g grammar, unparsed severity) {
	key, operator, values := p.field("key"), p.field("operator"), p.field("values")
	if g != ofNodeFields {
		v.labelKey(&key, r.Key, unparsed)
	} else if r.Key != FieldName {
		v.add(soft, &key, r.Key, "should be "+FieldName+"; nodes have no other field, and it is compared as if it were empty")
	}
	least, most, known := g.arity(r.Operator)
	switch n := len(r.Values); {
	case !known:
		v.add(unparsed, &operator, string(r.Operator), "must be "+g.operators())
	case n < least:
		v.add(unparsed, &values, "", "must not be empty with operator "+string(r.Operator))
	case n > most && most == 0:
		v.add(unparsed, &values, cutList(r.Values), "must be empty with operator "+string(r.Operator))
	case n > most && most == 1:
		v.add(unparsed, &values, cutList(r.Values), "must be one value with operator "+string(r.Operator))
	}
	if g == ofNodeFields || !v.within(&values, len(r.Values), MaxItems) {
		return
	}
	for i, value := range r.Values {
		e := values.at(i)
		v.labelValue(&e, value, unparsed)
		if known && (r.Operator == Gt || r.Operator == Lt) {
			v.integer(&e, value, unparsed)
		}
	}
}

// integer comes after labelValue, which bounds what the error of strconv holds on to.
func (v *validator) integer(p *fieldPath, value string, unparsed severity) {
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		v.add(unparsed, p, value, "must be an integer of 64 bits")
	}
}

func (v *validator) requirements(parent *fieldPath, field string, rs []Requirement, g grammar, unparsed severity) {
	p := parent.field(field)
	if !v.within(&p, len(rs), MaxItems) {
		return
	}
	for i := range rs {
		e := p.at(i)
		v.requirement(&e, &rs[i], g, unparsed)
	}
}

func (v *validator) selector(parent *fieldPath, field string, s *LabelSelector, unparsed severity) {
	if s == nil {
		return
	}
	p := parent.field(field)
	v.labels(&p, "matchLabels", s.MatchLabels, unparsed)
	v.requirements(&p, "matchExpressions", s.MatchExpressions, ofLabels, unparsed)
}

func (v *validator) nodeSelectorTerm(p *fieldPath, t *NodeSelectorTerm, unparsed severity) {
	v.requirements(p, "matchExpressions", t.MatchExpressions, ofNodeLabels, unparsed)
	v.requirements(p, "matchFields", t.MatchFields, ofNodeFields, unparsed)
}

func (t *NodeSelectorTerm) empty() bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 }
