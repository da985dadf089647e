package numa

// reachRule asks that the set is an intersection of masks, one from each
// resource: every node outside it is left out by at least one resource that
// can do without. This is how the kubelet's non-preferred hints come about.
//
// It is a generalised assignment of the nodes left out to the resources, each
// with what it can spare. Two shortcuts settle nearly all cases: a resource
// that the set satisfies by itself can leave out everything else, and a node
// that gives a resource nothing costs it nothing.
type reachRule struct {
	alone []*coverRule // one a resource: does the set itself satisfy it?
	// parts are one a resource, made by spares when first needed.
	parts  []*spare
	spares func() []*spare
	fixed  []bool  // by resource
	out    []int32 // positions left out so far, highest first
	work   *work
	mem    *scratch

	failed map[string]bool // states of the assignment at hand, see memoAfter
	tries  int
}

// spare is what one resource still has while it gives up nodes.
type spare struct {
	dims []spareDim
	// fixed resources can give up nothing: their mask is decided.
	fixed bool
}

// spareDim is one demand with what is kept.
type spareDim struct {
	need   int64
	have   int64
	single []int64 // by position
	shared []sharedSupply
	at     [][]int32
	kept   []int // nodes kept, by shared supply
}

// newSpare starts with all the nodes that the resource's masks are drawn
// from, inside the candidates and outside. dims are its demands on the
// candidates.
func newSpare(dims []coverDim, q *need, fixed bool, mem *scratch) *spare {
	s := mem.spares.one()
	*s = spare{fixed: fixed, dims: mem.kept.take(len(dims))}
	for i := range dims {
		w, d := &q.free[i], &s.dims[i]
		*d = spareDim{need: w.need, single: dims[i].single, shared: w.shared, at: dims[i].at}
		for n, ok := range q.allowed {
			if ok {
				d.have += w.single[n]
			}
		}
		if len(w.shared) == 0 {
			continue
		}
		d.kept = make([]int, len(w.shared))
		for j, sh := range w.shared {
			for _, n := range sh.nodes {
				if q.allowed[n] {
					d.kept[j]++
				}
			}
			if d.kept[j] > 0 {
				d.have += sh.amount
			}
		}
	}
	return s
}

// give leaves out (sign 1) or takes back (sign -1) a position and reports
// whether the demands still hold.
func (s *spare) give(pos, sign int) bool {
	ok := true
	for i := range s.dims {
		d := &s.dims[i]
		d.have -= int64(sign) * d.single[pos]
		if d.at != nil {
			for _, j := range d.at[pos] {
				d.kept[j] -= sign
				if sign > 0 && d.kept[j] == 0 {
					d.have -= d.shared[j].amount
				}
				if sign < 0 && d.kept[j] == 1 {
					d.have += d.shared[j].amount
				}
			}
		}
		ok = ok && d.have >= d.need
	}
	return ok
}

// costs reports whether giving up the position costs the resource anything.
func (s *spare) costs(pos int) bool {
	for i := range s.dims {
		d := &s.dims[i]
		if d.single[pos] != 0 || d.at != nil && len(d.at[pos]) > 0 {
			return true
		}
	}
	return false
}

func (r *reachRule) take(pos int) {
	for _, a := range r.alone {
		a.take(pos)
	}
}

func (r *reachRule) undoTake(pos int) {
	for _, a := range r.alone {
		a.undoTake(pos)
	}
}

func (r *reachRule) leave(pos int)     { r.out = append(r.out, int32(pos)) }
func (r *reachRule) undoLeave(pos int) { r.out = r.out[:len(r.out)-1] }

func (r *reachRule) possible(open, more int) bool {
	for i, a := range r.alone {
		if !r.fixed[i] && a.possible(open, more) {
			return true
		}
	}
	out := r.out
	if more == 0 || open == more {
		// Everything is decided: what is open is all out or all in.
		for pos := open - 1; pos >= 0 && more == 0; pos-- {
			out = append(out, int32(pos))
		}
	}
	// out aliases r.out beyond its length only, which leave overwrites.
	return r.assign(out)
}

// assign reports whether the resources can share out the given positions.
func (r *reachRule) assign(out []int32) bool {
	if r.parts == nil {
		r.parts = r.spares()
	}
	costly := r.mem.index.take(len(out))[:0]
	for _, pos := range out {
		free := false
		for _, p := range r.parts {
			if !p.fixed && !p.costs(int(pos)) {
				free = true
				break
			}
		}
		if !free {
			costly = append(costly, pos)
		}
	}
	r.failed, r.tries = nil, 0
	return len(costly) == 0 || r.place(costly)
}

// memoAfter is the number of tries from which on an assignment remembers
// the states that failed; nearly all are settled before.
const memoAfter = 64

// place tries the resources in turn for the first position.
func (r *reachRule) place(out []int32) bool {
	if len(out) == 0 {
		return true
	}
	if !r.work.spend() {
		return false
	}
	if r.tries++; r.tries == memoAfter {
		r.failed = map[string]bool{}
	}
	key := ""
	if r.failed != nil {
		if key = r.key(len(out)); r.failed[key] {
			return false
		}
	}
	for _, p := range r.parts {
		if p.fixed {
			continue
		}
		ok := p.give(int(out[0]), 1) && r.place(out[1:])
		p.give(int(out[0]), -1)
		if ok {
			return true
		}
	}
	if key != "" {
		r.failed[key] = true
	}
	return false
}

// key writes the state of an assignment: how many positions are left and
// what each resource still has. Shared supplies are told by their counts.
func (r *reachRule) key(left int) string {
	b := []byte{byte(left), byte(left >> 8)}
	for _, p := range r.parts {
		for i := range p.dims {
			d := &p.dims[i]
			for shift := 0; shift < 64; shift += 8 {
				b = append(b, byte(d.have>>shift))
			}
			for _, k := range d.kept {
				b = append(b, byte(k), byte(k>>8))
			}
		}
	}
	return string(b)
}
