package reference

import (
	"slices"

	"github.com/berth-go/berth"
)

func requiredAffinity(p *berth.Pod) []berth.PodAffinityTerm {
	if p.Affinity == nil || p.Affinity.PodAffinity == nil {
		return nil
	}
	return p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func requiredAntiAffinity(p *berth.Pod) []berth.PodAffinityTerm {
	if p.Affinity == nil || p.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// incomingSelects reports whether a term of the pod to be placed selects another pod. Its namespace selector, unless it
// is {}, selects among the namespaces that exist.
func (d *decision) incomingSelects(t *berth.PodAffinityTerm, other *berth.Pod) bool {
	_, exists := d.c.namespaceLabels(other.Namespace)
	return d.selectsNamespace(t, d.pod, other.Namespace, exists) && selects(t.LabelSelector, other.Labels)
}

// existingSelects reports whether a term of another pod selects the one to be placed.
func (d *decision) existingSelects(t *berth.PodAffinityTerm, owner *berth.Pod) bool {
	return d.selectsNamespace(t, owner, d.pod.Namespace, true) && selects(t.LabelSelector, d.pod.Labels)
}

func (d *decision) selectsNamespace(t *berth.PodAffinityTerm, owner *berth.Pod, namespace string, bySelector bool) bool {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return namespace == owner.Namespace
	}
	if slices.Contains(t.Namespaces, namespace) || selectsAll(t.NamespaceSelector) {
		return true
	}
	labels, _ := d.c.namespaceLabels(namespace)
	return bySelector && selects(t.NamespaceSelector, labels)
}

// incomingSelectsByAll reports whether a pod is selected by each of at least one required affinity term.
func (d *decision) incomingSelectsByAll(other *berth.Pod) bool {
	terms := requiredAffinity(d.pod)
	for i := range terms {
		if !d.incomingSelects(&terms[i], other) {
			return false
		}
	}
	return len(terms) > 0
}

// domain is a topology key and one of its values.
type domain struct{ key, value string }

// interPodCounts are the selected pods by domain: by the incoming pod's required affinity (all terms select the pod),
// by its required anti-affinity, and the placed pods whose required anti-affinity selects the incoming pod.
// Domains that count 0 are not in them.
type interPodCounts struct {
	affinity, antiAffinity, existing map[domain]int64
}

func (d *decision) countInterPod() interPodCounts {
	counts := interPodCounts{map[domain]int64{}, map[domain]int64{}, map[domain]int64{}}
	for n := range d.c.Nodes {
		for _, p := range d.on[n] {
			d.shiftInterPod(counts, p, &d.c.Nodes[n], 1)
		}
	}
	return counts
}

// shiftInterPod adds delta for a pod that comes to or leaves a node.
func (d *decision) shiftInterPod(counts interPodCounts, p *berth.Pod, node *berth.Node, delta int64) {
	shift := func(counts map[domain]int64, key string) {
		value, ok := node.Labels[key]
		if !ok {
			return
		}
		counts[domain{key, value}] += delta
		if counts[domain{key, value}] == 0 {
			delete(counts, domain{key, value})
		}
	}
	if d.incomingSelectsByAll(p) {
		for _, t := range requiredAffinity(d.pod) {
			shift(counts.affinity, t.TopologyKey)
		}
	}
	for _, t := range requiredAntiAffinity(d.pod) {
		if d.incomingSelects(&t, p) {
			shift(counts.antiAffinity, t.TopologyKey)
		}
	}
	for _, t := range requiredAntiAffinity(p) {
		if d.existingSelects(&t, p) {
			shift(counts.existing, t.TopologyKey)
		}
	}
}

// skipsInterPod reports whether the plugin has nothing to do in the cluster as it stands. It is then not consulted at
// all, not even about nominated pods.
func (d *decision) skipsInterPod(counts interPodCounts) bool {
	return len(requiredAffinity(d.pod)) == 0 && len(requiredAntiAffinity(d.pod)) == 0 && len(counts.existing) == 0
}

// filterInterPod is plugins/interpodaffinity/filtering.go without the alpha gate InterPodAffinityHostnameFastPath.
func (d *decision) filterInterPod(node *berth.Node, counts interPodCounts) verdict {
	if !d.affinityMet(node, counts) {
		return unresolvable
	}
	for _, t := range requiredAntiAffinity(d.pod) {
		if value, ok := node.Labels[t.TopologyKey]; ok && counts.antiAffinity[domain{t.TopologyKey, value}] > 0 {
			return resolvable
		}
	}
	for key, value := range node.Labels {
		if counts.existing[domain{key, value}] > 0 {
			return resolvable
		}
	}
	return passes
}

// affinityMet: the node carries every key, and each of its domains has a pod that all terms select; or there is no such
// pod in any domain yet and the pod would be the first of its kind.
func (d *decision) affinityMet(node *berth.Node, counts interPodCounts) bool {
	populated := true
	for _, t := range requiredAffinity(d.pod) {
		value, ok := node.Labels[t.TopologyKey]
		if !ok {
			return false
		}
		if counts.affinity[domain{t.TopologyKey, value}] <= 0 {
			populated = false
		}
	}
	return populated || len(counts.affinity) == 0 && d.incomingSelectsByAll(d.pod)
}
