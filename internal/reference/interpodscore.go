package reference

import "github.com/berth-go/berth"

func preferredAffinity(p *berth.Pod) []berth.WeightedPodAffinityTerm {
	if p.Affinity == nil || p.Affinity.PodAffinity == nil {
		return nil
	}
	return p.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
}

func preferredAntiAffinity(p *berth.Pod) []berth.WeightedPodAffinityTerm {
	if p.Affinity == nil || p.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
}

// scoreInterPod is plugins/interpodaffinity/scoring.go.
func (d *decision) scoreInterPod(nodes []*berth.Node) []int64 {
	scores := make([]int64, len(nodes))
	none := len(preferredAffinity(d.pod)) == 0 && len(preferredAntiAffinity(d.pod)) == 0
	if none && d.c.Config.IgnorePreferredTermsOfExistingPods {
		return scores
	}
	sums := map[domain]int64{}
	for n := range d.c.Nodes {
		for _, p := range d.on[n] {
			d.addPreferences(sums, p, &d.c.Nodes[n])
		}
	}
	for i, node := range nodes {
		for key, value := range node.Labels {
			scores[i] += sums[domain{key, value}]
		}
	}
	stretch(scores)
	return scores
}

// addPreferences adds what a placed pod makes of its node's domains: by the incoming pod's preferred terms and its own
// required and preferred ones.
func (d *decision) addPreferences(sums map[domain]int64, p *berth.Pod, node *berth.Node) {
	add := func(key string, weight int64) {
		if value, ok := node.Labels[key]; ok {
			sums[domain{key, value}] += weight
		}
	}
	for _, t := range preferredAffinity(d.pod) {
		if d.incomingSelects(&t.PodAffinityTerm, p) {
			add(t.PodAffinityTerm.TopologyKey, int64(t.Weight))
		}
	}
	for _, t := range preferredAntiAffinity(d.pod) {
		if d.incomingSelects(&t.PodAffinityTerm, p) {
			add(t.PodAffinityTerm.TopologyKey, -int64(t.Weight))
		}
	}
	if hard := d.c.Config.hardPodAffinityWeight(); hard > 0 {
		for _, t := range requiredAffinity(p) {
			if d.existingSelects(&t, p) {
				add(t.TopologyKey, int64(hard))
			}
		}
	}
	for _, t := range preferredAffinity(p) {
		if d.existingSelects(&t.PodAffinityTerm, p) {
			add(t.PodAffinityTerm.TopologyKey, int64(t.Weight))
		}
	}
	for _, t := range preferredAntiAffinity(p) {
		if d.existingSelects(&t.PodAffinityTerm, p) {
			add(t.PodAffinityTerm.TopologyKey, -int64(t.Weight))
		}
	}
}

// stretch maps scores to 0..100 from their minimum to their maximum; all equal become 0.
func stretch(scores []int64) {
	if len(scores) == 0 {
		return
	}
	lowest, highest := scores[0], scores[0]
	for _, s := range scores {
		lowest, highest = min(lowest, s), max(highest, s)
	}
	for i, s := range scores {
		scores[i] = 0
		if highest > lowest {
			scores[i] = int64(100 * (float64(s-lowest) / float64(highest-lowest)))
		}
	}
}
