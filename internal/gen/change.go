package gen

import (
	"slices"

	"github.com/berth-go/berth"
)

// Kind is a kind of change to a cluster.
type Kind string

// The kinds of change.
const (
	RelabelNode      Kind = "relabel node"
	Retaint          Kind = "retaint node"
	Resize           Kind = "resize node"
	Cordon           Kind = "cordon node"
	RelabelPod       Kind = "relabel pod"
	Terminate        Kind = "make pod terminating"
	RelabelNamespace Kind = "relabel namespace"
)

// Change says what was changed: Index is into Nodes, Pods or Namespaces of the cluster, as the kind has it.
type Change struct {
	Kind  Kind
	Index int
}

// Change makes one random change to a cluster and says which. It reports false if there was nothing of the drawn kind
// to change. Maps and slices of specs are replaced, never written to.
func (g *Generator) Change(c *Cluster) (Change, bool) {
	kind := pick(g, RelabelNode, RelabelNode, Retaint, Resize, Cordon, RelabelPod, RelabelPod, Terminate, RelabelNamespace)
	count := len(c.Nodes)
	switch kind {
	case RelabelPod, Terminate:
		count = len(c.Pods)
	case RelabelNamespace:
		count = len(c.Namespaces)
	}
	if count == 0 {
		return Change{}, false
	}
	change := Change{kind, g.rng.IntN(count)}
	g.apply(c, change)
	return change, true
}

func (g *Generator) apply(c *Cluster, change Change) {
	switch i := change.Index; change.Kind {
	case RelabelNode:
		c.Nodes[i].Labels = g.relabel(c.Nodes[i].Labels, append(nodeVocabulary(), label{berth.LabelHostname, nodeNames(c)}))
	case Retaint:
		c.Nodes[i].Taints = g.taints()
	case Resize:
		c.Nodes[i].Allocatable = g.allocatable()
	case Cordon:
		c.Nodes[i].Unschedulable = !c.Nodes[i].Unschedulable
	case RelabelPod:
		c.Pods[i].Labels = g.relabel(c.Pods[i].Labels, podVocabulary())
	case Terminate:
		c.Pods[i].Terminating = true
	case RelabelNamespace:
		c.Namespaces[i].Labels = g.relabel(c.Namespaces[i].Labels, namespaceVocabulary())
	}
}

func nodeNames(c *Cluster) []string {
	var names []string
	for i := range c.Nodes {
		names = append(names, c.Nodes[i].Name)
	}
	return names
}

// Clone returns a copy of the cluster whose lists are its own. The specs in them share maps and slices with the
// original, which changes never write to.
func (c *Cluster) Clone() *Cluster {
	return &Cluster{
		Nodes: slices.Clone(c.Nodes), Pods: slices.Clone(c.Pods),
		Namespaces: slices.Clone(c.Namespaces), Budgets: slices.Clone(c.Budgets),
	}
}
