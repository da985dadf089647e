package reference

import (
	"math"

	"github.com/berth-go/berth"
)

// scoreSpread is plugins/podtopologyspread/scoring.go. A pod without soft constraints scores 0 everywhere.
func (d *decision) scoreSpread(feasible []int) []int64 {
	scores := make([]int64, len(feasible))
	soft := d.c.spreadConstraints(d.pod, berth.ScheduleAnyway)
	if len(soft) == 0 {
		return scores
	}
	_, system := d.c.Config.defaultConstraints()
	requireAll := len(d.pod.TopologySpreadConstraints) > 0 || !system

	ignored := make([]bool, len(feasible))
	scored := 0
	for i, n := range feasible {
		ignored[i] = requireAll && !carriesKeys(&d.c.Nodes[n], soft)
		if !ignored[i] {
			scored++
		}
	}
	sums := make([]float64, len(feasible))
	for k := range soft {
		d.addSpread(sums, &soft[k], soft, feasible, ignored, scored, requireAll)
	}
	for i := range scores {
		scores[i] = int64(math.Round(sums[i]))
	}
	invert(scores, ignored)
	return scores
}

// addSpread adds one constraint's share to the sums: the count of the node's domain, weighed by the number of domains.
// A count by hostname is the node's own and ignores the policies.
func (d *decision) addSpread(sums []float64, con *berth.TopologySpreadConstraint, soft []berth.TopologySpreadConstraint,
	feasible []int, ignored []bool, scored int, requireAll bool) {
	hostname := con.TopologyKey == berth.LabelHostname
	counts := map[string]int64{}
	size := scored
	if !hostname {
		for i, n := range feasible {
			if !ignored[i] {
				counts[d.c.Nodes[n].Labels[con.TopologyKey]] = 0
			}
		}
		size = len(counts)
	}
	for n := range d.c.Nodes {
		node := &d.c.Nodes[n]
		if requireAll && !carriesKeys(node, soft) || !included(con, d.pod, node) {
			continue
		}
		domain := node.Labels[con.TopologyKey]
		if _, ok := counts[domain]; ok {
			counts[domain] += countSelected(con, d.pod, d.on[n])
		}
	}
	weight := math.Log(float64(size + 2))
	for i, n := range feasible {
		domain, ok := d.c.Nodes[n].Labels[con.TopologyKey]
		if !ok || ignored[i] {
			continue
		}
		count := counts[domain]
		if hostname {
			count = countSelected(con, d.pod, d.on[n])
		}
		share := float64(float64(count)*weight) + float64(con.MaxSkew-1)
		sums[i] += share
	}
}

// invert turns raw scores, of which few are good, into 0..100. Ignored nodes get 0.
func invert(scores []int64, ignored []bool) {
	lowest, highest := int64(math.MaxInt64), int64(0)
	for i, s := range scores {
		if !ignored[i] {
			lowest, highest = min(lowest, s), max(highest, s)
		}
	}
	for i, s := range scores {
		switch {
		case ignored[i]:
			scores[i] = 0
		case highest == 0:
			scores[i] = 100
		default:
			scores[i] = 100 * (highest + lowest - s) / highest
		}
	}
}
