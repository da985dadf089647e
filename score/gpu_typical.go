package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth"
)

// TypicalPod is a kind of pod that a cluster is to be kept fit for, and its share of the workload (FGD paper, section 3.1:
// the target workload).
type TypicalPod struct {
	MilliCPU int64
	GPU      berth.GPURequest
	// Share is the part of all pods that are of this kind, above 0 and at most 1.
	Share float64
}

// TypicalPods returns the kinds of pods in a sample, the most frequent first, until they hold coverage, in 0..1, of its
// pods; the shares are of these and add up to 1. Pods are of one kind if they ask for the same CPU, GPUs and models, in the
// order in which the models are named. The paper's coverage is 0.95. O(pods log pods). The result keeps the pods' model
// names.
func TypicalPods(pods []*berth.Pod, coverage float64) []TypicalPod {
	type kind struct {
		cpu, milli int64
		gpus       int
		models     string
	}
	counts := make(map[kind]int)
	example := make(map[kind]*berth.Pod)
	var kinds []kind
	for _, p := range pods {
		k := kind{p.Requests.MilliCPU, p.GPU.Milli, p.GPU.Count, strings.Join(p.GPU.Models, "|")}
		if counts[k]++; counts[k] == 1 {
			kinds = append(kinds, k)
			example[k] = p
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.milli, a.milli),
			cmp.Compare(b.gpus, a.gpus), cmp.Compare(b.models, a.models))
	})
	taken, n := 0, 0
	for n < len(kinds) && float64(taken) < coverage*float64(len(pods)) {
		taken += counts[kinds[n]]
		n++
	}
	all := float64(len(pods))
	typical := make([]TypicalPod, n)
	for i, k := range kinds[:n] {
		gpu := example[k].GPU
		gpu.Devices = nil
		typical[i] = TypicalPod{
			MilliCPU: k.cpu,
			GPU:      gpu,
			Share:    (float64(counts[k]) / all) / (float64(taken) / all), // in the authors' order, to the last bit
		}
	}
	return typical
}

// checkTypical reports the first typical pod that makes no sense.
func checkTypical(typical []TypicalPod) error {
	if len(typical) == 0 {
		return fmt.Errorf("%w: no typical pods", ErrConfig)
	}
	for i := range typical {
		t := &typical[i]
		g := &t.GPU
		switch {
		case !(t.Share > 0 && t.Share <= 1):
			return fmt.Errorf("%w: Typical[%d].Share is %v, not in (0, 1]", ErrConfig, i, t.Share)
		case t.MilliCPU < 0:
			return fmt.Errorf("%w: Typical[%d].MilliCPU is %d, negative", ErrConfig, i, t.MilliCPU)
		case g.Count == 0 && g.Milli != 0, g.Count == 1 && (g.Milli < 1 || g.Milli > berth.GPUMilli),
			g.Count > 1 && g.Milli != berth.GPUMilli, g.Count < 0:
			return fmt.Errorf("%w: Typical[%d].GPU asks for %d milli of %d devices", ErrConfig, i, g.Milli, g.Count)
		}
	}
	return nil
}
