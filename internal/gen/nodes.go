package gen

import (
	"fmt"
	"math"

	"github.com/berth-go/berth"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

func scalarNames() []string { return []string{"example.com/fpga", "nvidia.com/gpu", "hugepages-2Mi"} }

// Node draws a node with a new name.
func (g *Generator) Node() berth.Node {
	n := berth.Node{Name: fmt.Sprintf("node-%03d", g.nodes)}
	g.nodes++
	n.Labels = g.labels(nodeVocabulary())
	g.hostname(&n)
	n.Taints = g.taints()
	n.Unschedulable = g.chance(g.o.Unschedulable)
	n.Allocatable = g.allocatable()
	if g.chance(min(3*g.o.GPU, 0.8)) {
		n.GPUs = berth.GPUs{Model: pick(g, "A100", "T4"), Count: pick(g, 1, 2, 4, 8)}
	}
	n.Images = g.nodeImages()
	if g.nodes > 1 && g.chance(g.o.Faults.DuplicateNode) {
		n.Name = fmt.Sprintf("node-%03d", g.rng.IntN(g.nodes-1))
	}
	if g.chance(g.o.Faults.EmptyName) {
		n.Name = ""
	}
	return n
}

// hostname gives a node its own hostname, or that of an earlier one, or none.
func (g *Generator) hostname(n *berth.Node) {
	switch {
	case g.nodes > 1 && g.chance(g.o.DuplicateHostname):
		n.Labels[berth.LabelHostname] = fmt.Sprintf("node-%03d", g.rng.IntN(g.nodes))
	case !g.chance(g.o.MissingLabel / 2):
		n.Labels[berth.LabelHostname] = n.Name
	}
}

func (g *Generator) taints() []berth.Taint {
	taints := upTo(g, 3, g.o.Taint, func() berth.Taint {
		return berth.Taint{
			Key: pick(g, "dedicated", "flaky", berth.TaintNodeUnschedulable), Value: pick(g, "", "batch", "web"),
			Effect: pick(g, berth.NoSchedule, berth.NoExecute, berth.PreferNoSchedule, berth.PreferNoSchedule),
		}
	})
	for i := range taints {
		if g.chance(g.o.Faults.TaintEffect) {
			taints[i].Effect = pick[berth.TaintEffect](g, "", "Never")
		}
	}
	return unique(taints)
}

// unique drops taints that another of the list equals in key and effect, which no node may have.
func unique(taints []berth.Taint) []berth.Taint {
	var kept []berth.Taint
	for _, t := range taints {
		twice := false
		for _, k := range kept {
			twice = twice || k.Key == t.Key && k.Effect == t.Effect
		}
		if !twice {
			kept = append(kept, t)
		}
	}
	return kept
}

func (g *Generator) allocatable() berth.Resources {
	r := berth.Resources{
		MilliCPU:         pick[int64](g, 2000, 4000, 8000, 16000, 3333),
		Memory:           pick[int64](g, 4*gib, 8*gib, 16*gib, 32*gib, 7_777_777_777),
		EphemeralStorage: pick[int64](g, 0, 50*gib, 50*gib, 100*gib, 100*gib),
		Pods:             pick[int64](g, 110, 110, 110, 20, 8, 3),
	}
	if g.chance(g.o.ZeroRequest / 8) {
		r.Memory = 0
	}
	r.Scalar = g.scalars(min(4*g.o.ScalarResource, 0.8), 1, 8)
	if g.chance(g.o.Faults.Amount) {
		r.MilliCPU = pick[int64](g, -1, berth.MaxAmount+1, math.MaxInt64)
	}
	return r
}

// scalars draws amounts of named resources. nil and an empty map both mean none, and both occur.
func (g *Generator) scalars(rate float64, lo, hi int) map[string]int64 {
	scalars := map[string]int64{}
	for _, name := range scalarNames() {
		if g.chance(rate) {
			scalars[name] = int64(g.between(lo, hi))
		}
	}
	if len(scalars) == 0 && g.chance(0.9) {
		return nil
	}
	return scalars
}

func imageNames() []string {
	return []string{"app-a:v1", "app-b:v1", "base:latest", "huge:v2", "tiny:v3"}
}

func (g *Generator) nodeImages() []berth.ContainerImage {
	sizes := []int64{180 * mib, 700 * mib, 90 * mib, 3 * gib, 4 * mib}
	var images []berth.ContainerImage
	for i, name := range imageNames() {
		if !g.chance(g.o.Image) {
			continue
		}
		image := berth.ContainerImage{Names: []string{name}, SizeBytes: sizes[i]}
		if g.chance(g.o.ImageSize) {
			image.SizeBytes = int64(g.between(1, 2000)) * mib
		}
		if g.chance(0.3) {
			image.Names = append(image.Names, "mirror/"+name)
		}
		images = append(images, image)
	}
	return images
}
