package heap

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/internal/invariants"
)

// verify is the invariant walker of Weighted.
func (w *Weighted[K, G, V]) verify() error {
	seen := 0
	for name, g := range w.groups {
		if g.name != name {
			return fmt.Errorf("group %v is filed as %v", g.name, name)
		}
		n, err := w.forest.verify(g.root, nil, nil)
		if err != nil {
			return fmt.Errorf("group %v: %w", name, err)
		}
		seen += n
	}
	if seen != len(w.items) {
		return fmt.Errorf("trees hold %d of %d items", seen, len(w.items))
	}
	for key, it := range w.items {
		if w.forest.nodes[it.node].key != key {
			return fmt.Errorf("key %v is filed under %v", w.forest.nodes[it.node].key, key)
		}
	}
	return w.heads.verify()
}

func (f *forest[K, V]) verify(tree int32, after, before *int32) (size int, err error) {
	if tree == 0 {
		return 0, nil
	}
	n := f.nodes[tree]
	if after != nil && !f.less(*after, tree) || before != nil && !f.less(tree, *before) {
		return 0, fmt.Errorf("node %d is out of order", tree)
	}
	earliest, first := n.earliest, n.first
	if f.update(tree); f.nodes[tree].earliest != earliest || f.nodes[tree].first != first {
		return 0, fmt.Errorf("node %d has earliest %d, not %d", tree, earliest, f.nodes[tree].earliest)
	}
	for _, child := range []int32{n.left, n.right} {
		if child != 0 && f.weight(child) > f.weight(tree) {
			return 0, fmt.Errorf("node %d is above heavier node %d", tree, child)
		}
	}
	left, err := f.verify(n.left, after, &tree)
	if err != nil {
		return 0, err
	}
	right, err := f.verify(n.right, &tree, before)
	return left + right + 1, err
}

// weightedModel computes every priority anew.
type weightedModel struct {
	config  WeightedConfig
	epoch   time.Time
	factors map[uint8]float64
	items   []weightedModelItem
	arrived int
}

type weightedModelItem struct {
	key     uint16
	group   uint8
	base    float64
	since   float64
	arrival int
}

func (m *weightedModel) priority(it weightedModelItem, now time.Time) float64 {
	factor, ok := m.factors[it.group]
	if !ok {
		factor = 1
	}
	clock := 0.0
	if m.config.Ageing > 0 {
		clock = now.Sub(m.epoch).Seconds()
	}
	p := ((it.base - m.config.Ageing*it.since) + m.config.Ageing*clock) * factor
	if l := m.config.Limits; l != nil {
		p = min(l.Cap, max(l.Floor, p))
	}
	return p
}

func (m *weightedModel) sort(now time.Time) {
	slices.SortFunc(m.items, func(a, b weightedModelItem) int {
		return cmp.Or(-cmp.Compare(m.priority(a, now), m.priority(b, now)), cmp.Compare(a.arrival, b.arrival))
	})
}

func (m *weightedModel) find(key uint16) int {
	return slices.IndexFunc(m.items, func(it weightedModelItem) bool { return it.key == key })
}

type weightedPair struct {
	w   *Weighted[uint16, uint8, int]
	m   *weightedModel
	now time.Time
}

func newWeightedPair(t testing.TB, config WeightedConfig) *weightedPair {
	w, err := NewWeighted[uint16, uint8, int](config)
	require.NoError(t, err)
	start := time.Unix(1000, 0)
	w.seconds(start) // both count from the same moment, so that they round alike
	return &weightedPair{w: w, m: &weightedModel{config: config, epoch: start, factors: map[uint8]float64{}}, now: start}
}

var weightedFactors = [4]float64{0.25, 1, 1.5, 3}

// drive runs one operation, encoded in four bytes, on both.
func (p *weightedPair) drive(t testing.TB, op [4]byte) {
	t.Helper()
	w, m := p.w, p.m
	key, group, base := uint16(op[1]), op[2]%5, float64(int8(op[3])%16)
	at := m.find(key)
	switch op[0] % 10 {
	case 0, 1, 2, 3:
		since := 0.0
		if m.config.Ageing > 0 {
			since = p.now.Sub(m.epoch).Seconds()
		}
		err := w.Push(key, group, base, int(op[3]), p.now)
		if at >= 0 {
			require.ErrorIs(t, err, ErrExists)
			break
		}
		require.NoError(t, err)
		m.items = append(m.items, weightedModelItem{key, group, base, since, m.arrived})
		m.arrived++
	case 4:
		m.sort(p.now)
		got, _, ok := w.Pop(p.now)
		require.Equal(t, len(m.items) > 0, ok)
		if ok {
			require.Equal(t, m.items[0].key, got)
			m.items = m.items[1:]
		}
	case 5:
		err := w.Update(key, base)
		if at < 0 {
			require.ErrorIs(t, err, ErrNotFound)
			break
		}
		require.NoError(t, err)
		m.items[at].base = base
	case 6:
		factor := weightedFactors[op[3]%4]
		require.NoError(t, w.SetFactor(group, factor))
		m.factors[group] = factor
		require.Equal(t, factor, w.Factor(group))
	case 7:
		_, ok := w.Remove(key)
		require.Equal(t, at >= 0, ok)
		if ok {
			m.items = slices.Delete(m.items, at, at+1)
		}
	case 8:
		p.now = p.now.Add(time.Duration(op[1]) * 100 * time.Millisecond)
	case 9:
		m.sort(p.now)
		got, _, ok := w.Peek(p.now)
		require.Equal(t, len(m.items) > 0, ok)
		if ok {
			require.Equal(t, m.items[0].key, got)
			_, priority, _ := w.Get(got, p.now)
			require.Equal(t, m.priority(m.items[0], p.now), priority)
		}
	}
	require.Equal(t, len(m.items), w.Len())
}

var weightedConfigs = map[string]WeightedConfig{
	"plain":              {},
	"limits":             {Limits: &Limits{Floor: 1, Cap: 8}},
	"ageing":             {Ageing: 0.5},
	"ageing and limits":  {Ageing: 0.5, Limits: &Limits{Floor: 2, Cap: 20}},
	"ageing that rounds": {Ageing: 1e17},
	"cap alone":          {Limits: &Limits{Floor: math.Inf(-1), Cap: 4}},
}

func TestWeightedAnswersAsASortedSlice(t *testing.T) {
	for name, config := range weightedConfigs {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, uint64(*steps)))
			p := newWeightedPair(t, config)
			for step := range *steps {
				var op [4]byte
				for i := range op {
					op[i] = byte(rng.Uint32())
				}
				p.drive(t, op)
				if invariants.Enabled || step%64 == 0 {
					require.NoError(t, p.w.verify(), "step %d", step)
				}
			}
		})
	}
}

func FuzzWeighted(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 6, 0, 2, 3, 4, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, config := range weightedConfigs {
			p := newWeightedPair(t, config)
			for rest := script; len(rest) >= 4; rest = rest[4:] {
				p.drive(t, [4]byte(rest))
				require.NoError(t, p.w.verify())
			}
		}
	})
}

func TestWeightedRefusesWhatCannotBeOrdered(t *testing.T) {
	w, err := NewWeighted[string, string, int](WeightedConfig{})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	require.NoError(t, w.Push("a", "g", 1, 0, now))
	for _, base := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e101, -1e101} {
		require.ErrorIs(t, w.Push("b", "g", base, 0, now), ErrRange, "base %v", base)
		require.ErrorIs(t, w.Update("a", base), ErrRange, "base %v", base)
	}
	for _, factor := range []float64{math.NaN(), math.Inf(1), 0, -1, 1e101} {
		require.ErrorIs(t, w.SetFactor("g", factor), ErrRange, "factor %v", factor)
	}
	require.Equal(t, 1, w.Len())
	require.Equal(t, 1.0, w.Factor("g"))
	require.NoError(t, w.verify())
	for _, ageing := range []float64{math.NaN(), math.Inf(1), -1} {
		_, err := NewWeighted[string, string, int](WeightedConfig{Ageing: ageing})
		require.ErrorIs(t, err, ErrRange, "ageing %v", ageing)
	}
	for _, l := range []Limits{{Floor: 2, Cap: 1}, {Floor: math.NaN()}, {Cap: math.NaN()}} {
		_, err := NewWeighted[string, string, int](WeightedConfig{Limits: &l})
		require.ErrorIs(t, err, ErrConfig, "limits %v", l)
	}
}

func TestExtremesDoNotOverflow(t *testing.T) {
	w, err := NewWeighted[string, string, int](WeightedConfig{Ageing: 1e100})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	require.NoError(t, w.Push("a", "g", 1e100, 0, now))
	require.NoError(t, w.SetFactor("g", 1e100))
	_, p, _ := w.Get("a", now.Add(math.MaxInt64))
	require.False(t, math.IsInf(p, 0) || math.IsNaN(p))
}

func TestAgeingLetsOldItemsPass(t *testing.T) {
	w, err := NewWeighted[string, string, int](WeightedConfig{Ageing: 1})
	require.NoError(t, err)
	start := time.Unix(0, 0)
	require.NoError(t, w.Push("old", "batch", 0, 0, start))
	require.NoError(t, w.Push("new", "web", 10, 0, start.Add(5*time.Second)))
	key, _, _ := w.Peek(start.Add(6 * time.Second))
	require.Equal(t, "new", key)
	require.NoError(t, w.SetFactor("batch", 2))
	key, _, _ = w.Peek(start.Add(14 * time.Second)) // (0+14)*2 against (10+9)*1
	require.Equal(t, "old", key)
}

func TestItemsAtTheCapLeaveInOrderOfArrival(t *testing.T) {
	w, err := NewWeighted[string, string, int](WeightedConfig{Limits: &Limits{Floor: 0, Cap: 100}})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	require.NoError(t, w.Push("first", "a", 60, 0, now))
	require.NoError(t, w.Push("second", "a", 90, 0, now))
	require.NoError(t, w.Push("third", "b", 99, 0, now))
	require.NoError(t, w.SetFactor("a", 5)) // both of a's are far beyond the cap now
	for _, want := range []string{"first", "second", "third"} {
		key, _, _ := w.Pop(now)
		require.Equal(t, want, key)
	}
}

func TestEmptyGroupsAreForgottenUnlessTheyHaveAFactor(t *testing.T) {
	w, err := NewWeighted[int, int, int](WeightedConfig{})
	require.NoError(t, err)
	require.NoError(t, w.SetFactor(7, 3))
	for k := range 100 {
		require.NoError(t, w.Push(k, k, 1, 0, time.Time{}))
	}
	for w.Len() > 0 {
		w.Pop(time.Time{})
	}
	w.Peek(time.Time{})
	require.Len(t, w.groups, 1)
	require.Equal(t, 3.0, w.Factor(7))
	require.NoError(t, w.SetFactor(7, 1))
	w.Peek(time.Time{})
	require.Empty(t, w.groups)
}

func TestSteadyWeightedAllocatesNothing(t *testing.T) {
	for name, config := range weightedConfigs {
		p := newWeightedPair(t, config)
		for k := range uint16(1000) {
			require.NoError(t, p.w.Push(k, uint8(k%5), float64(k), 0, p.now))
		}
		require.Zero(t, testing.AllocsPerRun(500, func() {
			key, v, _ := p.w.Pop(p.now)
			_ = p.w.SetFactor(uint8(key%5), 1+float64(key%7))
			_ = p.w.Push(key, uint8(key%5), float64(key), v, p.now)
			_ = p.w.Update((key+1)%1000, 5)
		}), name)
	}
}

// BenchmarkWeighted shows what a change costs that concerns all items of a group: half of the items are in the group whose
// factor changes, the others in 15 more.
func BenchmarkWeighted(b *testing.B) {
	now := time.Unix(0, 0)
	for _, op := range []string{"factor", "factor+peek", "factor+pop+push", "update"} {
		for _, n := range []int{1_000, 1_000_000} {
			b.Run(fmt.Sprintf("op=%s/n=%d", op, n), func(b *testing.B) {
				w, err := NewWeighted[uint32, uint32, struct{}](WeightedConfig{})
				require.NoError(b, err)
				rng := splitmix(1)
				for k := range uint32(n) {
					group := uint32(0)
					if k%2 == 1 {
						group = 1 + k/2%15
					}
					_ = w.Push(k, group, rng.weight(), struct{}{}, now)
				}
				w.Peek(now)
				b.ReportAllocs()
				for b.Loop() {
					if op == "update" {
						_ = w.Update(uint32(rng.below(uint64(n))), rng.weight())
						continue
					}
					_ = w.SetFactor(0, 0.5+rng.weight())
					switch op {
					case "factor+peek":
						w.Peek(now)
					case "factor+pop+push":
						key, _, _ := w.Pop(now)
						_ = w.Push(key, min(key%2, 1)*(1+key/2%15), rng.weight(), struct{}{}, now)
					}
				}
			})
		}
	}
}
