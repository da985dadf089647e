package numa

import "slices"

// coverRule asks that the set satisfies every demand of several resources:
// this is how preferred masks and narrowest masks are found.
type coverRule struct {
	dims    []coverDim
	own     int // dims that are demands, the joint one aside
	size    int
	mem     *scratch // for tables, which are made when they are first asked
	sockets *socketRule
}

// coverDim is one demand with what the members give so far.
type coverDim struct {
	need   int64
	weight []int64 // by position: what the node gives, shared supplies included
	single []int64
	have   int64
	top    []int64 // by open and count: the most that count of the open positions give
	width  int
	shared []sharedSupply
	at     [][]int32 // shared supplies by position
	hits   []int     // members by shared supply
}

// newCoverRule builds the rule for sets of size candidates that satisfy the
// resources. A last dimension stands for all the others at once: for each
// demand the share of the need that a node gives, added up. It cuts off sets
// that satisfy any demand, but not all of them together.
func newCoverRule(candidates []int32, size int, mem *scratch, needs ...[]weights) *coverRule {
	count := 0
	for _, ws := range needs {
		count += len(ws)
	}
	c := mem.covers.one()
	c.dims = mem.dims.take(count + 1)[:0]
	for _, ws := range needs {
		for i := range ws {
			c.dims = append(c.dims, newCoverDim(candidates, &ws[i], mem))
		}
	}
	c.own = count
	if count > 1 {
		c.dims = append(c.dims, jointDim(c.dims, len(candidates), mem))
	}
	c.size, c.mem = size, mem
	return c
}

func newCoverDim(candidates []int32, w *weights, mem *scratch) coverDim {
	d := coverDim{need: w.need, weight: w.single}
	if len(candidates) != len(w.single) {
		d.weight = mem.wide.take(len(candidates))
		for i, n := range candidates {
			d.weight[i] = w.single[n]
		}
	}
	d.single = d.weight
	if len(w.shared) == 0 {
		return d
	}
	d.weight = slices.Clone(d.single)
	d.shared = w.shared
	d.hits = make([]int, len(w.shared))
	d.at = make([][]int32, len(candidates))
	for j, s := range w.shared {
		for _, n := range s.nodes {
			if i, ok := slices.BinarySearch(candidates, n); ok {
				d.at[i] = append(d.at[i], int32(j))
				d.weight[i] += s.amount
			}
		}
	}
	return d
}

// jointDim adds the other dimensions up, each scaled so that its need is one
// unit and no node counts for more than that. Rounding is upward, so it can
// only admit too much.
func jointDim(dims []coverDim, n int, mem *scratch) coverDim {
	const unit = 1 << 30
	j := coverDim{weight: mem.wide.take(n)}
	for i := range dims {
		d := &dims[i]
		if d.need <= 0 {
			continue
		}
		j.need += unit
		scale := unit / float64(d.need)
		for p, w := range d.weight {
			j.weight[p] += int64(float64(min(w, d.need))*scale) + 1
		}
	}
	j.single = j.weight
	return j
}

// prepare fills the table of what the heaviest of the first nodes give.
func (d *coverDim) prepare(size int, mem *scratch) {
	d.width = size + 1
	d.top = mem.wide.take((len(d.weight) + 1) * d.width)
	sorted := mem.wide.take(size + 1)[:0] // negated, so that insertCapped keeps the largest
	for open, w := range d.weight {
		sorted = insertCapped(sorted, -w, size)
		row := d.top[(open+1)*d.width:]
		sum := int64(0)
		for k, v := range sorted {
			sum -= v
			row[k+1] = sum
		}
		for k := len(sorted); k < size; k++ {
			row[k+1] = sum
		}
	}
}

func (d *coverDim) change(pos int, sign int) {
	d.have += int64(sign) * d.single[pos]
	if d.at == nil {
		return
	}
	for _, j := range d.at[pos] {
		d.hits[j] += sign
		if sign > 0 && d.hits[j] == 1 {
			d.have += d.shared[j].amount
		}
		if sign < 0 && d.hits[j] == 0 {
			d.have -= d.shared[j].amount
		}
	}
}

func (c *coverRule) change(pos, sign int) {
	for i := range c.dims {
		c.dims[i].change(pos, sign)
	}
	if c.sockets != nil {
		c.sockets.change(pos, sign)
	}
}

func (c *coverRule) take(pos int)      { c.change(pos, 1) }
func (c *coverRule) undoTake(pos int)  { c.change(pos, -1) }
func (c *coverRule) leave(pos int)     {}
func (c *coverRule) undoLeave(pos int) {}

func (c *coverRule) possible(open, more int) bool {
	for i := range c.dims {
		d := &c.dims[i]
		if d.top == nil {
			d.prepare(c.size, c.mem)
		}
		if d.have+d.top[open*d.width+more] < d.need {
			return false
		}
	}
	return c.sockets == nil || c.sockets.possible(open, more)
}

// socketRule asks that the set spans an exact number of packages.
type socketRule struct {
	of    [][]int32 // packages by position
	count []int     // members by package
	span  int
	want  int
}

func (s *socketRule) change(pos, sign int) {
	for _, p := range s.of[pos] {
		s.count[p] += sign
		if sign > 0 && s.count[p] == 1 {
			s.span++
		}
		if sign < 0 && s.count[p] == 0 {
			s.span--
		}
	}
}

func (s *socketRule) possible(open, more int) bool {
	if s.span > s.want || more == 0 || open == 0 {
		return s.span == s.want
	}
	return true
}
