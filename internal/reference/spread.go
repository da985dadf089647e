package reference

import "github.com/berth-go/berth"

// spreadConstraints returns the constraints of one action that apply to the pod: its own, or if it has none at all the
// default ones with the pod's default selector.
func (c *Cluster) spreadConstraints(pod *berth.Pod, action berth.UnsatisfiableConstraintAction) []berth.TopologySpreadConstraint {
	constraints := pod.TopologySpreadConstraints
	own := len(constraints) > 0
	if !own {
		if pod.DefaultSpreadSelector == nil || selectsAll(pod.DefaultSpreadSelector) {
			return nil
		}
		constraints, _ = c.Config.defaultConstraints()
	}
	var result []berth.TopologySpreadConstraint
	for _, con := range constraints {
		if con.WhenUnsatisfiable != action {
			continue
		}
		if !own {
			con.LabelSelector = pod.DefaultSpreadSelector
		}
		result = append(result, con)
	}
	return result
}

func carriesKeys(node *berth.Node, constraints []berth.TopologySpreadConstraint) bool {
	for _, con := range constraints {
		if _, ok := node.Labels[con.TopologyKey]; !ok {
			return false
		}
	}
	return true
}

// included reports whether the constraint's policies let the node count.
func included(con *berth.TopologySpreadConstraint, pod *berth.Pod, node *berth.Node) bool {
	if con.NodeAffinityPolicy != berth.Ignore && !matchesNode(pod, node) {
		return false
	}
	return con.NodeTaintsPolicy != berth.Honor || toleratesNode(pod, node)
}

// countSelected counts the pods of a node that a constraint of pod counts.
func countSelected(con *berth.TopologySpreadConstraint, pod *berth.Pod, on []*berth.Pod) int64 {
	if selectsAll(con.LabelSelector) {
		return 0
	}
	var count int64
	for _, p := range on {
		if !p.Terminating && p.Namespace == pod.Namespace && selects(con.LabelSelector, p.Labels) {
			count++
		}
	}
	return count
}

// spreadCounts are the counts of matching pods by constraint and domain. Domains without pods are in it with 0.
type spreadCounts []map[string]int64

func (d *decision) countSpread() spreadCounts {
	counts := make(spreadCounts, len(d.hard))
	for i := range d.hard {
		counts[i] = map[string]int64{}
	}
	for n := range d.c.Nodes {
		node := &d.c.Nodes[n]
		if !carriesKeys(node, d.hard) {
			continue
		}
		for i := range d.hard {
			if con := &d.hard[i]; included(con, d.pod, node) {
				counts[i][node.Labels[con.TopologyKey]] += countSelected(con, d.pod, d.on[n])
			}
		}
	}
	return counts
}

// shiftSpread adds delta for a pod that comes to or leaves a node, as PodTopologySpread.updateWithPod does: neither
// {} nor a terminating pod is an exception here.
func (d *decision) shiftSpread(counts spreadCounts, p *berth.Pod, node *berth.Node, delta int64) {
	if p.Namespace != d.pod.Namespace || !carriesKeys(node, d.hard) {
		return
	}
	for i := range d.hard {
		con := &d.hard[i]
		if selects(con.LabelSelector, p.Labels) && included(con, d.pod, node) {
			counts[i][node.Labels[con.TopologyKey]] += delta
		}
	}
}

// filterSpread is plugins/podtopologyspread/filtering.go: the first constraint that fails decides.
func (d *decision) filterSpread(node *berth.Node, counts spreadCounts) verdict {
	for i := range d.hard {
		con := &d.hard[i]
		domain, ok := node.Labels[con.TopologyKey]
		if !ok {
			return unresolvable
		}
		var self int64
		if selects(con.LabelSelector, d.pod.Labels) {
			self = 1
		}
		if counts[i][domain]+self-globalMinimum(con, counts[i]) > int64(con.MaxSkew) {
			return resolvable
		}
	}
	return passes
}

// globalMinimum is the smallest count of a domain, or 0 if there are fewer domains than minDomains.
func globalMinimum(con *berth.TopologySpreadConstraint, counts map[string]int64) int64 {
	minDomains := 1
	if con.MinDomains != nil {
		minDomains = int(*con.MinDomains)
	}
	if len(counts) < minDomains || len(counts) == 0 {
		return 0
	}
	first := true
	var smallest int64
	for _, count := range counts {
		if first || count < smallest {
			smallest, first = count, false
		}
	}
	return smallest
}
