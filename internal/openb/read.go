package openb

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/berth-go/berth"
)

// PodSlots is how many pods a node of the trace takes at most: the authors' simulator lets in one more than 1,000.
const PodSlots = 1001

// Bounds on what a field may say: far above any machine's, and small enough that sums over a cluster stay within int64.
const (
	maxMilli = 1 << 40
	maxMiB   = 1 << 30
	maxGPUs  = 64
	mebibyte = 1 << 20
)

// ReadNodes reads a list of nodes: columns sn, cpu_milli, memory_mib, gpu (how many) and model. The nodes come sorted by
// name. r may be gzip-compressed. file is the name for errors.
func ReadNodes(file string, r io.Reader) ([]*berth.Node, error) {
	t := newTable(file, r, "sn", "cpu_milli", "memory_mib", "gpu", "model")
	seen := make(map[string]bool)
	var nodes []*berth.Node
	for t.next() {
		nodes = append(nodes, &berth.Node{
			Name: t.unique("sn", seen),
			Allocatable: berth.Resources{
				MilliCPU: t.integer("cpu_milli", 0, maxMilli),
				Memory:   t.integer("memory_mib", 0, maxMiB) * mebibyte,
				Pods:     PodSlots,
			},
			GPUs: berth.GPUs{Model: strings.Clone(t.text("model")), Count: int(t.integer("gpu", 0, maxGPUs))},
		})
	}
	if t.err != nil {
		return nil, t.err
	}
	slices.SortFunc(nodes, func(a, b *berth.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes, nil
}

// ReadPods reads a list of pods: columns name, cpu_milli, memory_mib, num_gpu, gpu_milli (of each GPU; more than a whole
// one counts as one) and, optionally, gpu_spec: the models that will do, separated by '|'. The pods come sorted by name.
// r may be gzip-compressed. file is the name for errors.
func ReadPods(file string, r io.Reader) ([]*berth.Pod, error) {
	t := newTable(file, r, "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
	seen := make(map[string]bool)
	var pods []*berth.Pod
	for t.next() {
		pods = append(pods, &berth.Pod{
			Name: t.unique("name", seen),
			Requests: berth.Resources{
				MilliCPU: t.integer("cpu_milli", 0, maxMilli),
				Memory:   t.integer("memory_mib", 0, maxMiB) * mebibyte,
			},
			GPU: t.gpu(),
		})
	}
	if t.err != nil {
		return nil, t.err
	}
	slices.SortFunc(pods, func(a, b *berth.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods, nil
}

// gpu reads what a pod asks of GPUs.
func (t *table) gpu() berth.GPURequest {
	g := berth.GPURequest{
		Count: int(t.integer("num_gpu", 0, maxGPUs)),
		Milli: min(t.integer("gpu_milli", 0, maxMilli), berth.GPUMilli),
	}
	switch {
	case t.err != nil:
	case g.Count == 0 && g.Milli != 0:
		t.reject("gpu_milli", "%s of no GPU: num_gpu is 0", t.text("gpu_milli"))
	case g.Count > 0 && g.Milli == 0:
		t.reject("gpu_milli", "0 of each of %d GPUs", g.Count)
	case g.Count > 1 && g.Milli < berth.GPUMilli:
		t.reject("gpu_milli", "%s of each of %d GPUs: only one GPU can be shared", t.text("gpu_milli"), g.Count)
	}
	if spec := t.text("gpu_spec"); spec != "" && g.Count > 0 {
		g.Models = strings.Split(strings.Clone(spec), "|")
	}
	return g
}

// ReadNodesFile reads the list of nodes at path.
func ReadNodesFile(path string) ([]*berth.Node, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadNodes(path, f)
}

// ReadPodsFile reads the list of pods at path.
func ReadPodsFile(path string) ([]*berth.Pod, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadPods(path, f)
}
