package affinity

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// nodeState is what the rules need of a node besides its labels. Amounts are in the units of berth.Resources.
type nodeState struct {
	alloc, used amounts
	// scored is what is used as resource scores see it (berth.Pod.ScoreRequests).
	scored berth.NonZeroRequests
	// So far it is a cache line, what follows another.

	podsAllowed   int64
	podCount      int64
	order         uint32 // among nodes of equal score
	taints        int32
	unschedulable bool
	pods          []podID    // podCount of them, but while a what-if is tried
	extra         *nodeExtra // nil on a node that offers and holds nothing special
}

// amounts are the resources that every node has.
type amounts struct {
	cpu, memory, ephemeral int64
}

// nodeExtra is what few nodes have.
type nodeExtra struct {
	scalars []scalar
	ports   []portUse
	images  []nodeImage
	gpu     ledger.GPUs
	// nominated are the pods that have been promised room here.
	nominated []nominated
}

// scalar is one named resource of a node.
type scalar struct {
	id          int32
	alloc, used int64
}

type portUse struct {
	port  berth.HostPort
	count int32
}

// nodeImage is an image on a node by one of its names.
type nodeImage struct {
	id   int32
	size int64
}

func (s *nodeState) more() *nodeExtra {
	if s.extra == nil {
		s.extra = &nodeExtra{}
	}
	return s.extra
}

// scalar returns the node's amounts of resource id; nil if it neither offers nor holds any.
func (s *nodeState) scalar(id int32) *scalar {
	if s.extra != nil {
		for i := range s.extra.scalars {
			if s.extra.scalars[i].id == id {
				return &s.extra.scalars[i]
			}
		}
	}
	return nil
}

func (s *nodeState) addScalar(id int32) *scalar {
	if sc := s.scalar(id); sc != nil {
		return sc
	}
	e := s.more()
	e.scalars = append(e.scalars, scalar{id: id})
	return &e.scalars[len(e.scalars)-1]
}

// AddNode adds a node. Its strings are kept, nothing else of it is. The errors are a *berth.Fault or ErrNodeExists.
// O(labels + specs that select nodes).
func (g *Graph) AddNode(spec *berth.Node) error {
	if err := berth.ValidateNode(spec).Err(); err != nil {
		return err
	}
	if _, ok := g.x.Lookup(spec.Name); ok {
		return fmt.Errorf("%w: %q", ErrNodeExists, spec.Name)
	}
	n, err := g.x.Add(spec.Name, spec.Labels)
	if err != nil {
		return err
	}
	if int(n) == len(g.nodes) {
		g.nodes = append(g.nodes, nodeState{})
	}
	g.nodes[n] = nodeState{order: g.orderOf(spec.Name), taints: g.acquireTaints(spec.Taints)}
	g.setNode(n, spec)
	g.enterSets(n)
	g.touchAll(n)
	g.imageEpoch++
	g.labelled++
	return nil
}

// UpdateNode replaces the spec of a node; its pods stay. The errors are a *berth.Fault, ErrUnknownNode, or ErrDevices if its pods hold
// GPUs that the new spec lacks. O(labels + specs that select nodes), and O(pods of the node) if labels or taints change.
func (g *Graph) UpdateNode(spec *berth.Node) error {
	if err := berth.ValidateNode(spec).Err(); err != nil {
		return err
	}
	n, ok := g.x.Lookup(spec.Name)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, spec.Name)
	}
	if err := g.checkGPUs(n, spec); err != nil {
		return err
	}
	s := &g.nodes[n]
	sameTaints := slices.Equal(g.taintSets[s.taints].taints, spec.Taints)
	if !sameTaints || !g.sameLabels(n, spec.Labels) {
		g.leaveSets(n)
		for _, p := range s.pods {
			g.contribute(g.classes[g.pods[p].class], n, -1)
		}
		g.x.Relabel(n, spec.Labels)
		g.labelled++
		old := s.taints
		s.taints = g.acquireTaints(spec.Taints)
		g.releaseTaints(old)
		g.enterSets(n)
		for _, p := range s.pods {
			g.contribute(g.classes[g.pods[p].class], n, +1)
		}
	}
	g.setNode(n, spec)
	g.touchAll(n)
	return nil
}

func (g *Graph) sameLabels(n topology.NodeID, labels map[string]string) bool {
	have := g.x.Labels(n)
	if len(have) != len(labels) {
		return false
	}
	for _, d := range have {
		if v, ok := labels[g.x.KeyName(d.Key)]; !ok || v != g.x.ValueName(d) {
			return false
		}
	}
	return true
}

// RemoveNode removes a node without pods: ErrNodeInUse if it has some, ErrUnknownNode if there is no such node.
// Nominations for it are dropped. O(labels + specs that select nodes + columns * log nodes).
func (g *Graph) RemoveNode(name string) error {
	n, ok := g.x.Lookup(name)
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, name)
	}
	s := &g.nodes[n]
	if len(s.pods) > 0 {
		return fmt.Errorf("%w: %q has %d", ErrNodeInUse, name, len(s.pods))
	}
	for s.extra != nil && len(s.extra.nominated) > 0 {
		g.Denominate(s.extra.nominated[0].key)
	}
	for c := g.columnsLRU.next; c != &g.columnsLRU; c = c.next {
		c.forget(n)
	}
	g.leaveSets(n)
	g.setImages(n, nil)
	g.releaseTaints(s.taints)
	g.x.Remove(n)
	g.labelled++
	for _, m := range g.nodeMatchers {
		m.set.Remove(n)
	}
	for _, l := range g.eligibilities {
		l.set.Remove(n)
	}
	*s = nodeState{taints: noTaints}
	g.touchAll(n)
	g.imageEpoch++
	return nil
}

const noTaints = -1

// setNode takes over capacity, images and devices.
func (g *Graph) setNode(n topology.NodeID, spec *berth.Node) {
	s := &g.nodes[n]
	s.unschedulable = spec.Unschedulable
	a := &spec.Allocatable
	s.alloc = amounts{a.MilliCPU, a.Memory, a.EphemeralStorage}
	s.podsAllowed = min(a.Pods, math.MaxInt32)
	if s.extra != nil {
		for i := range s.extra.scalars {
			s.extra.scalars[i].alloc = 0
		}
	}
	for _, name := range sortedKeys(&g.enc, a.Scalar) {
		s.addScalar(g.resource(name)).alloc = a.Scalar[name]
	}
	g.setImages(n, spec.Images)
	g.setGPUs(n, spec.GPUs)
}

// enterSets and leaveSets keep the sets of nodes and the spread statistics as node n comes, changes and goes.
func (g *Graph) enterSets(n topology.NodeID) {
	for _, m := range g.nodeMatchers {
		m.set.Set(n, m.matches(&g.x, n))
	}
	for _, l := range g.eligibilities {
		l.set.Set(n, l.matches(g, n))
	}
	for _, d := range g.domains {
		d.enter(g, n)
	}
}

func (g *Graph) leaveSets(n topology.NodeID) {
	for _, d := range g.domains {
		d.leave(g, n)
	}
}

// resource interns the name of a scalar resource.
func (g *Graph) resource(name string) int32 {
	id, ok := g.resourceByName[name]
	if !ok {
		id = int32(len(g.resourceNames))
		g.resourceNames = append(g.resourceNames, name)
		g.resourceByName[name] = id
	}
	return id
}
