package numa

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCompileRefusesMachinesThatContradictThemselves(t *testing.T) {
	cpu := func(id, core, pkg, node int) CPU { return CPU{ID: id, Core: core, Package: pkg, Node: node} }
	for text, m := range map[string]*Machine{
		"Nodes[0].ID = 1024":          {Nodes: []Node{{ID: 1024}}},
		"Nodes[1].ID = 3 is used":     {Nodes: []Node{{ID: 3}, {ID: 3}}},
		"negative size":               {Nodes: []Node{{ID: 3, Memory: []Memory{{Bytes: -1}}}}},
		"Distances[0][0] = -5":        {Nodes: []Node{{ID: 0}}, Distances: [][]int{{-5}}},
		"CPUs[0].ID = -1":             {CPUs: []CPU{cpu(-1, 0, 0, 0)}},
		"CPUs[0].Node = 7":            {Nodes: []Node{{ID: 0}}, CPUs: []CPU{cpu(0, 0, 0, 7)}},
		"CPU id 4 is used twice":      {CPUs: []CPU{cpu(4, 0, 0, 0), cpu(4, 1, 0, 0)}},
		"core 0 lies in two packages": {CPUs: []CPU{cpu(0, 0, 0, 0), cpu(1, 0, 1, 0)}},
		"Devices[0].Name is empty":    {Devices: []Device{{}}},
		`Devices[1].Name = "a"`:       {Devices: []Device{{Name: "a"}, {Name: "a"}}},
		"Links[0] joins":              {Devices: []Device{{Name: "a"}}, Links: []Link{{A: 0, B: 1}}},
	} {
		if _, err := Compile(m); !errors.Is(err, ErrMachine) || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
	}
}

func TestUnknownDistancesReadAsLinuxAssumesThem(t *testing.T) {
	l := mustCompile(&Machine{Nodes: []Node{{ID: 8}, {ID: 0}}, Distances: [][]int{{0, 40}}})
	if l.Distance(8, 8) != 10 || l.Distance(8, 0) != 40 || l.Distance(0, 8) != 20 || l.Distance(0, 5) != 0 {
		t.Errorf("distances %v", l.dist)
	}
	if got := l.MeanDistance(MaskOf(0, 8)); got != 20 {
		t.Errorf("mean %v, want 20", got)
	}
}

func TestListsAndMasksReadAsTheKernelWritesThem(t *testing.T) {
	for text, want := range map[string]string{"": "", "0-3,8": "0-3,8", " 5 \n": "5", "1,0": "0-1", "7-7": "7"} {
		if s, err := ParseCPUs(text); err != nil || s.String() != want {
			t.Errorf("list %q: %v %v", text, s, err)
		}
	}
	for text, want := range map[string]string{"f": "0-3", "00000001,00000000": "32", "0x3,,0x1": "0,64-65", "ffffffffffffffff": "0-63"} {
		if s, err := ParseCPUMask(text); err != nil || s.String() != want {
			t.Errorf("mask %q: %v %v", text, s, err)
		}
	}
	for _, text := range []string{"a", "3-1", "-1", "0-99999999", "1,,2", "4294967296"} {
		if _, err := ParseCPUs(text); !errors.Is(err, ErrSyntax) {
			t.Errorf("list %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "g", "1,100000000", "0x", "0xf...f"} {
		if _, err := ParseCPUMask(text); !errors.Is(err, ErrSyntax) {
			t.Errorf("mask %q: %v", text, err)
		}
	}
	if _, err := ParseNodes("1024"); !errors.Is(err, ErrSyntax) {
		t.Errorf("node 1024: %v", err)
	}
}

func TestSetAlgebra(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for range 500 {
		var a, b CPUSet
		inA, inB := map[int]bool{}, map[int]bool{}
		for range rng.IntN(20) {
			i, j := rng.IntN(200), rng.IntN(200)
			a.Add(i)
			inA[i] = true
			b.Add(j)
			inB[j] = true
		}
		or, and, minus := a.Or(b), a.And(b), a.Minus(b)
		for i := range 200 {
			if a.Has(i) != inA[i] || or.Has(i) != (inA[i] || inB[i]) || and.Has(i) != (inA[i] && inB[i]) || minus.Has(i) != (inA[i] && !inB[i]) {
				t.Fatalf("element %d of %v and %v", i, a, b)
			}
		}
		if a.Len() != len(inA) || a.Contains(b) != minusEmpty(b, a) || a.Intersects(b) == and.IsEmpty() || !or.Minus(b).Or(and).Equal(a) {
			t.Fatalf("%v and %v", a, b)
		}
		if back, err := ParseCPUs(a.String()); err != nil || !back.Equal(a) {
			t.Fatalf("%v reads back as %v, %v", a, back, err)
		}
	}
}

func minusEmpty(a, b CPUSet) bool { return a.Minus(b).IsEmpty() }

func TestCoresOfDifferentSizesAreHandedOutWhole(t *testing.T) {
	// Two P cores of two threads and three E cores of one (kubernetes#140495).
	m := &Machine{CPUs: []CPU{{ID: 0, Core: 0}, {ID: 1, Core: 0}, {ID: 2, Core: 2}, {ID: 3, Core: 2}, {ID: 4, Core: 4}, {ID: 5, Core: 5}, {ID: 6, Core: 6}}}
	l := mustCompile(m)
	all := l.CPUs(l.Nodes())
	whole := CPUOptions{FullCores: true}
	for n, want := range map[int]string{1: "4", 2: "0-1", 3: "0-1,4", 4: "0-3", 5: "0-4", 7: "0-6"} {
		if got, err := l.TakeCPUs(all, n, whole); err != nil || got.String() != want {
			t.Errorf("%d CPUs: %v %v, want %s", n, got, err, want)
		}
	}
	// Half a P core is no use to a pod that asked for whole ones.
	if got, err := l.TakeCPUs(CPUs(1, 2, 3), 3, whole); !errors.Is(err, ErrNotEnough) {
		t.Errorf("got %v %v", got, err)
	}
	// With thread 0 taken, the kubelet would hand out 0 and 1 as a free core.
	free := CPUs(1, 2, 3, 4, 5, 6)
	got, err := l.TakeCPUs(free, 2, CPUOptions{})
	if err != nil || !free.Contains(got) || got.Len() != 2 {
		t.Errorf("got %v %v", got, err)
	}
	twice, err := l.TakeCPUs(free, 2, CPUOptions{Compatible: true})
	if err != nil || free.Contains(twice) {
		t.Errorf("compatible: got %v %v, the fault is gone", twice, err)
	}
}

func TestABudgetThatRunsOutIsReported(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	l := mustCompile(altix())
	cut := 0
	for range 20 {
		r, err := l.Merge(MergeConfig{Policy: PolicyBestEffort, PreferClosest: true, Budget: 30}, busyResources(rng, l, 4, 8))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Exact {
			cut++
		}
	}
	if cut == 0 {
		t.Error("thirty steps were enough for everything")
	}
}
