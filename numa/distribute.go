package numa

import (
	"fmt"
	"math"
)

// This file and balance.go spread a request over nodes (KEP-2902). The
// kubelet goes through all combinations of k nodes and, for each, through all
// subsets that could take the remainder; here the same choice comes from a
// dynamic program, see balance.go.

// distributeOrPack takes n CPUs as the options say.
func (t *taker) distributeOrPack(n int) error {
	if !t.opts.AcrossNodes || t.exactCores() {
		return t.pack(n) // there is no one size of core to share out
	}
	group := 1
	if t.opts.FullCores {
		group = max(1, t.threadsPerCore())
	}
	if n%group != 0 {
		return t.pack(n)
	}
	if n == 0 {
		return nil
	}
	if n > t.left {
		return fmt.Errorf("%w: %d CPUs of %d", ErrNotEnough, n, t.left)
	}
	b := t.newBalance(n, group)
	low, high := t.nodesToSpread(n, group, len(b.nodes))
	for k := low; k <= high; k++ {
		var ok bool
		var err error
		if t.opts.Compatible {
			ok, err = b.enumerate(k, true)
		} else {
			ok = b.solve(k)
		}
		if err != nil {
			return err
		}
		if ok {
			t.spread(b)
			return nil
		}
	}
	return t.pack(n)
}

// nodesToSpread is the range of the number of nodes that the kubelet tries
// (cpumanager, rangeNUMANodesNeededToSatisfy).
func (t *taker) nodesToSpread(n, group, available int) (low, high int) {
	ceil := func(a, b int) int { return (a-1)/b + 1 }
	perNode := ceil(ceil(len(t.cpuIDs), group), t.cpuNodes)
	groups := ceil(n, group)
	return ceil(groups, perNode), min(groups, available)
}

// spread takes what the balance decided, node by node, packed inside each:
// first the even share, then the remainder group by group.
func (t *taker) spread(b *balance) {
	sub := t.newTaker(CPUSet{}, CPUOptions{AcrossCores: t.opts.AcrossCores, Compatible: t.opts.Compatible})
	for i, node := range b.nodes {
		share := 0
		if b.chosen[i] {
			share = b.share
		}
		if share+b.extra[i] == 0 {
			continue
		}
		for _, c := range t.node[node].cpus {
			if t.free[c] {
				sub.count(c, 1)
			}
		}
		// Neither call can fail: the balance never asks for more than is free.
		_ = sub.pack(share)
		for range b.extra[i] {
			_ = sub.pack(b.group)
		}
		for _, c := range t.node[node].cpus {
			if sub.free[c] {
				sub.count(c, -1)
			}
		}
	}
	t.taken = sub.taken
}

// balance is the choice of nodes for one distributed allocation.
type balance struct {
	t     *taker
	nodes []int32 // with free CPUs, in the kubelet's order
	free  []int   // CPUs, by position
	want  int
	group int

	// The outcome, by position: the chosen nodes take share each, and extra
	// groups on top.
	share  int
	chosen []bool
	extra  []int
}

func (t *taker) newBalance(n, group int) *balance {
	nodes, _ := t.order()
	b := &balance{t: t, want: n, group: group}
	seen := make([]bool, len(t.node))
	for _, node := range nodes {
		if seen[node] { // a node on two packages is listed for each
			continue
		}
		seen[node] = true
		b.nodes = append(b.nodes, node)
		b.free = append(b.free, int(t.freeNode[node]))
	}
	return b
}

// rounded is the score that the kubelet compares: the population standard
// deviation of the free CPUs over all nodes, in thousandths, the mean being
// rounded to thousandths first. squares is the sum of the squares of the free
// CPUs; their sum and number are the same whatever is chosen.
func (b *balance) rounded(squares int64) int64 {
	n, sum := float64(len(b.free)), int64(-b.want)
	for _, a := range b.free {
		sum += int64(a)
	}
	mean := int64(math.Round(float64(sum) / n * 1000))
	v := 1_000_000*squares - 2000*mean*sum + int64(len(b.free))*mean*mean
	return int64(math.Round(math.Sqrt(float64(v)/1e6/n) * 1000))
}

// worstEqual is the largest sum of squares that rounds to the same score.
func (b *balance) worstEqual(squares int64) int64 {
	score := b.rounded(squares)
	step := int64(1)
	for b.rounded(squares+step) == score {
		step *= 2
	}
	low, high := squares+step/2, squares+step
	for high-low > 1 {
		mid := (low + high) / 2
		if b.rounded(mid) == score {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// squares is the sum of the squares of the free CPUs now.
func (b *balance) squares() int64 {
	sum := int64(0)
	for _, a := range b.free {
		sum += int64(a) * int64(a)
	}
	return sum
}

// evenShare is the share of each of k nodes, in whole groups. Aligned to
// packages, no node's share may exceed what the poorest of them has.
func (b *balance) evenShare(k int) int { return b.want / k / b.group * b.group }

// deal hands q groups to the members in turn, skipping who has none left, and
// returns how many each gets; false if they run out first.
func deal(members []int, capacity func(i int) int, q int, extra []int) bool {
	for q > 0 {
		dealt := false
		for _, i := range members {
			if q == 0 {
				break
			}
			if extra[i] < capacity(i) {
				extra[i]++
				q--
				dealt = true
			}
		}
		if !dealt {
			return false
		}
	}
	return true
}
