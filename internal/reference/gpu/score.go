package gpu

import (
	"maps"
	"math"
	"math/rand"
	"slices"

	"github.com/berth-go/berth"
)

// The largest node of the trace: the authors' scales for DotProduct and BestFit.
const (
	largestCPU = 128000
	largestGPU = 8000
)

// Score returns a feasible node's score for the pod under the policy, higher is better, and the GPUs that the pod would
// get. typical is for FGD, random for Random.
func Score(policy Policy, n *Node, p *berth.Pod, typical []Typical, random *rand.Rand) (int64, []int) {
	switch policy {
	case Random:
		devices := wholeOrTightest(n, p)
		if p.GPU.Count == 1 && p.GPU.Milli < berth.GPUMilli {
			fit := fitting(n, p.GPU.Milli)
			devices = []int{fit[random.Intn(len(fit))]}
		}
		return 0, devices
	case DotProduct:
		return dotProduct(n, p), wholeOrTightest(n, p)
	case Clustering:
		return clustering(n, p), wholeOrTightest(n, p)
	case Packing:
		return packing(n, p), wholeOrTightest(n, p)
	case BestFit:
		return bestFit(n, p), wholeOrTightest(n, p)
	}
	return fgd(n, p, typical)
}

// wholeOrTightest gives whole GPUs by lowest index, a share on the fitting GPU with the least free (lowest of equals).
func wholeOrTightest(n *Node, p *berth.Pod) []int {
	if p.GPU.Count == 0 {
		return nil
	}
	fit := fitting(n, p.GPU.Milli)
	if p.GPU.Milli < berth.GPUMilli {
		slices.SortStableFunc(fit, func(a, b int) int { return int(n.GPU[a] - n.GPU[b]) })
	}
	return fit[:p.GPU.Count]
}

func freeGPU(n *Node) int64 {
	var sum int64
	for _, free := range n.GPU {
		sum += free
	}
	return sum
}

func dotProduct(n *Node, p *berth.Pod) int64 {
	cpu := (float64(n.CPU) / largestCPU) * (float64(p.Requests.MilliCPU) / largestCPU)
	gpu := (float64(freeGPU(n)) / largestGPU) * (float64(p.GPU.Total()) / largestGPU)
	return int64(100 * (1 - (float64(cpu)+float64(gpu))/2))
}

// bestFit leaves out the authors' scaling to 0..100 over the feasible nodes, which keeps the order and the ties.
func bestFit(n *Node, p *berth.Pod) int64 {
	cpu := float64(0.5 * float64(n.CPU-p.Requests.MilliCPU) / largestCPU)
	gpu := float64(0.5 * float64(freeGPU(n)-p.GPU.Total()) / largestGPU)
	return int64(100 * (1 - (cpu + gpu)))
}

func clustering(n *Node, p *berth.Pod) int64 {
	if p.GPU.Count == 0 {
		return 0
	}
	b := 25 * (largestGPU - freeGPU(n)) / largestGPU
	own := n.Holds[class(p)] > 0
	switch {
	case own && len(n.Holds) == 1:
		return 75 + b
	case own:
		return 50 + b
	case len(n.Holds) == 0:
		return 25 + b
	}
	return b
}

func packing(n *Node, p *berth.Pod) int64 {
	if p.GPU.Count == 0 {
		return 0
	}
	k := int64(len(n.GPU))
	if freeGPU(n) == k*berth.GPUMilli {
		return max(33-k, k)
	}
	fit := fitting(n, p.GPU.Milli)
	slices.SortStableFunc(fit, func(a, b int) int { return int(n.GPU[a] - n.GPU[b]) })
	var whole, rest int64
	for _, d := range fit[:p.GPU.Count] {
		if n.GPU[d] == berth.GPUMilli {
			whole++
		}
		rest += n.GPU[d] * 100 / berth.GPUMilli
	}
	if whole > 0 {
		return max(50-whole, 33)
	}
	return max(100-rest/10, 50)
}

// fgd tries the pod on the node: a share on each GPU that fits.
func fgd(n *Node, p *berth.Pod, typical []Typical) (int64, []int) {
	before := Fragmentation(n, typical)
	after := func(devices []int) int64 {
		trial := &Node{Spec: n.Spec, CPU: n.CPU, Memory: n.Memory, GPU: slices.Clone(n.GPU), Holds: maps.Clone(n.Holds)}
		Take(trial, p, devices)
		s := 1 / (1 + math.Exp(-(before-Fragmentation(trial, typical))/1000))
		return int64(100 * s)
	}
	if p.GPU.Count != 1 || p.GPU.Milli == berth.GPUMilli {
		devices := wholeOrTightest(n, p)
		return after(devices), devices
	}
	best, bestScore := -1, int64(-1)
	for _, d := range fitting(n, p.GPU.Milli) {
		if s := after([]int{d}); s > bestScore {
			best, bestScore = d, s
		}
	}
	return bestScore, []int{best}
}
