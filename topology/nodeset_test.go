package topology

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainSet is the obvious set.
type plainSet map[NodeID]bool

func (m plainSet) sorted() []NodeID { return slices.Sorted(maps.Keys(m)) }

// setPair is a NodeSet and what it should be.
type setPair struct {
	fast NodeSet
	slow plainSet
}

// apply does operation op with node n on both sides of a, with b as the operand of the algebra.
func (a *setPair) apply(op byte, n NodeID, b *setPair) {
	switch op % 10 {
	case 0, 1:
		a.fast.Add(n)
		a.slow[n] = true
	case 2:
		a.fast.Remove(n)
		delete(a.slow, n)
	case 3:
		a.fast.Set(n, n%2 == 0)
		if delete(a.slow, n); n%2 == 0 {
			a.slow[n] = true
		}
	case 4:
		a.fast.Union(&b.fast)
		maps.Copy(a.slow, b.slow)
	case 5:
		a.fast.Intersect(&b.fast)
		maps.DeleteFunc(a.slow, func(n NodeID, _ bool) bool { return !b.slow[n] })
	case 6:
		a.fast.Subtract(&b.fast)
		maps.DeleteFunc(a.slow, func(n NodeID, _ bool) bool { return b.slow[n] })
	case 7:
		a.fast.CopyFrom(&b.fast)
		a.slow = maps.Clone(b.slow)
	case 8:
		if n%4 > 0 {
			a.fast.Fill(int(n))
			a.slow = plainSet{}
			for i := range n {
				a.slow[i] = true
			}
		} else {
			a.fast.Clear()
			a.slow = plainSet{}
		}
	case 9: // keep the multiples of 3, and offer all others
		a.fast.Retain(func(first NodeID, present uint64) uint64 {
			keep := ^present
			for i := range NodeID(64) {
				if (first+i)%3 == 0 {
					keep |= 1 << i
				}
			}
			return keep
		})
		maps.DeleteFunc(a.slow, func(n NodeID, _ bool) bool { return n%3 != 0 })
	}
}

// check compares every way to read the set.
func (a *setPair) check(t *testing.T, b *setPair) {
	t.Helper()
	want := a.slow.sorted()
	if got := slices.Collect(a.fast.All()); !slices.Equal(got, want) {
		t.Fatalf("All: %v, want %v", got, want)
	}
	if got := a.fast.AppendTo(nil); !slices.Equal(got, want) {
		t.Fatalf("AppendTo: %v, want %v", got, want)
	}
	if a.fast.Len() != len(want) || a.fast.Empty() != (len(want) == 0) {
		t.Fatalf("Len %d, Empty %v, want %d nodes", a.fast.Len(), a.fast.Empty(), len(want))
	}
	for n := range NodeID(260) {
		if a.fast.Has(n) != a.slow[n] {
			t.Fatalf("Has(%d) is %v", n, a.fast.Has(n))
		}
		next := None
		if i, _ := slices.BinarySearch(want, n); i < len(want) {
			next = want[i]
		}
		if got := a.fast.Next(n); got != next {
			t.Fatalf("Next(%d) is %d, want %d", n, got, next)
		}
	}
	if got, want := a.fast.Equal(&b.fast), maps.Equal(a.slow, b.slow); got != want || b.fast.Equal(&a.fast) != want {
		t.Fatalf("Equal is %v for %v and %v", got, a.slow.sorted(), b.slow.sorted())
	}
	subset := true
	for n := range a.slow {
		subset = subset && b.slow[n]
	}
	if got := a.fast.Subset(&b.fast); got != subset {
		t.Fatalf("Subset is %v for %v and %v", got, a.slow.sorted(), b.slow.sorted())
	}
	c := a.fast.Clone()
	if c.Add(300); !c.Has(300) || a.fast.Has(300) {
		t.Fatal("a clone is not a set of its own")
	}
}

func runSets(t *testing.T, program []byte) {
	sets := [2]setPair{{slow: plainSet{}}, {slow: plainSet{}}}
	for len(program) >= 2 {
		a, b := &sets[program[0]/128], &sets[1-program[0]/128]
		a.apply(program[0]%128, NodeID(program[1]), b)
		a.check(t, b)
		program = program[2:]
	}
}

func TestNodeSetEqualsMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		program := make([]byte, 200)
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runSets(t, program)
	}
}

func FuzzNodeSet(f *testing.F) {
	f.Add([]byte{0, 1, 128, 63, 0, 64, 4, 0, 133, 0})
	f.Add([]byte{8, 255, 128, 10, 6, 0, 7, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runSets(t, program[:min(len(program), 100)]) })
}

func TestNodeSetsOfDifferentLengthsCanBeEqual(t *testing.T) {
	short, long := NewNodeSet(1, 2), NewNodeSet(1, 2, 1000)
	long.Remove(1000)
	if !short.Equal(long) || !long.Equal(short) {
		t.Error("trailing zeros count")
	}
	short.Intersect(NewNodeSet())
	if !short.Empty() {
		t.Error("the intersection with a shorter set is not empty")
	}
}

func TestNodeSetMayLoseNodesWhileIterated(t *testing.T) {
	s := NewNodeSet(1, 2, 3, 200)
	var seen []NodeID
	for n := range s.All() {
		seen = append(seen, n)
		s.Remove(n + 1)
	}
	if want := []NodeID{1, 3, 200}; !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	s := NewNodeSet(1)
	c := s.Clone()
	c.Add(2)
	s.Remove(1)
	if !c.Equal(NewNodeSet(1, 2)) || !s.Empty() {
		t.Errorf("the clone is %v, the set %v", c.AppendTo(nil), s.AppendTo(nil))
	}
}

// TestNodeSetReadsAreFree pins what a warm set allocates: nothing.
func TestNodeSetReadsAreFree(t *testing.T) {
	s, o, out := NewNodeSet(1, 100, 1000), NewNodeSet(1, 2, 900), NewNodeSet(1000)
	list := make([]NodeID, 0, 10)
	sum := NodeID(0)
	allocs := testing.AllocsPerRun(100, func() {
		for n := range s.All() {
			sum += n
		}
		out.CopyFrom(s)
		out.Union(o)
		out.Intersect(s)
		out.Subtract(o)
		out.Fill(1000)
		list = s.AppendTo(list[:0])
		if !s.Has(100) || s.Equal(o) || s.Len() != 3 || s.Next(2) != 100 {
			panic("wrong")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
