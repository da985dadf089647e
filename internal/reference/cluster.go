package reference

import "github.com/berth-go/berth"

// Cluster is the whole state that decisions depend on.
type Cluster struct {
	Nodes []berth.Node
	// Pods are placed (NodeName set), nominated (only NominatedNodeName set) or neither, which has no effect.
	// A pod whose node is not in Nodes is ignored. Where order matters it is the order of arrival.
	Pods       []berth.Pod
	Namespaces []berth.Namespace
	Budgets    []berth.PodDisruptionBudget
	Config     Config
}

// podsOn returns the pods placed on a node.
func (c *Cluster) podsOn(node *berth.Node) []*berth.Pod {
	var pods []*berth.Pod
	for i := range c.Pods {
		if c.Pods[i].NodeName == node.Name {
			pods = append(pods, &c.Pods[i])
		}
	}
	return pods
}

// nominatedTo returns the pods nominated to a node that hold their room against pod: those of at least its priority.
func (c *Cluster) nominatedTo(node *berth.Node, pod *berth.Pod) []*berth.Pod {
	var pods []*berth.Pod
	for i := range c.Pods {
		p := &c.Pods[i]
		if p.NodeName == "" && p.NominatedNodeName == node.Name && p.Priority >= pod.Priority && p.Key() != pod.Key() {
			pods = append(pods, p)
		}
	}
	return pods
}

// namespaceLabels returns the labels of a namespace and whether it exists.
func (c *Cluster) namespaceLabels(name string) (map[string]string, bool) {
	for i := range c.Namespaces {
		if c.Namespaces[i].Name == name {
			return c.Namespaces[i].Labels, true
		}
	}
	return nil, false
}
