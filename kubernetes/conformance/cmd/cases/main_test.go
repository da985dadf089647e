package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOutput(t *testing.T) {
	answers := kinds{
		"right": func(*casefile.Case) []string { return nil },
		"wrong": func(*casefile.Case) []string { return []string{"expect[0] p: feasible: expected [a], got []"} },
	}
	files := []string{
		write(t, "1.yaml", "{id: 1-right, kind: right, expect: [{pod: p}]}"),
		write(t, "2.yaml", "{id: 2-wrong, kind: wrong, question: Why, expect: [{pod: p}]}"),
		write(t, "3.yaml", "{id: 3-other, kind: other, expect: [{pod: p}]}"),
		write(t, "4.yaml", "{id: 4-broken, kind: right, expcet: []}"),
	}
	var out strings.Builder
	if failed := runFiles(&out, files, answers); failed != 2 {
		t.Errorf("%d failed", failed)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"ok   1-right", "FAIL 2-wrong: Why", "     expect[0] p: feasible: expected [a], got []", "skip 3-other (other)", "FAIL 4.yaml",
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i, lines[i], want[i])
		}
	}
	if last := lines[len(lines)-1]; last != "1 ok, 2 failed, 1 skipped" {
		t.Errorf("last line %q", last)
	}
}

// TestCases runs the files of testdata past everybody who can answer them.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, who := range []string{schedulers.Berth, schedulers.Reference, schedulers.Kube} {
		t.Run(who, func(t *testing.T) {
			answers, err := kindsOf(who)
			if err != nil {
				t.Fatal(err)
			}
			if who == schedulers.Reference {
				delete(answers, "perf") // loops over a thousand nodes and twenty thousand pods take it minutes
			}
			var out strings.Builder
			if failed := runFiles(&out, files, answers); failed > 0 {
				t.Errorf("%d failed\n%s", failed, out.String())
			}
		})
	}
}

func TestUnknownSchedulerIsAnError(t *testing.T) {
	if _, err := kindsOf("nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("error %v", err)
	}
}
