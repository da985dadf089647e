package numa

import (
	"math"
	"slices"
)

// How the choice is found. All candidates leave the same sum of free CPUs, so
// the standard deviation grows with the sum of squares alone, and a choice is
// as good as the squares it takes away: its gain. A node with a free CPUs that
// gives the share d and c more groups of g adds a^2 - (a-d-cg)^2, independent
// of the other nodes. What couples them is how a remainder of q groups is
// dealt to a subset, round by round, in order: after L full rounds and a part
// of the next, nodes with less than L groups are drained, the first others
// have given L+1 and the rest L. For one L that is a dynamic program over the
// nodes, with the number of chosen nodes, the groups dealt and "past the
// first others" as state. All L up to q together cover every subset.
//
// Scores are compared rounded, and the first combination in order wins among
// equals, so after the best gain the program finds the first choice whose
// gain still rounds to the same score.

const unreachable = math.MinInt64 / 4

// option is one variant of the program: a share, a number of full rounds,
// the nodes allowed.
type option struct {
	items  []item
	rounds int
	deal   int  // groups of the remainder
	poor   bool // one chosen node must have just the share
	// f[i][count][phase][groups] is the most that positions from i on gain
	// with count of them chosen; see at for the layout.
	f      []int64
	exact  bool // count at position 0 is counts, not anything up to it
	counts int
	phases int
}

// item is one position. Its zero value is a position not allowed.
type item struct {
	allowed bool
	gain    int64 // of the share
	left    int64 // free CPUs after the share
	groups  int   // that fit in left
	least   bool  // has no more than the share
}

// Phases: bit 0 is set past the nodes that give one more than the rounds, bit
// 1 while a node with just the share is still owed.

// at is the index of an entry of f. If the number of chosen positions is
// exact, entries are kept by the number left out so far instead, which is a
// narrow band when most are chosen.
func (o *option) at(i, count, phase, groups int) int {
	width := o.counts
	if o.exact {
		width = len(o.items) - o.counts
		count = i - (o.counts - count)
	}
	return ((i*(width+1)+count)*o.phases+phase)*(o.deal+1) + groups
}

// within is the range of counts that position i can have.
func (o *option) within(i int) (low, high int) {
	if o.exact {
		low = max(0, o.counts-i)
	}
	return low, min(o.counts, len(o.items)-i)
}

// move is one thing that a chosen position can do.
type move struct {
	groups int
	phase  int
	gain   int64
}

// moves lists what position i can do in a phase. loose positions need not
// take part in the remainder.
func (o *option) moves(i, phase int, loose bool, g int64, buf []move) []move {
	it := &o.items[i]
	if !it.allowed {
		return buf
	}
	if it.least {
		phase &^= 2
	}
	give := func(c, phase int) {
		if c <= o.deal {
			buf = append(buf, move{c, phase, it.gain + g*int64(c)*(2*it.left-g*int64(c))})
		}
	}
	if loose {
		give(0, phase)
	}
	switch {
	case it.groups == 0:
	case it.groups <= o.rounds:
		give(it.groups, phase)
	default:
		if phase&1 == 0 {
			give(o.rounds+1, phase)
		}
		if o.rounds > 0 || !loose {
			give(o.rounds, phase|1)
		}
	}
	return buf
}

// fill computes f for exactly or up to counts chosen positions.
func (o *option) fill(counts int, exact bool, g int64) {
	o.counts, o.exact, o.phases = counts, exact, 4
	switch {
	case o.poor:
	case exact && o.rounds == 0:
		o.phases = 1
	default:
		o.phases = 2
	}
	n := len(o.items)
	o.f = make([]int64, o.at(n, 0, 0, 0)+(n+1)*o.phases*(o.deal+1))
	for i := range o.f {
		o.f[i] = unreachable
	}
	for phase := range min(2, o.phases) {
		o.f[o.at(n, 0, phase, 0)] = 0
	}
	var buf [4]move
	for i := n - 1; i >= 0; i-- {
		low, high := o.within(i)
		for phase := range o.phases {
			for count := low; count <= min(high, n-1-i); count++ {
				copy(o.f[o.at(i, count, phase, 0):][:o.deal+1], o.f[o.at(i+1, count, phase, 0):])
			}
			for _, m := range o.moves(i, phase, exact, g, buf[:0]) {
				for count := max(1, low); count <= high; count++ {
					from := o.f[o.at(i+1, count-1, m.phase, 0):][:o.deal+1]
					to := o.f[o.at(i, count, phase, 0):][:o.deal+1]
					for q := m.groups; q <= o.deal; q++ {
						if v := from[q-m.groups] + m.gain; v > to[q] {
							to[q] = v
						}
					}
				}
			}
		}
	}
}

func (o *option) start() int {
	if o.poor {
		return 2
	}
	return 0
}

// best is the most that count chosen positions can gain.
func (o *option) best(count int) int64 { return o.f[o.at(0, count, o.start(), o.deal)] }

// first finds the first set of count positions, in the order of combinations,
// that gains at least the given amount in one of the options.
func first(options []*option, count int, least int64, loose bool, g int64) []bool {
	n := len(options[0].items)
	in := make([]bool, n)
	states := make([][]int64, len(options)) // gain so far by phase and groups left
	for v, o := range options {
		states[v] = slices.Repeat([]int64{unreachable}, o.phases*(o.deal+1))
		states[v][o.start()*(o.deal+1)+o.deal] = 0
	}
	for i := 0; i < n && count > 0; i++ {
		next := make([][]int64, len(options))
		for v, o := range options {
			var good bool
			next[v], good = o.advance(states[v], i, count, least, loose, g)
			in[i] = in[i] || good
		}
		if in[i] {
			states = next
			count--
		}
	}
	return in
}

// advance returns the states after choosing position i, and whether one of
// them can still gain enough.
func (o *option) advance(state []int64, i, count int, least int64, loose bool, g int64) ([]int64, bool) {
	next := slices.Repeat([]int64{unreachable}, len(state))
	good := false
	var buf [4]move
	for phase := range o.phases {
		for _, m := range o.moves(i, phase, loose, g, buf[:0]) {
			for left := m.groups; left <= o.deal; left++ {
				v := state[phase*(o.deal+1)+left]
				if v < 0 {
					continue
				}
				v += m.gain
				to := &next[m.phase*(o.deal+1)+left-m.groups]
				*to = max(*to, v)
				good = good || v+o.f[o.at(i+1, count-1, m.phase, left-m.groups)] >= least
			}
		}
	}
	return next, good
}

// solve chooses k nodes, or reports that no k nodes can share the request.
func (b *balance) solve(k int) bool {
	options := b.optionsFor(k)
	if len(options) == 0 {
		return false
	}
	g := int64(b.group)
	most, base := int64(unreachable), b.squares()
	filled := options[:0:0]
	pending := options
	for _, fromBest := range []bool{true, false} {
		// First every option that could beat the best so far; then those
		// that could come close enough to round to the same score.
		var later []*option
		for _, o := range pending {
			least := most + 1
			if !fromBest {
				least = base - b.worstEqual(base-most)
			}
			if o.bound(k, g) < least {
				later = append(later, o)
				continue
			}
			o.fill(k, true, g)
			most = max(most, o.best(k))
			filled = append(filled, o)
		}
		pending = later
	}
	if most < 0 {
		return false
	}
	least := base - b.worstEqual(base-most)
	b.chosen = first(filled, k, least, true, g)
	b.dealRemainder(k, least)
	return true
}

// optionsFor lists the variants. Aligned to packages, sets inside one package
// come before all others whatever their score.
func (b *balance) optionsFor(k int) []*option {
	if !b.t.opts.AlignSockets {
		return b.variants(k, b.evenShare(k), false, func(int) bool { return true })
	}
	aligned := func(allowed func(int) bool) []*option {
		full := b.evenShare(k)
		list := b.variants(k, full, false, allowed)
		var lower []int
		for _, a := range b.free {
			if s := a / b.group * b.group; s < full && !slices.Contains(lower, s) {
				lower = append(lower, s)
			}
		}
		for _, s := range lower {
			list = append(list, b.variants(k, s, true, allowed)...)
		}
		return list
	}
	var one []*option
	for s := range b.t.socket {
		one = append(one, aligned(func(i int) bool { return b.onlyOn(i, int32(s)) })...)
	}
	if len(one) > 0 {
		return one
	}
	return aligned(func(int) bool { return true })
}

func (b *balance) onlyOn(i int, socket int32) bool {
	for _, s := range b.t.node[b.nodes[i]].segments {
		if b.t.segments[s].socket != socket {
			return false
		}
	}
	return true
}

// variants lists the options of one share: one for each number of full
// rounds that the remainder can take. None if no k nodes can do it.
func (b *balance) variants(k, share int, poor bool, allowed func(i int) bool) []*option {
	items := make([]item, len(b.free))
	q := (b.want - share*k) / b.group
	var capacity []int
	owed := poor
	for i, a := range b.free {
		if a < share || !allowed(i) {
			continue
		}
		items[i] = newItem(a, share, b.group)
		capacity = append(capacity, items[i].groups)
		owed = owed && !items[i].least
	}
	if len(capacity) < k || owed {
		return nil
	}
	slices.Sort(capacity)
	sum := 0
	for _, c := range capacity[len(capacity)-k:] {
		sum += c
	}
	if sum < q {
		return nil
	}
	list := []*option{{items: items, deal: q, poor: poor}}
	for r := 1; r < min(q, capacity[len(capacity)-1]); r++ {
		list = append(list, &option{items: items, deal: q, rounds: r, poor: poor})
	}
	return list
}

func newItem(a, share, group int) item {
	left := a - share
	return item{
		allowed: true,
		gain:    int64(a)*int64(a) - int64(left)*int64(left),
		left:    int64(left),
		groups:  left / group,
		least:   left < group,
	}
}

// bound is more than any choice of the option can gain: the best k nodes,
// dealt without any order, except that with full rounds some node gives one
// more group than there are rounds.
func (o *option) bound(k int, g int64) int64 {
	if o.rounds == 0 {
		return math.MaxInt64
	}
	var best []item
	for _, it := range o.items {
		if it.allowed {
			best = append(best, it)
		}
	}
	slices.SortFunc(best, func(a, b item) int { return int(b.left - a.left) })
	best = best[:k]
	given := make([]int, k)
	total := int64(0)
	for i := range best {
		total += best[i].gain
	}
	step := func(i int) int64 { return g * (2*best[i].left - g*int64(2*given[i]+1)) }
	for q := range o.deal {
		pick := 0
		if q > o.rounds {
			pick = -1
			for i := range best {
				if given[i] < best[i].groups && (pick < 0 || step(i) > step(pick)) {
					pick = i
				}
			}
			if pick < 0 {
				break
			}
		}
		total += step(pick)
		given[pick]++
	}
	return total
}

// dealRemainder fixes the share of the chosen nodes and finds which of them
// take the remainder: the largest subset, and of those the first, that gains
// enough.
func (b *balance) dealRemainder(k int, least int64) {
	b.share = b.evenShare(k)
	if b.t.opts.AlignSockets {
		for i, in := range b.chosen {
			if in {
				b.share = min(b.share, b.free[i]/b.group*b.group)
			}
		}
	}
	b.extra = make([]int, len(b.free))
	q := (b.want - b.share*k) / b.group
	if q == 0 {
		return
	}
	var takers []int
	items := []item{}
	for i, in := range b.chosen {
		if !in {
			continue
		}
		it := newItem(b.free[i], b.share, b.group)
		least -= it.gain
		it.gain, it.least = 0, false
		if it.groups > 0 {
			takers = append(takers, i)
			items = append(items, it)
		}
	}
	members := b.remainderSet(items, q, least)
	var set []int
	for j, in := range members {
		if in {
			set = append(set, takers[j])
		}
	}
	deal(set, func(i int) int { return (b.free[i] - b.share) / b.group }, q, b.extra)
}

func (b *balance) remainderSet(items []item, q int, least int64) []bool {
	g := int64(b.group)
	var options []*option
	for r := range q {
		o := &option{items: items, deal: q, rounds: r}
		if o.bound(len(items), g) >= least {
			o.fill(len(items), false, g)
			options = append(options, o)
		}
		if r > 0 && r < q-1 {
			continue // subsets by full rounds overlap in size: compare them together
		}
		for count := len(items); count >= 1; count-- {
			var able []*option
			for _, o := range options {
				if o.best(count) >= least {
					able = append(able, o)
				}
			}
			if len(able) > 0 {
				return first(able, count, least, false, g)
			}
		}
	}
	return nil
}
