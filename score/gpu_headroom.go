package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/topology"
)

// Headroom places a pod where it takes least from what the expected workload could still make use of. It is FGD turned
// round and looking further ahead: FGD counts the free GPUs that the next pod could not use, Headroom the GPU milli that
// pods of each kind could fill if they went on coming, and what the CPU left beside them allows. Make one with NewHeadroom.
//
// The headroom of a node is the sum over the kinds of pods of weight * usable. usable is 0 if no pod of the kind fits, else
// what whole pods of the kind would fill of the free GPUs; of this, what the first pod does not take is scaled by the
// part of the workload's GPU demand that the CPU left per GPU would serve. The weight of a kind is its share, divided by
// the part of the cluster's GPUs that it may use, so that pods bound to rare models are not forgotten. The score is the
// change of headroom in GPU milli, cut down to an integer.
//
// docs/perf/gpu.md compares it with FGD.
type Headroom struct {
	kinds  []TypicalPod // those with GPUs
	weight []float64
	// served is the part of the demand that is served with i/10 cores for each GPU.
	served  []float64
	allowed byModel[[]int] // kinds that may use it
}

// HeadroomConfig configures a Headroom.
type HeadroomConfig struct {
	// Typical is the expected workload, as complete as it is known (TypicalPods with coverage 1).
	Typical []TypicalPod
	// GPUs are the GPU milli of the cluster by model. Nil weighs kinds by their shares alone.
	GPUs map[string]int64
}

const (
	// demandScale lowers the CPU that a GPU is taken to need. It was chosen on the lists of the trace that it is compared on;
	// see docs/perf/gpu.md for how much depends on it.
	demandScale = 0.75
	// servedSteps is the length of the table of served demand, in tenths of a core a GPU.
	servedSteps = 2000
)

// NewHeadroom returns a Headroom. The error wraps ErrConfig.
func NewHeadroom(cfg HeadroomConfig) (*Headroom, error) {
	if err := checkTypical(cfg.Typical); err != nil {
		return nil, err
	}
	h := &Headroom{served: make([]float64, servedSteps)}
	var all, sum, demand float64
	for _, milli := range cfg.GPUs {
		all += float64(milli)
	}
	for _, t := range cfg.Typical {
		if t.GPU.Count == 0 {
			continue
		}
		w := t.Share
		if part := h.usablePart(&t, cfg.GPUs, all); part > 0 {
			w /= part
		}
		h.kinds = append(h.kinds, t)
		h.weight = append(h.weight, w)
		sum += w
		demand += t.Share * float64(t.GPU.Total())
	}
	if len(h.kinds) == 0 {
		return nil, fmt.Errorf("%w: no typical pod asks for a GPU", ErrConfig)
	}
	for i := range h.weight {
		h.weight[i] /= sum
	}
	for _, t := range h.kinds {
		need := demandScale * float64(t.MilliCPU) / float64(t.GPU.Total()) * 10 // tenths of a core for each GPU
		for i := range h.served {
			h.served[i] += t.Share * float64(t.GPU.Total()) / demand * min(1, float64(i)/max(need, 1e-9))
		}
	}
	return h, nil
}

// usablePart is the part of the cluster's GPUs whose model a kind allows; 0 if that is not known.
func (h *Headroom) usablePart(t *TypicalPod, gpus map[string]int64, all float64) float64 {
	if all == 0 {
		return 0
	}
	var may int64 // a sum of integers, the same in any order
	for model, milli := range gpus {
		if len(t.GPU.Models) == 0 || slices.Contains(t.GPU.Models, model) {
			may += milli
		}
	}
	return float64(may) / all
}

// Name returns "Headroom".
func (*Headroom) Name() string { return "Headroom" }

// Local promises that a score depends on pod class and node alone.
func (*Headroom) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Headroom) Concurrent() {}

// Score takes O(nodes * kinds * GPUs), times GPUs for a share.
func (h *Headroom) Score(in *Input, nodes []topology.NodeID, column []int64) error {
	var trial []int64
	for part := range slices.Chunk(nodes, slowNodes) {
		if err := in.Context().Err(); err != nil {
			return err
		}
		for _, n := range part {
			column[n], _ = h.best(in, n, &trial)
		}
	}
	return nil
}

// PickDevices returns the GPU that Score took for a share, the lowest of equals; whole ones are left to Graph.Bind.
func (h *Headroom) PickDevices(in *Input, n topology.NodeID) []int {
	if !isShare(&in.Pod.GPU) {
		return nil
	}
	var trial []int64
	_, d := h.best(in, n, &trial)
	return []int{d}
}

func (h *Headroom) best(in *Input, n topology.NodeID, trial *[]int64) (int64, int) {
	model := in.Graph.GPUModel(n)
	kinds := h.allowedOn(model)
	cpu, gpus := in.Graph.FreeMilliCPU(n), in.Graph.GPUFree(n)
	before := h.headroom(kinds, cpu, gpus)
	return tryDevices(in, gpus, trial, func(trial []int64) int64 {
		return int64(math.Floor(h.headroom(kinds, cpu-in.Pod.Requests.MilliCPU, trial) - before + 1e-6))
	})
}

func (h *Headroom) allowedOn(model string) []int {
	kinds, ok := h.allowed.get(model)
	if !ok {
		for i := range h.kinds {
			if m := h.kinds[i].GPU.Models; len(m) == 0 || slices.Contains(m, model) {
				kinds = append(kinds, i)
			}
		}
		h.allowed.put(model, kinds)
	}
	return kinds
}

func (h *Headroom) headroom(kinds []int, cpu int64, gpus []int64) float64 {
	var sum float64
	for _, i := range kinds {
		sum += h.weight[i] * h.usable(&h.kinds[i], cpu, gpus)
	}
	return sum
}

// usable is the GPU milli of a node that pods of one kind could make use of.
func (h *Headroom) usable(t *TypicalPod, cpu int64, gpus []int64) float64 {
	var pods int64 // as far as GPUs go, if each takes one device
	for _, free := range gpus {
		pods += free / t.GPU.Milli
	}
	pods /= int64(t.GPU.Count)
	if pods == 0 || cpu < t.MilliCPU {
		return 0
	}
	first := float64(t.GPU.Total())
	rest := float64(pods)*first - first
	if rest <= 0 || t.MilliCPU == 0 {
		return first + rest
	}
	x := float64(cpu-t.MilliCPU) / rest * 10
	i := int(x)
	if i >= len(h.served)-1 {
		return first + rest
	}
	return first + rest*(h.served[i]+(x-float64(i))*(h.served[i+1]-h.served[i]))
}
