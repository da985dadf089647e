package berth

import (
	"regexp"
	"strings"
	"testing"
)

// The syntax as Kubernetes documents it, in regular expressions: the slow reference of the scanners.
var (
	labelPart = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func referenceLabelKey(key string) bool {
	parts := strings.Split(key, "/")
	name := parts[len(parts)-1]
	switch len(parts) {
	case 1:
	case 2:
		if len(parts[0]) > 253 || !subdomain.MatchString(parts[0]) {
			return false
		}
	default:
		return false
	}
	return len(name) <= 63 && labelPart.MatchString(name)
}

func referenceLabelValue(value string) bool {
	return value == "" || len(value) <= 63 && labelPart.MatchString(value)
}

func checkLabelSyntax(t *testing.T, s string) {
	t.Helper()
	if got, want := labelKeyFault(s), referenceLabelKey(s); (got == "") != want {
		t.Errorf("key %q: fault %q, want valid %v", s, got, want)
	}
	if got, want := labelValueFault(s), referenceLabelValue(s); (got == "") != want {
		t.Errorf("value %q: fault %q, want valid %v", s, got, want)
	}
}

// TestLabelSyntax tries every text of up to five of the characters that matter, and the lengths at the limits.
func TestLabelSyntax(t *testing.T) {
	const alphabet = "aZ0-._/ é"
	var try func(s string)
	try = func(s string) {
		checkLabelSyntax(t, s)
		if len(s) < 5 {
			for i := range len(alphabet) {
				try(s + alphabet[i:i+1])
			}
		}
	}
	try("")
	for _, n := range []int{62, 63, 64, 252, 253, 254} {
		long := strings.Repeat("a", n)
		checkLabelSyntax(t, long)
		checkLabelSyntax(t, "example.com/"+long)
		checkLabelSyntax(t, long+"/name")
		checkLabelSyntax(t, long+"\n")
	}
}

func FuzzLabelSyntax(f *testing.F) {
	for _, s := range []string{"", "app", "app.kubernetes.io/name", "a..b/c", "-a", "a/b/c", "Ab/c", "a.-b/c", "v1.2_3-x"} {
		f.Add(s)
	}
	f.Fuzz(checkLabelSyntax)
}
