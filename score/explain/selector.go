package explain

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth"
)

// selectorText writes a selector as kubectl does: "app=web,tier in (a,b)". One that selects everything is "<all>", nil,
// which selects nothing, "<none>".
func selectorText(s *berth.LabelSelector) string {
	if s == nil {
		return "<none>"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		parts = append(parts, k+"="+s.MatchLabels[k])
	}
	for i := range s.MatchExpressions {
		parts = append(parts, requirementText(&s.MatchExpressions[i]))
	}
	if len(parts) == 0 {
		return "<all>"
	}
	return strings.Join(parts, ",")
}

func requirementText(r *berth.Requirement) string {
	switch {
	case r.Operator == berth.In && len(r.Values) == 1:
		return r.Key + "=" + r.Values[0]
	case r.Operator == berth.NotIn && len(r.Values) == 1:
		return r.Key + "!=" + r.Values[0]
	case r.Operator == berth.In:
		return r.Key + " in (" + strings.Join(r.Values, ",") + ")"
	case r.Operator == berth.NotIn:
		return r.Key + " notin (" + strings.Join(r.Values, ",") + ")"
	case r.Operator == berth.Exists:
		return r.Key
	case r.Operator == berth.DoesNotExist:
		return "!" + r.Key
	case r.Operator == berth.Gt:
		return r.Key + ">" + strings.Join(r.Values, ",")
	case r.Operator == berth.Lt:
		return r.Key + "<" + strings.Join(r.Values, ",")
	}
	return r.Key + " " + string(r.Operator) + " " + strings.Join(r.Values, ",")
}

// meets reports whether a label, or its absence, meets a requirement.
func meets(r *berth.Requirement, value string, present bool) bool {
	switch r.Operator {
	case berth.In:
		return present && slices.Contains(r.Values, value)
	case berth.NotIn:
		return !present || !slices.Contains(r.Values, value)
	case berth.Exists:
		return present
	case berth.DoesNotExist:
		return !present
	}
	have, err := strconv.ParseInt(value, 10, 64)
	if !present || err != nil || len(r.Values) != 1 {
		return false
	}
	bound, err := strconv.ParseInt(r.Values[0], 10, 64)
	return err == nil && (r.Operator == berth.Gt && have > bound || r.Operator == berth.Lt && have < bound)
}

// assign finds a label, or its absence (present is false), that meets all requirements on one key.
func assign(rs []berth.Requirement) (value string, present, ok bool) {
	fits := func(v string, present bool) bool {
		return !slices.ContainsFunc(rs, func(r berth.Requirement) bool { return !meets(&r, v, present) })
	}
	if fits("", false) {
		return "", false, true
	}
	candidates := []string{"true", "other"}
	for i := range rs {
		switch r := &rs[i]; r.Operator {
		case berth.In:
			candidates = append(candidates, r.Values...)
		case berth.Gt, berth.Lt:
			step := int64(1)
			if r.Operator == berth.Lt {
				step = -1
			}
			if bound, err := strconv.ParseInt(r.Values[0], 10, 64); err == nil && bound+step >= 0 {
				candidates = append(candidates, strconv.FormatInt(bound+step, 10))
			}
		}
	}
	for _, v := range candidates {
		if fits(v, true) {
			return v, true, true
		}
	}
	return "", false, false
}

// solve finds labels that all selectors select.
func solve(selectors []*berth.LabelSelector) (labels map[string]string, ok bool) {
	byKey := make(map[string][]berth.Requirement)
	for _, s := range selectors {
		if s == nil {
			return nil, false
		}
		for k, v := range s.MatchLabels {
			byKey[k] = append(byKey[k], berth.Requirement{Key: k, Operator: berth.In, Values: []string{v}})
		}
		for _, r := range s.MatchExpressions {
			byKey[r.Key] = append(byKey[r.Key], r)
		}
	}
	labels = make(map[string]string)
	for k, rs := range byKey {
		v, present, ok := assign(rs)
		if !ok {
			return nil, false
		}
		if present {
			labels[k] = v
		}
	}
	return labels, true
}
