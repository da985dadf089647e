package berth

import "strings"

// The syntax of labels (k8s.io/apimachinery, pkg/api/validate/content/kube.go and dns.go), scanned by hand because the
// cache checks every label of every object that comes in. Each function returns what is wrong, or "".

const (
	maxLabelPart   = 63
	maxLabelPrefix = 253
)

// labelKeyFault checks a key: a name of at most 63 characters, or a DNS subdomain, a slash and such a name.
func labelKeyFault(key string) string {
	name := key
	if prefix, rest, found := strings.Cut(key, "/"); found {
		name = rest
		if len(prefix) > maxLabelPrefix || !isSubdomain(prefix) {
			return "the part before the slash must be a DNS subdomain of lower-case letters, digits, '-' and '.', at most 253 of them"
		}
	}
	if name == "" {
		return "must not be empty"
	}
	if len(name) > maxLabelPart {
		return "the name must have at most 63 characters"
	}
	if !isLabelPart(name) {
		return "the name must consist of letters, digits, '-', '_' and '.', and start and end with a letter or digit"
	}
	return ""
}

// labelValueFault checks a value, which may be empty.
func labelValueFault(value string) string {
	if value == "" {
		return ""
	}
	if len(value) > maxLabelPart {
		return "must have at most 63 characters"
	}
	if !isLabelPart(value) {
		return "must consist of letters, digits, '-', '_' and '.', and start and end with a letter or digit"
	}
	return ""
}

func isLabelPart(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z':
		case c != '-' && c != '_' && c != '.', i == 0, i == len(s)-1:
			return false
		}
	}
	return s != ""
}

func isSubdomain(s string) bool {
	edge := true // at the start of a label, where only a letter or digit may stand
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c) || isDigit(c):
			edge = false
		case edge:
			return false
		case c == '.':
			if s[i-1] == '-' {
				return false
			}
			edge = true
		case c != '-':
			return false
		}
	}
	return !edge && s[len(s)-1] != '-'
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
