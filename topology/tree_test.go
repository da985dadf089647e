package topology

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowCommon compares the values of two nodes, level by level.
func slowCommon(x *Index, a, b NodeID, levels []string) int {
	for i, name := range levels {
		k := x.Key(name)
		if v := x.Value(a, k); v == NoValue || v != x.Value(b, k) {
			return i - 1
		}
	}
	return len(levels) - 1
}

func TestTreeEqualsComparisonOfLabels(t *testing.T) {
	levels := []string{"region", "zone", "rack", "host"}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var x Index
		complete := NodeSet{}
		for i := range 30 {
			labels := map[string]string{}
			for d, name := range levels {
				if rng.IntN(8) > 0 {
					labels[name] = fmt.Sprint(rng.IntN(2 + d)) // a rack's name occurs in several zones
				}
			}
			n, err := x.Add(fmt.Sprint(i), labels)
			if err != nil {
				t.Fatal(err)
			}
			complete.Set(n, len(labels) == len(levels))
		}
		x.Remove(7)
		tree, err := NewTree(&x, levels...)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Levels() != len(levels) {
			t.Errorf("%d levels", tree.Levels())
		}
		for a := range x.Live().All() {
			for b := range x.Live().All() {
				checkCommon(t, &x, tree, a, b, levels)
			}
		}
		for a := range complete.All() {
			for b := range complete.All() {
				for c := range complete.All() {
					if tree.Distance(a, c) > max(tree.Distance(a, b), tree.Distance(b, c)) {
						t.Fatalf("%d, %d, %d: not an ultrametric", a, b, c)
					}
				}
			}
		}
	}
}

func checkCommon(t *testing.T, x *Index, tree *Tree, a, b NodeID, levels []string) {
	t.Helper()
	want := slowCommon(x, a, b, levels)
	d, level := tree.Common(a, b)
	if level != want {
		t.Fatalf("nodes %d and %d share level %d, want %d", a, b, level, want)
	}
	if level >= 0 && (x.KeyName(d.Key) != levels[level] || x.Value(a, d.Key) != d.Value) {
		t.Fatalf("nodes %d and %d share domain %v", a, b, d)
	}
	distance := len(levels) - 1 - want
	if a == b {
		distance = 0
	}
	if got := tree.Distance(a, b); got != distance || tree.Distance(b, a) != got {
		t.Fatalf("distance of %d and %d is %d, want %d", a, b, got, distance)
	}
}

func TestTreeRefusesBadLevels(t *testing.T) {
	for name, levels := range map[string][]string{"level 1": {"zone", "zone"}, "level 0": {"", "zone"}} {
		if _, err := NewTree(&Index{}, levels...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v does not name %s", levels, err, name)
		}
	}
}

func TestTreeWithoutLevels(t *testing.T) {
	var x Index
	x.Add("a", nil)
	x.Add("b", nil)
	tree, err := NewTree(&x)
	if err != nil {
		t.Fatal(err)
	}
	if _, level := tree.Common(0, 1); level != -1 || tree.Distance(0, 1) != 0 {
		t.Errorf("level %d, distance %d", level, tree.Distance(0, 1))
	}
}
