package openb

import (
	"fmt"
	"math"
	"math/rand"
	"slices"

	"github.com/berth-go/berth"
)

// Seeds of the paper's ten runs are FirstSeed..FirstSeed+9.
const FirstSeed = 42

// PaperTune is how much the paper's workloads ask for, as a share of the cluster's GPUs.
const PaperTune = 1.3

// Workload is one seed's experiment.
type Workload struct {
	// Arrivals are the pods in the order in which they come.
	Arrivals []*berth.Pod
	// Ranks has the rank of each node, in the order of the list that Draw was given: of equally good nodes the one of
	// lowest rank is taken.
	Ranks []int
}

// Draw makes the workload of a seed from lists sorted by name: the pods shuffled, then tuned until they ask for about
// tune times the GPUs of the nodes, by appending copies of pods drawn at random or by removing pods at random. With tune 0
// the list stays as it is. A copy's name is the original's with a number behind it. Neither list is changed.
//
// The draws are those of the authors' simulator, some of which only move the source along. O(arrivals), but O(arrivals)
// for each pod that is removed.
func Draw(pods []*berth.Pod, nodes []*berth.Node, seed int64, tune float64) Workload {
	source := rand.New(rand.NewSource(seed))
	source.Int() // thrown away: the draw of another part of the authors' process
	arrivals := slices.Clone(pods)
	source.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
	if tune > 0 && Demand(pods) > 0 {
		target := int64(math.Round(tune * float64(GPUCapacity(nodes))))
		if Demand(pods) < target {
			arrivals = inflate(source, arrivals, pods, target)
		} else {
			arrivals = shrink(source, arrivals, target)
		}
	}
	for range 10 {
		source.Int63() // thrown away, as above
	}
	return Workload{Arrivals: arrivals, Ranks: source.Perm(len(nodes))}
}

// inflate appends copies of pods until one is drawn that does not fit below target. Whether it fits is asked of one of its
// GPUs, although all are counted, and at target exactly pods without GPU still come in: the authors' rule. It matters little
// for the arrivals, but the number of draws decides on the ranks.
func inflate(source *rand.Rand, arrivals, pods []*berth.Pod, target int64) []*berth.Pod {
	for demand := Demand(arrivals); ; {
		original := pods[source.Intn(len(pods))]
		if demand+original.GPU.Milli > target {
			return arrivals
		}
		clone := *original
		clone.Name = fmt.Sprintf("%s-copy-%d", original.Name, len(arrivals))
		arrivals = append(arrivals, &clone)
		demand += original.GPU.Total()
	}
}

// shrink removes pods until they ask for no more than target.
func shrink(source *rand.Rand, arrivals []*berth.Pod, target int64) []*berth.Pod {
	for demand := Demand(arrivals); demand > target; {
		i := source.Intn(len(arrivals))
		demand -= arrivals[i].GPU.Total()
		arrivals = slices.Delete(arrivals, i, i+1)
	}
	return arrivals
}

// Demand returns the GPU milli that the pods ask for.
func Demand(pods []*berth.Pod) int64 {
	var d int64
	for _, p := range pods {
		d += p.GPU.Total()
	}
	return d
}

// GPUCapacity returns the GPU milli of the nodes.
func GPUCapacity(nodes []*berth.Node) int64 {
	var c int64
	for _, n := range nodes {
		c += int64(n.GPUs.Count) * berth.GPUMilli
	}
	return c
}
