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
		if !holdsImage(node, image) {
			continue
		}
		size, holders := c.image(image)
		spread := float64(holders) / float64(len(c.Nodes))
		sum += int64(float64(size) * spread)
	}
	if sum < floor {
		sum = floor
	} else if sum > ceiling {
		sum = ceiling
	}
	return 100 * (sum - floor) / (ceiling - floor)
}

// image returns an image's size, on the first node that holds it, and the number of nodes that hold it.
func (c *Cluster) image(name string) (size int64, holders int) {
	for n := range c.Nodes {
		if !holdsImage(&c.Nodes[n], name) {
			continue
		}
		if holders == 0 {
			for _, image := range c.Nodes[n].Images {
				if slices.Contains(image.Names, name) {
					size = image.SizeBytes
					break
				}
			}
		}
		holders++
	}
	return size, holders
}

func holdsImage(node *berth.Node, name string) bool {
	for _, image := range node.Images {
		if slices.Contains(image.Names, name) {
			return true
		}
	}
	return false
}
