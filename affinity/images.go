package affinity

import (
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// image is one name of a container image, the number of nodes that hold it, and how many use its id: those nodes, and the classes,
// plans and columns of pods that name it. Names come without end, with every release that is rolled out: an id that nobody uses is
// free for the next.
type image struct {
	name         string
	nodes, users int32
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
			id := g.acquireImage(name)
			if slices.ContainsFunc(next, func(o nodeImage) bool { return o.id == id }) {
				g.releaseImage(id)
				continue
			}
			g.images[id].nodes++
			next = append(next, nodeImage{id, images[i].SizeBytes})
		}
	}
	e := s.more()
	changed := !slices.Equal(e.images, next)
	for _, im := range e.images {
		g.images[im.id].nodes--
		g.releaseImage(im.id)
	}
	if e.images = next; changed {
		g.imageEpoch++
	}
}

// acquireImage returns the id of a name, with one more user.
func (g *Graph) acquireImage(name string) int32 {
	id, ok := g.imageByName[name]
	if !ok {
		if f := len(g.freeImages); f > 0 {
			id, g.freeImages = g.freeImages[f-1], g.freeImages[:f-1]
		} else {
			id = int32(len(g.images))
			g.images = append(g.images, image{})
		}
		name = strings.Clone(name)
		g.images[id] = image{name: name}
		g.imageByName[name] = id
	}
	g.images[id].users++
	return id
}

func (g *Graph) holdImages(ids []int32) {
	for _, id := range ids {
		g.images[id].users++
	}
}

func (g *Graph) releaseImages(ids []int32) {
	for _, id := range ids {
		g.releaseImage(id)
	}
}

func (g *Graph) releaseImage(id int32) {
	im := &g.images[id]
	if im.users--; im.users == 0 {
		delete(g.imageByName, im.name)
		*im = image{}
		g.freeImages = append(g.freeImages, id)
	}
}

// Thresholds of the image locality score, in bytes (plugins/imagelocality/image_locality.go).
const (
	minImageBytes          = 23 << 20
	maxImageBytesContainer = 1000 << 20
)
