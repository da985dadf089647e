package score

import (
	"math"
	"slices"

	"github.com/berth-go/berth/topology"
)

// FGD places a pod where it makes the least of the free GPUs useless for typical pods: Fragmentation Gradient Descent (Weng
// et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023,
// sections 3 and 4). Make one with NewFGD.
//
// The score is 100 / (1 + e^((after-before)/1000)), cut to an integer, where before and after are the fragmentation of the
// node in GPU milli; 50 if the pod changes nothing. The cut matters: scores that are equal after it fill the same nodes
// first, in the order of the graph.
type FGD struct {
	typical []TypicalPod
	allowed byModel[[]bool] // which typical pods may use it
}

// NewFGD returns the FGD for a workload of typical pods (see TypicalPods). The error wraps ErrConfig.
func NewFGD(typical []TypicalPod) (*FGD, error) {
	if err := checkTypical(typical); err != nil {
		return nil, err
	}
	return &FGD{typical: slices.Clone(typical)}, nil
}

// Name returns "FGD".
func (*FGD) Name() string { return "FGD" }

// Local promises that a score depends on pod class and node alone.
func (*FGD) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (*FGD) Concurrent() {}

// Score takes O(nodes * typical pods * GPUs), times GPUs for a share.
func (f *FGD) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	var trial []int64
	for part := range slices.Chunk(nodes, slowNodes) {
		if err := in.Context().Err(); err != nil {
			return err
		}
		for _, n := range part {
			column[n], _ = f.best(in, n, &trial)
		}
	}
	return nil
}

// slowNodes is how many nodes are scored between two looks at the context where one takes some 20 microseconds.
const slowNodes = 16

// PickDevices returns the GPU that Score took for a share: of those with the highest score the lowest. Whole ones are left
// to Graph.Bind, which takes the lowest free ones.
func (f *FGD) PickDevices(in *Input, n topology.NodeID) []int {
	if !isShare(&in.Pod.GPU) {
		return nil
	}
	var trial []int64
	_, d := f.best(in, n, &trial)
	return []int{d}
}

// best returns the score of node n, and for a share the GPU that it is for. trial is scratch memory.
func (f *FGD) best(in *Input, n topology.NodeID, trial *[]int64) (score int64, device int) {
	gpus := in.Graph.GPUFree(n)
	allowed := f.allowedOn(in.Graph.GPUModel(n))
	cpu := in.Graph.FreeMilliCPU(n)
	before := f.fragmentation(cpu, gpus, allowed)
	return tryDevices(in, gpus, trial, func(trial []int64) int64 {
		return gradient(before, f.fragmentation(cpu-in.Pod.Requests.MilliCPU, trial, allowed))
	})
}

// tryDevices places the pod on the GPUs of a node, in a copy, and returns what rate makes of it: for a share the best over
// the GPUs that fit, with the lowest of the best, for whole ones with the lowest free ones and no GPU (-1).
func tryDevices(in *Input, gpus []int64, scratch *[]int64, rate func(trial []int64) int64) (score int64, device int) {
	trial := append((*scratch)[:0], gpus...)
	*scratch = trial
	request := &in.Pod.GPU
	if !isShare(request) {
		for d, left := 0, request.Count; left > 0; d++ {
			if trial[d] >= request.Milli {
				trial[d] -= request.Milli
				left--
			}
		}
		return rate(trial), -1
	}
	device = -1
	for d, free := range gpus {
		if free < request.Milli {
			continue
		}
		trial[d] = free - request.Milli
		if s := rate(trial); device < 0 || s > score {
			score, device = s, d
		}
		trial[d] = free
	}
	return score, device
}

// gradient is the score of a change of fragmentation.
func gradient(before, after float64) int64 {
	return int64(100 * (1 / (1 + math.Exp(-(before-after)/1000))))
}

func (f *FGD) allowedOn(model string) []bool {
	allowed, ok := f.allowed.get(model)
	if !ok {
		allowed = make([]bool, len(f.typical))
		for i := range f.typical {
			models := f.typical[i].GPU.Models
			allowed[i] = len(models) == 0 || slices.Contains(models, model)
		}
		f.allowed.put(model, allowed)
	}
	return allowed
}

// fragmentation is the part of the free GPUs, in milli, that typical pods can't use, weighted by their shares: all that is
// free if the pod can't run here at all, else what is free on GPUs that are too full for it. The sums are kept apart and
// added up as in the authors' simulator, so that the result is the same to the last bit: rounding decides whether a pod
// that changes nothing scores 50 or 49.
func (f *FGD) fragmentation(cpu int64, gpus []int64, allowed []bool) float64 {
	var bothShort, gpuShort, cpuShort, noGPU, noGPUCPUShort, otherModel float64
	total := float64(freeMilli(gpus))
	for i := range f.typical {
		t := &f.typical[i]
		enoughCPU := cpu >= t.MilliCPU
		if t.GPU.Count == 0 {
			if enoughCPU {
				noGPU += float64(t.Share * total)
			} else {
				noGPUCPUShort += float64(t.Share * total)
			}
			continue
		}
		if !allowed[i] {
			otherModel += float64(t.Share * total)
			continue
		}
		fitting, unusable := 0, int64(0)
		for _, free := range gpus {
			if free >= t.GPU.Milli {
				fitting++
			} else {
				unusable += free
			}
		}
		switch enoughGPU := fitting >= t.GPU.Count; {
		case !enoughGPU && !enoughCPU:
			bothShort += float64(t.Share * total)
		case !enoughGPU:
			gpuShort += float64(t.Share * total)
		case !enoughCPU:
			cpuShort += float64(t.Share * total)
		default:
			gpuShort += float64(t.Share * float64(unusable)) // conversions forbid fused additions
		}
	}
	return bothShort + gpuShort + cpuShort + noGPU + noGPUCPUShort + otherModel
}
