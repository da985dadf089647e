package numa

import (
	"math"
	"slices"
)

// search finds the best set of exactly size nodes out of candidates: the one
// with the least spread if measured, and of those the smallest integer.
//
// Spread is the sum of what the members cost alone and in pairs. It decides the candidates from the highest down, leaving out before taking
// in, so that sets come up in the order of their integers and the first of
// equal spread is the answer. Subtrees are cut by rule (can the set still
// satisfy the resources?) and by bound (can the spread still be beaten?).
type search struct {
	candidates []int32 // dense node indexes, ascending
	size       int
	rule       rule
	work       *work
	mem        *scratch

	pair    []int64 // symmetric, by candidate position; nil unless measured
	nearest []int64 // by open, position and count: sum of the count smallest pairs with positions below open
	linked  []int64 // by position: self + pairs with the members so far
	spread  int64   // of the members so far

	// class gives candidates that no demand tells apart the same number. Of equal nodes the
	// lower is always the better choice, so none is left out below a taken
	// twin. Nil if distances or packages tell twins apart.
	class []int32
	taken []int32 // members by class

	in    []bool // by position
	found bool
	best  []bool
	limit int64 // spread has to stay below
}

// rule tells whether a partial set can still become an answer. Decisions
// arrive from the highest candidate position down and are taken back in
// reverse order.
type rule interface {
	take(pos int)
	leave(pos int)
	undoTake(pos int)
	undoLeave(pos int)
	// possible must be exact when more is 0, and otherwise may only err by
	// saying yes. Candidates 0..open-1 are undecided, of which more will be
	// taken.
	possible(open, more int) bool
}

// work counts search steps against a budget.
type work struct {
	left int
	done int
}

func (w *work) spend() bool {
	w.done++
	w.left--
	return w.left >= 0
}

func (w *work) exhausted() bool { return w.left < 0 }

// run returns the membership of the best set by candidate position.
func (s *search) run() ([]bool, bool) {
	if s.size > len(s.candidates) {
		return nil, false
	}
	s.in = s.mem.flags.take(len(s.candidates))
	s.limit = math.MaxInt64
	if s.pair != nil {
		s.seed()
	}
	s.descend(len(s.candidates), s.size)
	return s.best, s.found
}

// descend decides position open-1 with more members to go. It reports whether
// the search is over.
func (s *search) descend(open, more int) bool {
	if !s.work.spend() {
		return true
	}
	if open < more || !s.rule.possible(open, more) {
		return false
	}
	if s.pair != nil && s.bound(open, more) >= s.limit {
		return false
	}
	if more == 0 {
		return s.accept()
	}
	pos := open - 1
	if s.class == nil || s.taken[s.class[pos]] == 0 {
		s.rule.leave(pos)
		over := s.descend(pos, more)
		s.rule.undoLeave(pos)
		if over {
			return true
		}
	}
	s.take(pos, 1)
	over := s.descend(pos, more-1)
	s.take(pos, -1)
	return over
}

func (s *search) take(pos int, sign int64) {
	s.in[pos] = sign > 0
	if sign > 0 {
		s.rule.take(pos)
	} else {
		s.rule.undoTake(pos)
	}
	if s.class != nil {
		s.taken[s.class[pos]] += int32(sign)
	}
	if s.pair == nil {
		return
	}
	if sign > 0 {
		s.spread += s.linked[pos]
	}
	row := s.pair[pos*len(s.candidates):]
	for i := range pos {
		s.linked[i] += sign * row[i]
	}
	if sign < 0 {
		s.spread -= s.linked[pos]
	}
}

// accept records the current set. Without distances the first one is best.
func (s *search) accept() bool {
	if s.pair == nil {
		s.found, s.best = true, slices.Clone(s.in)
		return true
	}
	s.found, s.best, s.limit = true, slices.Clone(s.in), s.spread
	return false
}

// bound is the least spread that any completion can have: each new member
// pays itself, its pairs with present members, and half of its cheapest pairs
// with as many others as will be new besides it.
func (s *search) bound(open, more int) int64 {
	if more == 0 {
		return s.spread
	}
	row := s.nearest[open*len(s.candidates)*s.size:]
	var cheapest [64]int64
	costs := cheapest[:0]
	for i := range open {
		c := 2*s.linked[i] + row[i*s.size+more-1]
		costs = insertCapped(costs, c, more)
	}
	sum := int64(0)
	for _, c := range costs {
		sum += c
	}
	return s.spread + (sum+1)/2
}

// insertCapped keeps the limit smallest values in ascending order.
func insertCapped(sorted []int64, v int64, limit int) []int64 {
	i := len(sorted)
	if i < limit {
		sorted = append(sorted, v)
	} else {
		if v >= sorted[i-1] {
			return sorted
		}
		i--
	}
	for ; i > 0 && sorted[i-1] > v; i-- {
		sorted[i] = sorted[i-1]
	}
	sorted[i] = v
	return sorted
}

// measure prepares the spread: self gives what a candidate costs alone, pair
// what two cost together.
func (s *search) measure(self func(i int) int64, pair func(i, j int) int64) {
	m := len(s.candidates)
	s.pair = s.mem.wide.take(m * m)
	s.linked = s.mem.wide.take(m)
	s.nearest = s.mem.wide.take((m + 1) * m * s.size)
	for i := range m {
		s.linked[i] = self(i)
		for j := range i {
			d := pair(i, j)
			s.pair[i*m+j], s.pair[j*m+i] = d, d
		}
	}
	width := s.size
	rows := s.mem.wide.take(m * width) // the smallest pairs so far, ascending
	for open := 1; open <= m; open++ {
		last := open - 1
		for i := range open {
			if i < last {
				insertCapped(rows[i*width:i*width+min(width, last-1)], s.pair[i*m+last], width)
				insertCapped(rows[last*width:last*width+min(width, i)], s.pair[i*m+last], width)
			}
			sums := s.nearest[(open*m+i)*width:]
			sum := int64(0)
			for k, d := range rows[i*width : i*width+min(width-1, last)] {
				sum += d
				sums[k+1] = sum
			}
		}
	}
}

// seed sets the limit to one above the best of the sets grown around each
// candidate by always adding the nearest: the search then has to match them,
// and a good limit from the start is most of the pruning. What matches comes
// up in integer order, so that ties still go to the smallest integer.
func (s *search) seed() {
	m := len(s.candidates)
	cost := s.mem.wide.take(m)
	member := s.mem.flags.take(m)
	for start := range m {
		copy(cost, s.linked)
		clear(member)
		next, sum := start, int64(0)
		for k := 0; ; {
			member[next] = true
			sum += cost[next]
			for i, d := range s.pair[next*m : next*m+m] {
				cost[i] += d
			}
			if k++; k == s.size {
				break
			}
			next = -1
			for i := range m {
				if !member[i] && (next < 0 || cost[i] < cost[next]) {
					next = i
				}
			}
		}
		if sum < s.limit-1 && s.obeys(member) {
			s.limit = sum + 1
		}
	}
}

// obeys reports whether the rule accepts a whole set.
func (s *search) obeys(member []bool) bool {
	for pos := len(member) - 1; pos >= 0; pos-- {
		if member[pos] {
			s.rule.take(pos)
		} else {
			s.rule.leave(pos)
		}
	}
	ok := s.rule.possible(0, 0)
	for pos, in := range member {
		if in {
			s.rule.undoTake(pos)
		} else {
			s.rule.undoLeave(pos)
		}
	}
	return ok
}

// findTwins gives candidates that no demand of the covers tells apart the
// number of the lowest of them.
func (s *search) findTwins(covers ...*coverRule) {
	for _, c := range covers {
		if c.sockets != nil {
			return
		}
	}
	s.class = s.mem.index.take(len(s.candidates))
	for i := range s.class {
		s.class[i] = -1
		for j := range i {
			if s.class[j] == int32(j) && sameWeights(covers, i, j) {
				s.class[i] = int32(j)
				break
			}
		}
		if s.class[i] < 0 {
			s.class[i] = int32(i)
		}
	}
	s.taken = s.mem.index.take(len(s.candidates))
}

func sameWeights(covers []*coverRule, i, j int) bool {
	for _, c := range covers {
		for k := range c.dims {
			d := &c.dims[k]
			if d.weight[i] != d.weight[j] || d.at != nil && len(d.at[i])+len(d.at[j]) > 0 {
				return false
			}
		}
	}
	return true
}
