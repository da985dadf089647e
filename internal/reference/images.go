package reference

import (
	"slices"

	"github.com/berth-go/berth"
)

// scoreImages is plugins/imagelocality: the sizes of the pod's images that the node holds, each scaled by the share of
// nodes that hold it.
func (c *Cluster) scoreImages(pod *berth.Pod, node *berth.Node) int64 {
	const (
		mib   = int64(1 << 20)
		floor = 23 * mib
	)
	ceiling := 1000 * mib * int64(len(pod.Images))
	var sum int64
	for _, image := range pod.Images {
		size, ok := imageSize(node, image)
		if !ok {
			continue
		}
		spread := float64(c.holders(image)) / float64(len(c.Nodes))
		sum += int64(float64(size) * spread)
	}
	if sum < floor {
		sum = floor
	} else if sum > ceiling {
		sum = ceiling
	}
	return 100 * (sum - floor) / (ceiling - floor)
}

// holders is the number of nodes that hold an image.
func (c *Cluster) holders(name string) int {
	count := 0
	for n := range c.Nodes {
		if _, ok := imageSize(&c.Nodes[n], name); ok {
			count++
		}
	}
	return count
}

// imageSize returns the size of an image as the node reports it first, and whether the node holds it.
func imageSize(node *berth.Node, name string) (int64, bool) {
	for _, image := range node.Images {
		if slices.Contains(image.Names, name) {
			return image.SizeBytes, true
		}
	}
	return 0, false
}
