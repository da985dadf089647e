package numa

import (
	"fmt"
	"slices"
)

// linkValue rates the path between two devices, higher is nearer. The scale
// is that of go-gpuallocator's best-effort policy
// (github.com/NVIDIA/go-gpuallocator, gpuallocator/besteffort_policy.go): ten
// for each step from SYS to PIX, a hundred for each NVLink.
func linkValue(k LinkKind, count int) int64 {
	if k == LinkNV {
		return 100 * int64(max(count, 1))
	}
	return 10 * int64(k)
}

// nvlinkBandwidth is what one NVLink moves in one direction, in MB/s, from
// its second generation on; it turns a bandwidth without count into a count.
const nvlinkBandwidth = 25_000

func (l *Layout) compileDevices(m *Machine) error {
	l.devices = slices.Clone(m.Devices)
	for i := range l.devices {
		d := &l.devices[i]
		if d.Name == "" {
			return machineError("Devices[%d].Name is empty", i)
		}
		if _, ok := l.deviceAt[d.Name]; ok {
			return machineError("Devices[%d].Name = %q is used twice", i, d.Name)
		}
		l.deviceAt[d.Name] = i
		d.Nodes = d.Nodes.And(l.all) // the kubelet, too, drops nodes it does not know
	}
	l.affinity = make([][]int64, len(l.devices))
	for i := range l.affinity {
		l.affinity[i] = make([]int64, len(l.devices))
		for j := range i {
			v := l.nearness(&l.devices[i], &l.devices[j])
			l.affinity[i][j], l.affinity[j][i] = v, v
		}
	}
	for i, k := range m.Links {
		if k.A < 0 || k.B < 0 || k.A >= len(l.devices) || k.B >= len(l.devices) || k.A == k.B {
			return machineError("Links[%d] joins devices %d and %d of %d", i, k.A, k.B, len(l.devices))
		}
		count := k.Count
		if count == 0 && k.Bandwidth > 0 {
			count = int((k.Bandwidth + nvlinkBandwidth - 1) / nvlinkBandwidth)
		}
		if v := linkValue(k.Kind, count); v > l.affinity[k.A][k.B] {
			l.affinity[k.A][k.B], l.affinity[k.B][k.A] = v, v
		}
	}
	return nil
}

// nearness rates two devices between which no link is known.
func (l *Layout) nearness(a, b *Device) int64 {
	switch {
	case a.Parent != "" && a.Parent == b.Parent:
		return linkValue(LinkPIX, 0)
	case a.Nodes.Intersects(&b.Nodes):
		return linkValue(LinkNODE, 0)
	case a.Nodes.IsEmpty() || b.Nodes.IsEmpty():
		return linkValue(LinkUnknown, 0)
	}
	return linkValue(LinkSYS, 0)
}

// Affinity rates how near two devices are to each other, by name: 100 for
// each NVLink between them, otherwise 10 (SYS), 20 (NODE), 30 (PHB), 40 (PXB)
// or 50 (PIX), 0 if nothing is known.
func (l *Layout) Affinity(a, b string) int64 {
	i, ok := l.deviceAt[a]
	j, ok2 := l.deviceAt[b]
	if !ok || !ok2 {
		return 0
	}
	return l.affinity[i][j]
}

// BestConnected chooses n of the named devices, the ones of fixed being
// chosen already, so that the sum of [Layout.Affinity] over all pairs is the
// largest possible; ties go to the devices that Machine.Devices lists first.
// The search is exact up to the budget (see [MergeConfig.Budget]), and exact
// tells whether it was. Errors wrap [ErrRequest].
func (l *Layout) BestConnected(names, fixed []string, n, budget int) (chosen []string, exact bool, err error) {
	free, err := l.deviceIndexes(names)
	if err != nil {
		return nil, false, err
	}
	taken, err := l.deviceIndexes(fixed)
	if err != nil {
		return nil, false, err
	}
	if n < 0 || n > len(free) {
		return nil, false, fmt.Errorf("%w: BestConnected: n = %d of %d devices", ErrRequest, n, len(free))
	}
	if budget == 0 {
		budget = defaultBudget
	}
	w := work{left: budget}
	for _, i := range l.bestConnected([]quota{{free, n}}, taken, &w) {
		chosen = append(chosen, l.devices[i].Name)
	}
	return chosen, !w.exhausted(), nil
}

func (l *Layout) deviceIndexes(names []string) ([]int32, error) {
	var at []int32
	for _, name := range names {
		i, ok := l.deviceAt[name]
		if !ok || slices.Contains(at, int32(i)) {
			return nil, fmt.Errorf("%w: device %q is unknown or named twice", ErrRequest, name)
		}
		at = append(at, int32(i))
	}
	slices.Sort(at)
	return at, nil
}

// quota asks for n of the free devices of one resource.
type quota struct {
	free []int32 // indexes, ascending
	n    int
}

// bestConnected fills all quotas together so that the affinity among the
// chosen and to the fixed devices is the largest: GPUs near each other, and
// each next to a NIC. It is the search for the least spread, where a pair
// costs what it lacks of the highest affinity.
func (l *Layout) bestConnected(quotas []quota, fixed []int32, w *work) []int32 {
	var candidates, of, chosen []int32
	rule := &quotaRule{}
	size := 0
	for _, q := range quotas {
		if q.n >= len(q.free) {
			chosen = append(chosen, q.free...)
			continue
		}
		for _, d := range q.free {
			candidates = append(candidates, d)
			of = append(of, int32(len(rule.want)))
		}
		rule.want = append(rule.want, q.n)
		size += q.n
	}
	if size == 0 {
		return chosen
	}
	rule.prepare(of)
	fixed = append(slices.Clone(fixed), chosen...)
	highest := int64(0)
	for _, i := range candidates {
		highest = max(highest, slices.Max(l.affinity[i]))
	}
	mem := l.scratch.get()
	defer l.scratch.put(mem)
	s := search{candidates: candidates, size: size, rule: rule, work: w, mem: mem}
	s.measure(
		func(i int) int64 {
			cost := int64(0)
			for _, f := range fixed {
				cost += highest - l.affinity[candidates[i]][f]
			}
			return cost
		},
		func(i, j int) int64 { return highest - l.affinity[candidates[i]][candidates[j]] })
	in, ok := s.run()
	for i, d := range candidates {
		// Without an answer in the budget the first of each resource will do.
		if ok && in[i] || !ok && rule.firstOf(i) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// quotaRule asks for an exact number of candidates of each resource.
type quotaRule struct {
	of    []int32 // resource by position
	rank  []int   // by position, among those of its resource
	below [][]int // candidates by open and resource
	want  []int
	have  []int
}

func (r *quotaRule) prepare(of []int32) {
	r.of = of
	r.have = make([]int, len(r.want))
	r.rank = make([]int, len(of))
	r.below = make([][]int, len(of)+1)
	r.below[0] = make([]int, len(r.want))
	for i, q := range of {
		r.rank[i] = r.below[i][q]
		r.below[i+1] = slices.Clone(r.below[i])
		r.below[i+1][q]++
	}
}

func (r *quotaRule) firstOf(pos int) bool { return r.rank[pos] < r.want[r.of[pos]] }

func (r *quotaRule) take(pos int)     { r.have[r.of[pos]]++ }
func (r *quotaRule) undoTake(pos int) { r.have[r.of[pos]]-- }
func (r *quotaRule) leave(int)        {}
func (r *quotaRule) undoLeave(int)    {}

func (r *quotaRule) possible(open, more int) bool {
	for q, want := range r.want {
		if r.have[q] > want || more > 0 && r.have[q]+r.below[open][q] < want || more == 0 && r.have[q] != want {
			return false
		}
	}
	return true
}
