package affinity

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// image is one name of a container image and the number of nodes that hold it.
type image struct {
	name  string
	nodes int32
}

// setImages replaces the images of node n. Of a name given twice the first counts.
func (g *Graph) setImages(n topology.NodeID, images []berth.ContainerImage) {
	s := &g.nodes[n]
	if len(images) == 0 && (s.extra == nil || len(s.extra.images) == 0) {
		return
	}
	var next []nodeImage
	for i := range images {
		for _, name := range images[i].Names {
			id := g.image(name)
			if !slices.ContainsFunc(next, func(o nodeImage) bool { return o.id == id }) {
				next = append(next, nodeImage{id, images[i].SizeBytes})
			}
		}
	}
	e := s.more()
	if slices.Equal(e.images, next) {
		return
	}
	for _, im := range next {
		g.images[im.id].nodes++
	}
	for _, im := range e.images {
		g.images[im.id].nodes--
	}
	e.images = next
	g.imageEpoch++
}

func (g *Graph) image(name string) int32 {
	id, ok := g.imageByName[name]
	if !ok {
		id = int32(len(g.images))
		g.images = append(g.images, image{name: name})
		g.imageByName[name] = id
	}
	return id
}

// Thresholds of the image locality score, in bytes (plugins/imagelocality/image_locality.go).
const (
	minImageBytes          = 23 << 20
	maxImageBytesContainer = 1000 << 20
)

// imageScore rates how much of the pod's images node s holds, 0..100, each image scaled by the share of nodes that
// hold it. O(images of pod * images of node).
func (g *Graph) imageScore(s *nodeState, need *need) int64 {
	if len(need.images) == 0 {
		return 0
	}
	var sum int64
	if s.extra != nil {
		for _, id := range need.images {
			for _, im := range s.extra.images {
				if im.id == id {
					spread := float64(g.images[id].nodes) / float64(g.x.Len())
					sum += int64(float64(im.size) * spread)
				}
			}
		}
	}
	most := maxImageBytesContainer * int64(len(need.images))
	return 100 * (min(max(sum, minImageBytes), most) - minImageBytes) / (most - minImageBytes)
}
