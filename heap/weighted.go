package heap

import (
	"fmt"
	"math"
	"time"
)

// maxMagnitude bounds bases, factors and the ageing rate, so that no priority can overflow: (1e100 + 1e100 * 1e10 s) * 1e100.
const maxMagnitude = 1e100

// WeightedConfig is what a Weighted needs to know. The zero value ages nothing and has no limits.
type WeightedConfig struct {
	// Ageing is what each second of waiting adds to the base of an item; 0 for none, at most 1e100.
	Ageing float64
	// Limits, if not nil, bounds every priority. Items at the same limit are equal: they leave in order of arrival.
	Limits *Limits
}

// Limits is a range of priorities. An infinite bound bounds nothing.
type Limits struct {
	Floor, Cap float64
}

// Weighted is a priority queue for priorities that change under the items. An item of a group has the priority
//
//	min(Cap, max(Floor, (base + Ageing * seconds waited) * factor of the group))
//
// and the highest leaves first, equals in order of arrival. Factors are above 0, and 1 until set. A Controller finds factors.
//
// A factor applies to all items of a group at once and does not change their order among themselves, and neither does the
// time that passes, as all age alike. So each group keeps its items in one order for good, and only the heads of groups
// compete. With n items and g groups SetFactor takes O(1), Push, Update and Remove O(log n), Pop and Peek O(log n + log g)
// for each group that changed since the last of them; with Ageing heads overtake each other as time passes, and Pop and
// Peek take O(g log n). All are exact, with limits and rounding too.
//
// Waiting is counted from the now of Push; a now before that counts as negative waiting. Use NewWeighted. A Weighted is not
// safe for concurrent use.
type Weighted[K, G comparable, V any] struct {
	config WeightedConfig
	limits Limits
	forest forest[K, V]
	items  map[K]weightedItem[G]
	groups map[G]*group[G]
	// heads competes for Pop: the first item of each group. The groups in stale have changed since.
	heads    *Heap[G, head]
	stale    []*group[G]
	spare    []*group[G] // groups to use again
	epoch    time.Time
	arrivals uint64
}

type weightedItem[G comparable] struct {
	group *group[G]
	node  int32
}

// group is the items that share a load factor.
type group[G comparable] struct {
	name   G
	factor float64
	root   int32 // of the group's tree in the forest
	stale  bool
}

// head is an item as it competes with the heads of other groups.
type head struct {
	priority float64
	arrival  uint64
	node     int32
}

func (h head) before(o head) bool {
	return h.priority > o.priority || h.priority == o.priority && h.arrival < o.arrival
}

// NewWeighted returns an empty queue. It returns ErrRange for an Ageing that is negative, above 1e100 or NaN, and ErrConfig
// for a floor that is not at or below the cap.
func NewWeighted[K, G comparable, V any](config WeightedConfig) (*Weighted[K, G, V], error) {
	if !(config.Ageing >= 0 && config.Ageing <= maxMagnitude) {
		return nil, fmt.Errorf("%w: Ageing %v is not in [0, 1e100]", ErrRange, config.Ageing)
	}
	limits := Limits{math.Inf(-1), math.Inf(1)}
	if config.Limits != nil {
		limits = *config.Limits
		if !(limits.Floor <= limits.Cap) {
			return nil, fmt.Errorf("%w: Limits.Floor %v is not at or below Limits.Cap %v", ErrConfig, limits.Floor, limits.Cap)
		}
	}
	return &Weighted[K, G, V]{
		config: config,
		limits: limits,
		items:  map[K]weightedItem[G]{},
		groups: map[G]*group[G]{},
		heads: New[G](Order[head]{
			Rank: func(h head) uint64 { return Descending(h.priority) },
			Less: func(a, b head) bool { return a.arrival < b.arrival },
		}),
	}, nil
}

// Len returns the number of items.
func (w *Weighted[K, G, V]) Len() int { return len(w.items) }

// Push adds an item that begins to wait now. It returns ErrExists if the key is present, and ErrRange for a base that is not
// finite or above 1e100 in magnitude.
func (w *Weighted[K, G, V]) Push(key K, name G, base float64, value V, now time.Time) error {
	if _, ok := w.items[key]; ok {
		return fmt.Errorf("%w: key %v", ErrExists, key)
	}
	if err := checkBase(key, base); err != nil {
		return err
	}
	since := w.seconds(now)
	g := w.group(name)
	n := w.forest.add(key, value, since, w.aged(base, since), w.arrivals)
	w.arrivals++
	g.root = w.forest.insert(g.root, n)
	w.items[key] = weightedItem[G]{g, n}
	w.touch(g)
	return nil
}

// Update changes the base of an item; how long it has waited stays. It returns ErrNotFound if the key is not present, and
// ErrRange as Push does.
func (w *Weighted[K, G, V]) Update(key K, base float64) error {
	it, ok := w.items[key]
	if !ok {
		return fmt.Errorf("%w: key %v", ErrNotFound, key)
	}
	if err := checkBase(key, base); err != nil {
		return err
	}
	g, n := it.group, &w.forest.nodes[it.node]
	g.root = w.forest.remove(g.root, it.node)
	n.aged = w.aged(base, n.since)
	g.root = w.forest.insert(g.root, it.node)
	w.touch(g)
	return nil
}

// SetFactor changes the load factor of a group, now and for items to come, whether or not the group has items. It returns
// ErrRange for a factor that is not finite, not above 0, or above 1e100.
func (w *Weighted[K, G, V]) SetFactor(name G, factor float64) error {
	if !(factor > 0 && factor <= maxMagnitude) {
		return fmt.Errorf("%w: factor %v of group %v is not in (0, 1e100]", ErrRange, factor, name)
	}
	g := w.group(name)
	g.factor = factor
	w.touch(g)
	return nil
}

// Factor returns the load factor of a group.
func (w *Weighted[K, G, V]) Factor(name G) float64 {
	if g, ok := w.groups[name]; ok {
		return g.factor
	}
	return 1
}

// Get returns the value of a key and its priority now, and false if the key is not present.
func (w *Weighted[K, G, V]) Get(key K, now time.Time) (value V, priority float64, ok bool) {
	it, ok := w.items[key]
	if !ok {
		return value, 0, false
	}
	n := &w.forest.nodes[it.node]
	return n.value, w.scale(it.group, now).of(n.aged), true
}

// Peek returns the item that Pop would return, and false if there is none.
func (w *Weighted[K, G, V]) Peek(now time.Time) (key K, value V, ok bool) {
	h, ok := w.first(now)
	if !ok {
		return key, value, false
	}
	n := &w.forest.nodes[h.node]
	return n.key, n.value, true
}

// Pop removes the item of the highest priority and returns it, and false if there is none.
func (w *Weighted[K, G, V]) Pop(now time.Time) (key K, value V, ok bool) {
	h, ok := w.first(now)
	if !ok {
		return key, value, false
	}
	n := &w.forest.nodes[h.node]
	key, value = n.key, n.value
	w.take(key)
	return key, value, true
}

// Remove removes a key and returns its value, and false if the key is not present.
func (w *Weighted[K, G, V]) Remove(key K) (value V, ok bool) {
	it, ok := w.items[key]
	if !ok {
		return value, false
	}
	value = w.forest.nodes[it.node].value
	w.take(key)
	return value, true
}

func (w *Weighted[K, G, V]) take(key K) {
	it := w.items[key]
	delete(w.items, key)
	it.group.root = w.forest.remove(it.group.root, it.node)
	w.forest.free(it.node)
	w.touch(it.group)
}

func checkBase[K comparable](key K, base float64) error {
	if !(math.Abs(base) <= maxMagnitude) {
		return fmt.Errorf("%w: base %v of key %v is not in [-1e100, 1e100]", ErrRange, base, key)
	}
	return nil
}

func (w *Weighted[K, G, V]) group(name G) *group[G] {
	g, ok := w.groups[name]
	if !ok {
		if last := len(w.spare) - 1; last >= 0 {
			g, w.spare = w.spare[last], w.spare[:last]
		} else {
			g = new(group[G])
		}
		*g = group[G]{name: name, factor: 1}
		w.groups[name] = g
	}
	return g
}

// touch notes that the head of the group has to be found anew.
func (w *Weighted[K, G, V]) touch(g *group[G]) {
	if !g.stale {
		g.stale = true
		w.stale = append(w.stale, g)
	}
}

// seconds is the time since the first one handed in: small numbers keep their digits.
func (w *Weighted[K, G, V]) seconds(now time.Time) float64 {
	if w.config.Ageing == 0 {
		return 0
	}
	if w.epoch.IsZero() {
		w.epoch = now
	}
	return now.Sub(w.epoch).Seconds()
}

// aged is what an item adds to Ageing times the seconds of the clock: base + Ageing * (clock - since), less the common part.
func (w *Weighted[K, G, V]) aged(base, since float64) float64 { return base - w.config.Ageing*since }
