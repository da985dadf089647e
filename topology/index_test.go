package topology

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainIndex is what an Index is held against: labels by node, and what was asked to be kept.
type plainIndex struct {
	ids      map[string]NodeID
	labels   map[string]map[string]string
	acquired map[[2]string]int // by key and value
	columns  map[string]int    // by key
}

func newPlainIndex() *plainIndex {
	return &plainIndex{map[string]NodeID{}, map[string]map[string]string{}, map[[2]string]int{}, map[string]int{}}
}

// check compares everything that can be read from the index, and what it holds inside.
func (p *plainIndex) check(x *Index) error {
	if err := p.checkNodes(x); err != nil {
		return err
	}
	for k := range x.keys {
		if err := p.checkKey(x, KeyID(k)); err != nil {
			return fmt.Errorf("key %q: %w", x.KeyName(KeyID(k)), err)
		}
	}
	return nil
}

func (p *plainIndex) checkNodes(x *Index) error {
	live := plainSet{}
	for name, labels := range p.labels {
		n, ok := x.Lookup(name)
		if !ok || n != p.ids[name] || x.Name(n) != name || int(n) >= x.Cap() {
			return fmt.Errorf("node %q: found %v with id %d, name %q", name, ok, n, x.Name(n))
		}
		live[n] = true
		got := map[string]string{}
		for i, d := range x.Labels(n) {
			got[x.KeyName(d.Key)] = x.ValueName(d)
			if i > 0 && x.Labels(n)[i-1].Key >= d.Key {
				return fmt.Errorf("node %q: labels are not in the order of keys", name)
			}
		}
		if !maps.Equal(got, labels) {
			return fmt.Errorf("node %q: labels %v, want %v", name, got, labels)
		}
	}
	if !slices.Equal(live.sorted(), x.Live().AppendTo(nil)) || x.Len() != len(live) {
		return fmt.Errorf("live %v of %d, want %v", x.Live().AppendTo(nil), x.Len(), live.sorted())
	}
	for _, n := range x.free {
		if live[n] {
			return fmt.Errorf("id %d is live and free, or free twice", n)
		}
		live[n] = true
	}
	if len(live) != x.Cap() {
		return fmt.Errorf("%d ids are live or free, of %d", len(live), x.Cap())
	}
	return nil
}

func (p *plainIndex) checkKey(x *Index, k KeyID) error {
	key := &x.keys[k]
	name := x.KeyName(k)
	if found, ok := x.FindKey(name); !ok || found != k {
		return fmt.Errorf("found %v %v, want %v", found, ok, k)
	}
	if d, ok := x.FindValue(k, "of no node"); ok {
		return fmt.Errorf("found %v for a value that was never there", d)
	}
	carriers, domains := plainSet{}, map[string]plainSet{}
	for node, labels := range p.labels {
		v, ok := labels[name]
		if ok {
			n := p.ids[node]
			carriers[n] = true
			if domains[v] == nil {
				domains[v] = plainSet{}
			}
			domains[v][n] = true
		}
	}
	refs := map[string]int{}
	squares := 0
	for v, nodes := range domains {
		refs[v] += len(nodes)
		squares += len(nodes) * len(nodes)
	}
	for kv, n := range p.acquired {
		if kv[0] == name {
			refs[kv[1]] += n
		}
	}
	held := 0
	for v := range key.values {
		d := Domain{k, ValueID(v)}
		if key.values[v].refs == 0 {
			if !slices.Contains(key.free, d.Value) {
				return fmt.Errorf("value %d is neither held nor free", v)
			}
			continue
		}
		held++
		value := x.ValueName(d)
		if found, ok := x.FindValue(k, value); !ok || found != d {
			return fmt.Errorf("value %q: found %v %v, want %v", value, found, ok, d)
		}
		if key.byValue[value] != d.Value || refs[value] != int(key.values[v].refs) {
			return fmt.Errorf("value %q: id %d and %d, %d users, want %d", value, v, key.byValue[value], key.values[v].refs, refs[value])
		}
		if err := samePosting(x, d, domains[value]); err != nil {
			return fmt.Errorf("value %q: %w", value, err)
		}
	}
	if held != len(refs) || held != len(key.byValue) || held+len(key.free) != x.ValueCap(k) {
		return fmt.Errorf("%d values held, %d by name, %d free of %d, want %d", held, len(key.byValue), len(key.free), x.ValueCap(k), len(refs))
	}
	var with NodeSet
	x.UnionCarriers(&with, k)
	if !slices.Equal(carriers.sorted(), with.AppendTo(nil)) || x.Domains(k) != len(domains) {
		return fmt.Errorf("carriers %v, %d domains, want %v and %d", with.AppendTo(nil), x.Domains(k), carriers.sorted(), len(domains))
	}
	mean := 0.0
	if len(carriers) > 0 {
		mean = float64(squares) / float64(len(carriers))
	}
	if x.MeanSize(k) != mean {
		return fmt.Errorf("mean size %v, want %v", x.MeanSize(k), mean)
	}
	return p.checkValues(x, k)
}

// checkValues compares Value and Column of one key, for ids without a node too.
func (p *plainIndex) checkValues(x *Index, k KeyID) error {
	column := x.Column(k)
	if kept := p.columns[x.KeyName(k)] > 0; kept != (column != nil || kept && x.Cap() == 0) || kept && len(column) != x.Cap() {
		return fmt.Errorf("column kept %v, of length %d for %d ids", kept, len(column), x.Cap())
	}
	for i := range x.Cap() {
		n := NodeID(i)
		got := x.Value(n, k)
		if column != nil && column[n] != got {
			return fmt.Errorf("node %d: value %d, in the column %d", n, got, column[n])
		}
		want, ok := p.labels[x.Name(n)][x.KeyName(k)]
		if ok != (got != NoValue) || ok && x.ValueName(Domain{k, got}) != want {
			return fmt.Errorf("node %d: value %d, want %q %v", n, got, want, ok)
		}
	}
	return nil
}

func samePosting(x *Index, d Domain, want plainSet) error {
	var union NodeSet
	x.Union(&union, d)
	nodes := slices.Collect(x.Nodes(d))
	if !slices.Equal(nodes, want.sorted()) || !slices.Equal(nodes, union.AppendTo(nil)) || x.Size(d) != len(want) {
		return fmt.Errorf("nodes %v, as a set %v, size %d, want %v", nodes, union.AppendTo(nil), x.Size(d), want.sorted())
	}
	_, err := x.keys[d.Key].values[d.Value].nodes.form()
	return err
}

// walker makes changes to an Index and to its plain form; what it does follows from the numbers that it is given.
type walker struct {
	draw  func(n int) int // in 0..n-1
	x     Index
	plain *plainIndex
	named int
}

func (w *walker) node() (string, bool) {
	names := slices.Sorted(maps.Keys(w.plain.labels))
	if len(names) == 0 {
		return "", false
	}
	return names[w.draw(len(names))], true
}

// labels draws labels: a zone of few values, a rack, a unique hostname, a key that most lack, with an empty value at times.
func (w *walker) labels(name string) map[string]string {
	labels := map[string]string{}
	for _, l := range [][]string{{"zone", "a", "b", ""}, {"rack", "1", "2", "3", "4", "5", "6"}, {"host", name}, {"rare", "x"}} {
		if w.draw(4) > 0 && (l[0] != "rare" || w.draw(8) == 0) {
			labels[l[0]] = l[1+w.draw(len(l)-1)]
		}
	}
	return labels
}

func (w *walker) step() error {
	p := w.plain
	keys := []string{"zone", "rack", "host", "rare", "new"}
	name, some := w.node()
	key := keys[w.draw(len(keys))]
	switch op := w.draw(12); {
	case op < 4 || !some:
		w.named++
		name := fmt.Sprintf("n%d", w.named)
		labels := w.labels(name)
		n, err := w.x.Add(name, labels)
		if err != nil {
			return err
		}
		p.ids[name], p.labels[name] = n, labels
	case op < 6:
		labels := w.labels(name)
		w.x.Relabel(p.ids[name], labels)
		p.labels[name] = labels
	case op < 8:
		w.x.Remove(p.ids[name])
		delete(p.labels, name)
		delete(p.ids, name)
	case op == 8:
		if _, err := w.x.Add(name, nil); err == nil {
			return fmt.Errorf("node %q was added twice", name)
		}
	case op == 9:
		kv := [2]string{key, []string{"a", "b", "", "unused"}[w.draw(4)]}
		d := w.x.Acquire(w.x.Key(key), kv[1])
		p.acquired[kv]++
		if w.x.ValueName(d) != kv[1] || w.x.KeyName(d.Key) != key {
			return fmt.Errorf("acquired %v, got %q of %q", kv, w.x.ValueName(d), w.x.KeyName(d.Key))
		}
	case op == 10:
		w.release()
	case p.columns[key] > 0 && w.draw(2) == 0:
		w.x.DropColumn(w.x.Key(key))
		p.columns[key]--
	default:
		w.x.KeepColumn(w.x.Key(key))
		p.columns[key]++
	}
	return p.check(&w.x)
}

// release gives back one of the values that are held.
func (w *walker) release() {
	held := slices.SortedFunc(maps.Keys(w.plain.acquired), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	if len(held) == 0 {
		return
	}
	kv := held[w.draw(len(held))]
	k := w.x.Key(kv[0])
	w.x.Release(Domain{k, w.x.keys[k].byValue[kv[1]]})
	if w.plain.acquired[kv]--; w.plain.acquired[kv] == 0 {
		delete(w.plain.acquired, kv)
	}
}

// drain removes everything; nothing may be left over but names of keys.
func (w *walker) drain() error {
	for name, some := w.node(); some; name, some = w.node() {
		w.x.Remove(w.plain.ids[name])
		delete(w.plain.labels, name)
		delete(w.plain.ids, name)
	}
	for len(w.plain.acquired) > 0 {
		w.release()
	}
	for k := range w.x.keys {
		if held := len(w.x.keys[k].byValue); held > 0 {
			return fmt.Errorf("key %q still holds %d values", w.x.keys[k].name, held)
		}
	}
	return w.plain.check(&w.x)
}

func TestIndexEqualsMaps(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := &walker{draw: rng.IntN, plain: newPlainIndex()}
		for step := range 250 {
			require.NoError(t, w.step(), "seed %d, step %d", seed, step)
		}
		require.NoError(t, w.drain(), "seed %d", seed)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 1, 2, 9, 3, 1, 11, 0, 1, 6, 0, 0, 10, 0})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		bytes = bytes[:min(len(bytes), 1000)]
		w := &walker{plain: newPlainIndex()}
		w.draw = func(n int) int {
			if len(bytes) == 0 {
				return 0
			}
			b := int(bytes[0]) % n
			bytes = bytes[1:]
			return b
		}
		for len(bytes) > 0 {
			require.NoError(t, w.step())
		}
		require.NoError(t, w.drain())
	})
}

// TestSameCallsSameIDs: ids do not depend on the order of maps.
func TestSameCallsSameIDs(t *testing.T) {
	run := func() Index {
		rng := rand.New(rand.NewPCG(7, 7))
		w := &walker{draw: rng.IntN, plain: newPlainIndex()}
		for range 200 {
			require.NoError(t, w.step())
		}
		return w.x
	}
	assert.Equal(t, run(), run())
}

// TestLargeDomains: domains pass through all forms of a posting list while columns follow.
func TestLargeDomains(t *testing.T) {
	p := newPlainIndex()
	var x Index
	x.KeepColumn(x.Key("zone"))
	p.columns["zone"] = 1
	zones := []string{"a", "b"}
	for i := range 600 {
		name := fmt.Sprint("n", i)
		labels := map[string]string{"zone": zones[i%2], "host": name}
		n, err := x.Add(name, labels)
		require.NoError(t, err)
		p.ids[name], p.labels[name] = n, labels
	}
	require.NoError(t, p.check(&x))
	for i := range 600 {
		name := fmt.Sprint("n", i)
		labels := map[string]string{"zone": "b", "host": name}
		x.Relabel(p.ids[name], labels)
		p.labels[name] = labels
		if i%100 == 99 {
			require.NoError(t, p.check(&x))
		}
	}
	assert.Equal(t, 1, x.Domains(x.Key("zone")))
	assert.Equal(t, 600.0, x.MeanSize(x.Key("zone")))
	assert.Equal(t, 1.0, x.MeanSize(x.Key("host")))
}

func TestIDsAreReusedLastRemovedFirst(t *testing.T) {
	var x Index
	for _, name := range []string{"a", "b", "c"} {
		_, err := x.Add(name, nil)
		require.NoError(t, err)
	}
	x.Remove(0)
	x.Remove(2)
	for _, want := range []NodeID{2, 0, 3} {
		n, err := x.Add(fmt.Sprint("new", want), nil)
		require.NoError(t, err)
		assert.Equal(t, want, n)
	}
}

func TestNodeTwiceIsAnErrorThatChangesNothing(t *testing.T) {
	var x Index
	_, err := x.Add("a", map[string]string{"zone": "1"})
	require.NoError(t, err)
	n, err := x.Add("a", map[string]string{"zone": "2", "rack": "3"})
	assert.EqualError(t, err, `topology: node "a" is present already`)
	assert.Equal(t, None, n)
	assert.Len(t, x.keys, 1)
	assert.Equal(t, 1, x.ValueCap(0))
}

// TestAcquiredValueKeepsItsID while no node carries it; released, the id is given to another value.
func TestAcquiredValueKeepsItsID(t *testing.T) {
	var x Index
	zone := x.Key("zone")
	d := x.Acquire(zone, "a")
	assert.Zero(t, x.Size(d))
	assert.Zero(t, x.Domains(zone), "no node carries it")
	n, err := x.Add("n", map[string]string{"zone": "a"})
	require.NoError(t, err)
	assert.Equal(t, d.Value, x.Value(n, zone))
	x.Remove(n)
	assert.Equal(t, "a", x.ValueName(d))
	x.Release(d)
	assert.Equal(t, d, x.Acquire(zone, "b"))
}

// TestIndexReadsAreFree pins what reading allocates: nothing.
func TestIndexReadsAreFree(t *testing.T) {
	var x Index
	for i := range 600 {
		_, err := x.Add(fmt.Sprint("n", i), map[string]string{"zone": fmt.Sprint(i % 2), "rack": fmt.Sprint(i / 10), "host": fmt.Sprint(i)})
		require.NoError(t, err)
	}
	zone, rack, host := x.Key("zone"), x.Key("rack"), x.Key("host")
	x.KeepColumn(rack)
	set := NewNodeSet(599)
	seen := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, k := range []KeyID{zone, rack, host} {
			d := Domain{k, x.Value(77, k)}
			for range x.Nodes(d) {
				seen++
			}
			x.Union(set, d)
			x.UnionCarriers(set, k)
			seen += x.Size(d) + x.Domains(k) + len(x.ValueName(d)) + int(x.MeanSize(k))
		}
		if n, ok := x.Lookup("n77"); !ok || x.Name(n) != "n77" || len(x.Labels(n)) != 3 {
			panic("wrong")
		}
	}))
}
