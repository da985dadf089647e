package numa

import "math"

// enumerate makes the choice of solve the way the kubelet does, by going
// through all combinations (cpumanager, takeByTopologyNUMADistributed). With
// alias it also repeats kubernetes#141238: a combination is remembered as a
// slice whose memory later combinations may overwrite, which happens at the
// sizes where append has room to spare. It is the compatible mode and the
// reference that solve is tested against.
func (b *balance) enumerate(k int, alias bool) (bool, error) {
	e := enumeration{balance: b, alias: alias, best: math.MaxFloat64}
	var err error
	each(indexes(len(b.free)), k, alias, func(combo []int) bool {
		if e.best == 0 && (!b.t.opts.AlignSockets || e.bestAligned) {
			return false
		}
		err = e.consider(combo)
		return err == nil
	})
	if err != nil || e.combo == nil {
		return false, err
	}
	b.share = b.evenShare(k)
	b.chosen = make([]bool, len(b.free))
	b.extra = make([]int, len(b.free))
	for _, i := range e.combo {
		b.chosen[i] = true
		b.share = min(b.share, b.free[i]/b.group*b.group)
	}
	if !deal(e.remainder, func(i int) int {
		if b.chosen[i] {
			return (b.free[i] - b.share) / b.group
		}
		return b.free[i] / b.group // of an overwritten combination
	}, (b.want-b.share*k)/b.group, b.extra) {
		return false, ErrEndless
	}
	return true, nil
}

type enumeration struct {
	*balance
	alias       bool
	best        float64
	bestAligned bool
	combo       []int
	remainder   []int
}

func (e *enumeration) consider(combo []int) error {
	k, g := len(combo), e.group
	sum, groups, share := 0, 0, e.evenShare(k)
	for _, i := range combo {
		sum += e.free[i]
		groups += e.free[i] / g
		if e.t.opts.AlignSockets {
			share = min(share, e.free[i]/g*g)
		}
	}
	if sum < e.want || groups*g < e.want {
		return nil
	}
	after := append([]int(nil), e.free...)
	for _, i := range combo {
		if e.free[i] < share {
			return nil
		}
		after[i] -= share
	}
	score, remainder, err := e.deal(combo, after, e.want-share*k)
	if err != nil {
		return err
	}
	aligned := e.t.opts.AlignSockets && e.onePackage(combo)
	better := score < e.best
	if e.t.opts.AlignSockets && aligned != e.bestAligned {
		better = aligned
	}
	if better {
		e.best, e.combo, e.remainder, e.bestAligned = score, combo, remainder, aligned
	}
	return nil
}

// deal tries all subsets of the combination for the remainder, large ones
// first.
func (e *enumeration) deal(combo, after []int, rest int) (float64, []int, error) {
	if rest == 0 {
		return e.score(after), nil, nil
	}
	var takers []int
	for _, i := range combo {
		if after[i] >= e.group {
			takers = append(takers, i)
		}
	}
	best, chosen := math.MaxFloat64, []int(nil)
	var err error
	for size := len(takers); size >= 1; size-- {
		each(takers, size, e.alias, func(subset []int) bool {
			sum := 0
			for _, i := range subset {
				sum += after[i]
			}
			if sum < rest {
				return true
			}
			extra := make([]int, len(after))
			if !deal(subset, func(i int) int { return after[i] / e.group }, rest/e.group, extra) {
				if e.alias {
					err = ErrEndless
				}
				return err == nil
			}
			left := append([]int(nil), after...)
			for i := range left {
				left[i] -= extra[i] * e.group
			}
			if s := e.score(left); s < best {
				best, chosen = s, subset
			}
			return true
		})
		if err != nil {
			break
		}
	}
	return best, chosen, err
}

func (e *enumeration) score(free []int) float64 {
	squares := int64(0)
	for _, a := range free {
		squares += int64(a) * int64(a)
	}
	return float64(e.rounded(squares))
}

func (e *enumeration) onePackage(combo []int) bool {
	first := e.t.segments[e.t.node[e.nodes[combo[0]]].segments[0]].socket
	for _, i := range combo {
		if !e.onlyOn(i, first) {
			return false
		}
	}
	return true
}

func indexes(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

// each calls f for the combinations of k of the list, in order, until it
// returns false. With alias, prefixes grow by append and share their spare
// capacity; without, f owns each combination.
func each(list []int, k int, alias bool, f func([]int) bool) {
	var walk func(start, k int, prefix []int) bool
	walk = func(start, k int, prefix []int) bool {
		if k == 0 {
			return f(prefix)
		}
		for i := start; i <= len(list)-k; i++ {
			if !alias {
				prefix = prefix[:len(prefix):len(prefix)]
			}
			if !walk(i+1, k-1, append(prefix, list[i])) {
				return false
			}
		}
		return true
	}
	if k >= 1 {
		walk(0, k, []int{})
	}
}
