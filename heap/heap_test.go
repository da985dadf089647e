package heap

import (
	"cmp"
	stdheap "container/heap"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/internal/invariants"
)

// steps is how many operations the model-based tests run: a few by default, 10,000,000 on demand.
var steps = flag.Int("berth.steps", defaultSteps(), "operations of each model-based random test")

// defaultSteps is less where the invariant walker runs after each step.
func defaultSteps() int {
	if invariants.Enabled {
		return 4_000
	}
	return 20_000
}

// verify is the invariant walker: it returns the first thing about h that is wrong.
func (h *Heap[K, V]) verify() error {
	for i := root; i < len(h.nodes); i++ {
		n := h.nodes[i]
		if i > root && h.before(n, h.nodes[parent(i)]) {
			return fmt.Errorf("node %d precedes its parent %d", i, parent(i))
		}
		b, it := h.buckets[n.bucket], h.items[n.bucket]
		if int(b.at) != i {
			return fmt.Errorf("node %d is in bucket %d, which points to node %d", i, n.bucket, b.at)
		}
		if n.rank != h.rank(it.value) {
			return fmt.Errorf("node %d has rank %x, its value %x", i, n.rank, h.rank(it.value))
		}
		if at, found := h.lookup(it.key); !found || at != int(n.bucket) {
			return fmt.Errorf("key %v is not found where it is", it.key)
		}
		if n.arrival >= h.arrivals {
			return fmt.Errorf("node %d came with arrival %d, the next is %d", i, n.arrival, h.arrivals)
		}
	}
	taken := 0
	for i := range h.buckets {
		if h.buckets[i].at != 0 {
			taken++
		}
	}
	if taken != h.Len() {
		return fmt.Errorf("%d buckets are taken by %d items", taken, h.Len())
	}
	return nil
}

// check runs the walker after every step in race mode and now and then without.
func (h *Heap[K, V]) check(t testing.TB, step int) {
	t.Helper()
	if invariants.Enabled || step%64 == 0 {
		require.NoError(t, h.verify(), "step %d", step)
	}
}

// modelHeapItem and model are the slow and obvious heap: a slice that is sorted when asked.
type modelHeapItem struct {
	key     uint16
	value   weight
	arrival int
}

type weight struct{ first, second uint8 }

func (a weight) compare(b weight) int {
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
}

type model struct {
	items    []modelHeapItem
	arrivals int
}

func (m *model) find(key uint16) int {
	return slices.IndexFunc(m.items, func(it modelHeapItem) bool { return it.key == key })
}

func (m *model) push(key uint16, v weight) bool {
	if m.find(key) >= 0 {
		return false
	}
	m.items = append(m.items, modelHeapItem{key, v, m.arrivals})
	m.arrivals++
	return true
}

func (m *model) sorted() []modelHeapItem {
	slices.SortFunc(m.items, func(a, b modelHeapItem) int {
		return cmp.Or(a.value.compare(b.value), cmp.Compare(a.arrival, b.arrival))
	})
	return m.items
}

var orders = map[string]Order[weight]{
	"rank": {Rank: func(w weight) uint64 { return uint64(w.first)<<8 | uint64(w.second) }},
	"less": {Less: func(a, b weight) bool { return a.compare(b) < 0 }},
	"rank and less": {
		Rank: func(w weight) uint64 { return Ascending(w.first) },
		Less: func(a, b weight) bool { return a.second < b.second },
	},
}

// drive runs one operation, encoded in four bytes, on heap and model, and requires that both answer the same.
func drive(t testing.TB, h *Heap[uint16, weight], m *model, op [4]byte) {
	t.Helper()
	key, v := uint16(op[1]), weight{op[2] % 4, op[3] % 4}
	at := m.find(key)
	switch op[0] % 8 {
	case 0, 1, 2:
		err := h.Push(key, v)
		if m.push(key, v) {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrExists)
		}
	case 3:
		wantFirst(t, h.Pop, m)
		if len(m.items) > 0 {
			m.items = m.items[1:]
		}
	case 4:
		wantFirst(t, h.Peek, m)
	case 5:
		require.Equal(t, at >= 0, h.Update(key, v))
		if at >= 0 {
			m.items[at].value = v
		}
	case 6:
		got, ok := h.Remove(key)
		require.Equal(t, at >= 0, ok)
		if ok {
			require.Equal(t, m.items[at].value, got)
			m.items = slices.Delete(m.items, at, at+1)
		}
	case 7:
		got, ok := h.Get(key)
		require.Equal(t, at >= 0, ok)
		if ok {
			require.Equal(t, m.items[at].value, got)
		}
	}
	require.Equal(t, len(m.items), h.Len())
}

func wantFirst(t testing.TB, first func() (uint16, weight, bool), m *model) {
	t.Helper()
	key, v, ok := first()
	require.Equal(t, len(m.items) > 0, ok)
	if ok {
		want := m.sorted()[0]
		require.Equal(t, want.key, key)
		require.Equal(t, want.value, v)
	}
}

func TestHeapAnswersAsASortedSlice(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(*steps)))
			h, m := New[uint16](order), &model{}
			for step := range *steps {
				var op [4]byte
				for i := range op {
					op[i] = byte(rng.Uint32())
				}
				drive(t, h, m, op)
				h.check(t, step)
			}
		})
	}
}

func FuzzHeap(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 0, 2, 1, 3, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, order := range orders {
			h, m := New[uint16](order), &model{}
			for rest := script; len(rest) >= 4; rest = rest[4:] {
				drive(t, h, m, [4]byte(rest))
				require.NoError(t, h.verify())
			}
		}
	})
}

func TestZeroHeapIsFIFO(t *testing.T) {
	var h Heap[string, int]
	require.Zero(t, h.Len())
	_, _, ok := h.Pop()
	require.False(t, ok)
	_, _, ok = h.Peek()
	require.False(t, ok)
	_, ok = h.Get("a")
	require.False(t, ok)
	_, ok = h.Remove("a")
	require.False(t, ok)
	require.False(t, h.Update("a", 1))
	require.False(t, h.Fix("a"))
	require.NoError(t, h.Meld(new(Heap[string, int])))
	h.Clear()
	for i, key := range []string{"c", "a", "b"} {
		require.NoError(t, h.Push(key, 10-i))
	}
	require.ErrorContains(t, h.Push("a", 0), "key a")
	for _, want := range []string{"c", "a", "b"} {
		key, _, ok := h.Pop()
		require.True(t, ok)
		require.Equal(t, want, key)
	}
}

func TestUpdateKeepsArrival(t *testing.T) {
	h := New[string](Order[int]{Rank: Ascending[int]})
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, h.Push(key, 1))
	}
	require.True(t, h.Update("a", 9))
	require.True(t, h.Update("a", 1))
	key, _, _ := h.Peek()
	require.Equal(t, "a", key, "back at its old value it stands where it stood")
}

func TestFixAfterChangeThroughPointer(t *testing.T) {
	h := New[string](Order[*int]{Rank: func(p *int) uint64 { return Ascending(*p) }})
	a, b := 1, 2
	require.NoError(t, h.Push("a", &a))
	require.NoError(t, h.Push("b", &b))
	a = 3
	require.True(t, h.Fix("a"))
	require.False(t, h.Fix("absent"))
	key, _, _ := h.Peek()
	require.Equal(t, "b", key)
	require.NoError(t, h.verify())
}

func TestAllYieldsTheOrderOfPop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 9, 100, 1000} {
		h := New[int](Order[int]{Rank: Ascending[int]})
		for k := range n {
			require.NoError(t, h.Push(k, rng.IntN(10)))
		}
		var seen []int
		for key := range h.All() {
			seen = append(seen, key)
		}
		for key := range h.All() { // stopping early is fine
			require.Equal(t, seen[0], key)
			break
		}
		require.Equal(t, n, h.Len())
		for _, want := range seen {
			key, _, _ := h.Pop()
			require.Equal(t, want, key)
		}
	}
}

func TestMeldPutsTheOtherBehindEquals(t *testing.T) {
	for _, sizes := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1000, 3}, {3, 1000}, {100, 100}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			order := Order[int]{Rank: Ascending[int]}
			a, b := New[int](order), New[int](order)
			// Near the end of the arrivals the meld has to renumber both.
			a.arrivals, b.arrivals = math.MaxUint32-2000, 2000
			var m model
			for i := range sizes[0] {
				require.NoError(t, a.Push(i, i%3))
				m.push(uint16(i), weight{first: uint8(i % 3)})
			}
			for i := sizes[0]; i < sizes[0]+sizes[1]; i++ {
				require.NoError(t, b.Push(i, i%3))
				m.push(uint16(i), weight{first: uint8(i % 3)})
			}
			require.NoError(t, a.Meld(b))
			require.NoError(t, a.verify())
			require.NoError(t, b.verify())
			require.Zero(t, b.Len())
			for _, want := range m.sorted() {
				key, _, _ := a.Pop()
				require.EqualValues(t, want.key, key)
			}
		})
	}
}

func TestMeldWithSharedKeyChangesNothing(t *testing.T) {
	a, b := New[string](Order[int]{}), New[string](Order[int]{})
	require.NoError(t, a.Push("x", 1))
	require.NoError(t, b.Push("y", 2))
	require.NoError(t, b.Push("x", 3))
	require.ErrorIs(t, a.Meld(b), ErrExists)
	require.ErrorIs(t, a.Meld(a), ErrExists)
	require.Equal(t, 1, a.Len())
	require.Equal(t, 2, b.Len())
	require.NoError(t, a.verify())
	require.NoError(t, b.verify())
}

func TestArrivalsAreRenumberedBeforeTheyRunOut(t *testing.T) {
	h := New[int](Order[int]{})
	h.arrivals = math.MaxUint32 - 3
	for k := range 10 {
		require.NoError(t, h.Push(k, 0))
		require.NoError(t, h.verify())
	}
	require.EqualValues(t, 10, h.arrivals)
	for want := range 10 {
		key, _, _ := h.Pop()
		require.Equal(t, want, key)
	}
}

func TestClearKeepsNothing(t *testing.T) {
	h := New[int](Order[*int]{})
	require.NoError(t, h.Push(1, new(int)))
	h.Clear()
	require.Zero(t, h.Len())
	require.NoError(t, h.verify())
	for _, it := range h.items {
		require.Nil(t, it.value, "values are released")
	}
	require.NoError(t, h.Push(1, new(int)))
}

func TestSteadyHeapAllocatesNothing(t *testing.T) {
	h := New[int](Order[float64]{Rank: Ascending[float64]})
	for k := range 1000 {
		require.NoError(t, h.Push(k, float64(k)))
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		k, w, _ := h.Pop()
		_ = h.Push(k, w+500)
		h.Update(7, w+100)
		h.Fix(8)
		v, _ := h.Remove(9)
		_ = h.Push(9, v)
		h.Get(10)
		h.Peek()
	}))
}

func TestRanksOrderNumbers(t *testing.T) {
	ordered := func(name string, ranks ...uint64) {
		t.Helper()
		require.True(t, slices.IsSorted(ranks), name)
		require.Len(t, slices.Compact(ranks), len(ranks), "%s: ranks of different numbers differ", name)
	}
	ordered("float64", Ascending(math.Inf(-1)), Ascending(-math.MaxFloat64), Ascending(-1.5), Ascending(-math.SmallestNonzeroFloat64),
		Ascending(0.0), Ascending(math.SmallestNonzeroFloat64), Ascending(1.5), Ascending(math.Inf(1)), Ascending(math.NaN()))
	require.Equal(t, Ascending(0.0), Ascending(math.Copysign(0, -1)))
	require.Equal(t, Ascending(math.NaN()), Ascending(math.Copysign(math.NaN(), -1)))
	ordered("float32", Ascending(float32(-2)), Ascending(float32(0)), Ascending(float32(0.5)))
	ordered("int64", Ascending(int64(math.MinInt64)), Ascending(int64(-1)), Ascending(int64(0)), Ascending(int64(math.MaxInt64)))
	ordered("int8", Ascending(int8(-128)), Ascending(int8(-1)), Ascending(int8(0)), Ascending(int8(127)))
	ordered("uint64", Ascending(uint64(0)), Ascending(uint64(1)), Ascending(uint64(math.MaxUint64)))
	ordered("descending", Descending(3), Descending(2), Descending(-1))
}

// ints is a container/heap Interface.
type ints []int

func (s ints) Len() int           { return len(s) }
func (s ints) Less(i, j int) bool { return s[i] < s[j] }
func (s ints) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *ints) Push(x any)        { *s = append(*s, x.(int)) }
func (s *ints) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

func TestAdapterPopsAsContainerHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 50 {
		ours, std := ints{}, ints{}
		for range n {
			x := rng.IntN(30)
			ours, std = append(ours, x), append(std, x)
		}
		a := Adapt(&ours)
		stdheap.Init(&std)
		for range 2 * n {
			x := rng.IntN(30)
			switch {
			case rng.IntN(2) == 0 || len(std) == 0:
				a.Push(x)
				stdheap.Push(&std, x)
			case rng.IntN(2) == 0:
				require.Equal(t, stdheap.Pop(&std), a.Pop())
			default: // change or remove the same number in both
				i := rng.IntN(len(std))
				j := slices.Index(ours, std[i])
				if rng.IntN(2) == 0 {
					require.Equal(t, stdheap.Remove(&std, i), a.Remove(j))
				} else {
					std[i], ours[j] = x, x
					stdheap.Fix(&std, i)
					a.Fix(j)
				}
			}
		}
		for len(std) > 0 {
			require.Equal(t, stdheap.Pop(&std), a.Pop())
		}
		require.Empty(t, ours)
	}
}
