package score

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// NodeSize is the size of a node: the scale of scores that compare amounts of CPU and GPUs.
type NodeSize struct {
	MilliCPU int64
	GPUMilli int64
}

// orLargest returns the size, with the largest node of the paper's cluster in place of what is not positive.
func (s NodeSize) orLargest() NodeSize {
	if s.MilliCPU <= 0 {
		s.MilliCPU = 128_000
	}
	if s.GPUMilli <= 0 {
		s.GPUMilli = 8 * berth.GPUMilli
	}
	return s
}

// BestFit prefers the node that has least left after the pod, CPU and GPUs counting alike: 100 for nothing, in whole
// numbers (one of the FGD paper's baselines, section 6.1; plugin/best_fit_score.go of its simulator, without its scaling
// over the nodes, which keeps order and ties). The zero value is ready to use.
type BestFit struct {
	// Largest is the node whose whole size left would score 0. What is not positive is 128 cores and 8 GPUs.
	Largest NodeSize
}

// Name returns "BestFit".
func (BestFit) Name() string { return "BestFit" }

// Local promises that a score depends on pod class and node alone.
func (BestFit) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (BestFit) Concurrent() {}

// Score takes O(nodes * GPUs).
func (b BestFit) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	size := b.Largest.orLargest()
	for _, n := range nodes {
		cpu := float64(in.Graph.FreeMilliCPU(n) - in.Pod.Requests.MilliCPU)
		gpu := float64(freeMilli(in.Graph.GPUFree(n)) - in.Pod.GPU.Total())
		column[n] = int64(100 * (1 - (0.5*cpu/float64(size.MilliCPU) + 0.5*gpu/float64(size.GPUMilli))))
	}
	return nil
}

// DotProduct prefers the node whose free CPU and GPUs have the smallest dot product with the pod's requests: 100 for 0, in
// whole numbers (one of the FGD paper's baselines, section 6.1, after Grandl et al., "Multi-Resource Packing for Cluster
// Schedulers", SIGCOMM 2014; plugin/dot_product_score.go of its simulator, with "merge" and "max"). The zero value is ready
// to use.
type DotProduct struct {
	// Largest is the node that is one long in each dimension. What is not positive is 128 cores and 8 GPUs.
	Largest NodeSize
}

// Name returns "DotProduct".
func (DotProduct) Name() string { return "DotProduct" }

// Local promises that a score depends on pod class and node alone.
func (DotProduct) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (DotProduct) Concurrent() {}

// Score takes O(nodes * GPUs).
func (d DotProduct) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	size := d.Largest.orLargest()
	cpuSize, gpuSize := float64(size.MilliCPU), float64(size.GPUMilli)
	podCPU, podGPU := float64(in.Pod.Requests.MilliCPU)/cpuSize, float64(in.Pod.GPU.Total())/gpuSize
	for _, n := range nodes {
		cpu := float64(in.Graph.FreeMilliCPU(n)) / cpuSize * podCPU
		gpu := float64(freeMilli(in.Graph.GPUFree(n))) / gpuSize * podGPU
		column[n] = int64(100 * (1 - (float64(cpu)+float64(gpu))/2)) // conversions forbid fused, more exact additions
	}
	return nil
}

// GPUPacking prefers used GPUs, then idle GPUs of used nodes, then idle nodes, and the fullest among the first (one of the
// FGD paper's baselines, section 6.1, after Xiao et al., "Gandiva", OSDI 2018; plugin/gpu_packing_score.go of its
// simulator). Pods without GPU score 0 everywhere.
type GPUPacking struct{}

// Name returns "GPUPacking".
func (GPUPacking) Name() string { return "GPUPacking" }

// Local promises that a score depends on pod class and node alone.
func (GPUPacking) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (GPUPacking) Concurrent() {}

// Score takes O(nodes * GPUs log GPUs).
func (GPUPacking) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	var fit []int64
	for _, n := range nodes {
		column[n] = 0
		if in.Pod.GPU.Count == 0 {
			continue
		}
		gpus := in.Graph.GPUFree(n)
		if k := int64(len(gpus)); freeMilli(gpus) == k*berth.GPUMilli {
			column[n] = max(33-k, k)
			continue
		}
		fit = fit[:0]
		for _, free := range gpus {
			if free >= in.Pod.GPU.Milli {
				fit = append(fit, free)
			}
		}
		slices.Sort(fit)
		column[n] = packed(fit[:in.Pod.GPU.Count])
	}
	return nil
}

// packed scores the GPUs that a pod would take of a node in use, by their free milli.
func packed(taken []int64) int64 {
	var idle, percent int64
	for _, free := range taken {
		if free == berth.GPUMilli {
			idle++
		}
		percent += free * 100 / berth.GPUMilli
	}
	if idle > 0 {
		return max(50-idle, 33)
	}
	return max(100-percent/10, 50)
}

// GPUClustering prefers nodes with GPU pods of the same size only, then nodes with that size among others, then idle ones,
// and the fullest among each (one of the FGD paper's baselines, section 6.1, after Weng et al., "MLaaS in the Wild", NSDI
// 2022; plugin/gpu_clustering_score.go of its simulator). All shares of a GPU are one size. Pods without GPU score 0
// everywhere. The zero value is ready to use.
type GPUClustering struct {
	// Largest is the node whose GPUs in use count most; what is not positive is 8 GPUs. MilliCPU is not used.
	Largest NodeSize
}

// Name returns "GPUClustering".
func (GPUClustering) Name() string { return "GPUClustering" }

// Local promises that a score depends on pod class and node alone.
func (GPUClustering) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (GPUClustering) Concurrent() {}

// Score takes O(nodes * (GPUs + pods on the node)).
func (c GPUClustering) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	largest := c.Largest.orLargest().GPUMilli
	for _, n := range nodes {
		column[n] = 0
		if in.Pod.GPU.Count == 0 {
			continue
		}
		var same, other bool
		for _, p := range in.Graph.PodsOn(n) {
			if p.GPU.Count > 0 {
				alike := sizeOf(&p.GPU) == sizeOf(&in.Pod.GPU)
				same, other = same || alike, other || !alike
			}
		}
		column[n] = 25 * (largest - freeMilli(in.Graph.GPUFree(n))) / largest
		switch {
		case same && !other:
			column[n] += 75
		case same:
			column[n] += 50
		case !other:
			column[n] += 25
		}
	}
	return nil
}

// sizeOf is the number of whole GPUs, 0 for a share.
func sizeOf(g *berth.GPURequest) int {
	if g.Milli < berth.GPUMilli {
		return 0
	}
	return g.Count
}

// isShare says whether the request is for a part of one GPU.
func isShare(g *berth.GPURequest) bool { return g.Count == 1 && g.Milli < berth.GPUMilli }

func freeMilli(gpus []int64) int64 {
	var sum int64
	for _, free := range gpus {
		sum += free
	}
	return sum
}
