package gpu

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-go/berth"
)

// Typical is a kind of pod and its share of the workload (paper section 3.1: the target workload M and its p_m).
type Typical struct {
	CPU, Milli int64
	Count      int
	Models     []string
	Share      float64
}

// TypicalPods returns the kinds of pods that make up the first 95 % of the list, most frequent first, and the number of
// all kinds.
func TypicalPods(pods []*berth.Pod) (typical []Typical, kinds int) {
	counts := make(map[kind]int)
	for _, p := range pods {
		counts[kindOf(p)]++
	}
	var all []kind
	for k := range counts {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kind) int { // all descending
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.milli, a.milli),
			cmp.Compare(b.count, a.count), cmp.Compare(b.models, a.models))
	})
	taken, n := 0, 0
	for 100*taken < 95*len(pods) {
		taken += counts[all[n]]
		n++
	}
	total := float64(len(pods))
	for _, k := range all[:n] {
		t := Typical{CPU: k.cpu, Milli: k.milli, Count: k.count, Share: (float64(counts[k]) / total) / (float64(taken) / total)}
		if k.models != "" {
			t.Models = strings.Split(k.models, "|")
		}
		typical = append(typical, t)
	}
	return typical, len(all)
}

// Fragmentation returns the GPU milli of the node that the typical pods, weighted by their shares, cannot use (paper section
// 3.2). The six parts and the order of the additions are those of the authors' code, so that the result is the same to the
// last bit.
func Fragmentation(n *Node, typical []Typical) float64 {
	var gpuAndCPUShort, gpuShortOrUnusable, cpuShort, noGPU, noGPUCPUShort, otherModel float64
	total := float64(freeGPU(n))
	for _, t := range typical {
		enoughCPU := n.CPU >= t.CPU
		enoughGPU := countFitting(n, t.Milli) >= t.Count
		switch {
		case t.Count == 0 && enoughCPU:
			noGPU += float64(t.Share * total)
		case t.Count == 0:
			noGPUCPUShort += float64(t.Share * total)
		case !allows(t.Models, n.Spec.GPUs.Model):
			otherModel += float64(t.Share * total)
		case !enoughGPU && !enoughCPU:
			gpuAndCPUShort += float64(t.Share * total)
		case !enoughGPU:
			gpuShortOrUnusable += float64(t.Share * total)
		case !enoughCPU:
			cpuShort += float64(t.Share * total)
		default:
			var unusable int64
			for _, free := range n.GPU {
				if free < t.Milli {
					unusable += free
				}
			}
			gpuShortOrUnusable += float64(t.Share * float64(unusable))
		}
	}
	return gpuAndCPUShort + gpuShortOrUnusable + cpuShort + noGPU + noGPUCPUShort + otherModel
}
