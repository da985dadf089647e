package reference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth"
)

// meets reports whether labels meet one requirement (apimachinery/pkg/labels, Requirement.Matches).
func meets(labels map[string]string, r *berth.Requirement) bool {
	value, ok := labels[r.Key]
	switch r.Operator {
	case berth.In:
		return ok && slices.Contains(r.Values, value)
	case berth.NotIn:
		return !ok || !slices.Contains(r.Values, value)
	case berth.Exists:
		return ok
	case berth.DoesNotExist:
		return !ok
	case berth.Gt, berth.Lt:
		if !ok || len(r.Values) != 1 {
			return false
		}
		have, err1 := strconv.ParseInt(value, 10, 64)
		bound, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		return r.Operator == berth.Gt && have > bound || r.Operator == berth.Lt && have < bound
	}
	return false
}

// selects reports whether a label selector selects labels: nil never does, {} always.
func selects(s *berth.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, value := range s.MatchLabels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	for i := range s.MatchExpressions {
		if !meets(labels, &s.MatchExpressions[i]) {
			return false
		}
	}
	return true
}

// selectsAll reports whether s is {}.
func selectsAll(s *berth.LabelSelector) bool {
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// parses reports whether a requirement of a node selector term is well-formed (apimachinery/pkg/labels, NewRequirement).
// Values must be valid label values, so a negative bound of Gt or Lt is not.
func parses(r *berth.Requirement) bool {
	if !validLabelKey(r.Key) {
		return false
	}
	for _, v := range r.Values {
		if !validLabelValue(v) {
			return false
		}
	}
	switch r.Operator {
	case berth.In, berth.NotIn:
		return len(r.Values) > 0
	case berth.Exists, berth.DoesNotExist:
		return len(r.Values) == 0
	case berth.Gt, berth.Lt:
		if len(r.Values) != 1 {
			return false
		}
		_, err := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil
	}
	return false
}

const maxLabelLength = 63

func validLabelValue(v string) bool { return v == "" || validLabelName(v) }

// validLabelName: letters, digits, '-', '_', '.', with a letter or digit at both ends.
func validLabelName(s string) bool {
	if s == "" || len(s) > maxLabelLength {
		return false
	}
	for i := range len(s) {
		inner := i > 0 && i < len(s)-1
		if !isLower(s[i]) && !isUpper(s[i]) && !isDigit(s[i]) && !(inner && strings.IndexByte("-_.", s[i]) >= 0) {
			return false
		}
	}
	return true
}

// validLabelKey: a name with an optional DNS subdomain before a slash.
func validLabelKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		return validLabelName(key)
	}
	return validSubdomain(prefix) && validLabelName(name)
}

func validSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			inner := i > 0 && i < len(part)-1
			if !isLower(part[i]) && !isDigit(part[i]) && !(inner && part[i] == '-') {
				return false
			}
		}
	}
	return true
}

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
