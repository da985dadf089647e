package differential

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// steps draws a question or a change, or a few that belong together.
func (g *generator) steps() []Step {
	if g.chance(0.6) {
		return g.question()
	}
	var changes []conformance.Change
	switch g.rng.IntN(8) {
	case 0:
		changes = g.newNode()
	case 1, 2:
		changes = g.otherNode()
	case 3:
		changes = g.lostNode()
	case 4:
		changes = g.newPod()
	case 5:
		changes = g.otherPod()
	case 6:
		changes = g.lostPod()
	case 7:
		changes = g.otherNamespace()
	}
	var steps []Step
	for _, c := range changes {
		steps = append(steps, Step{Change: &c})
	}
	return append(steps, g.question()...)
}

// question asks about a pod, or about one more that is like it.
func (g *generator) question() []Step {
	spec := g.specs.Pod()
	pod := g.pod(&spec)
	if len(g.nodes) > 0 && g.chance(0.1) {
		pod.Status.NominatedNodeName = pick(g, g.nodes...).Name
	}
	if pod.Spec.NodeName != "" { // it looks like a placed one, of which these count
		pod.Spec.Resources = nil
	}
	g.start(pod) // which counts once it is placed
	steps := []Step{{Ask: pod, Place: g.chance(0.5)}}
	if g.chance(0.3) {
		twin := pod.DeepCopy()
		twin.Name += "-twin"
		twin.UID += "-twin"
		g.start(twin)
		steps = append(steps, Step{Ask: twin})
	}
	return steps
}

func (g *generator) newNode() []conformance.Change {
	spec := g.specs.Node()
	node := g.node(&spec)
	g.nodes = append(g.nodes, node)
	return []conformance.Change{{AddNode: node}}
}

// otherNode gives a node some of what another one would have.
func (g *generator) otherNode() []conformance.Change {
	if len(g.nodes) == 0 {
		return nil
	}
	i := g.rng.IntN(len(g.nodes))
	spec := g.specs.Node()
	node, other := g.nodes[i].DeepCopy(), g.node(&spec)
	switch g.rng.IntN(4) {
	case 0:
		node.Labels = other.Labels
	case 1:
		node.Spec.Taints = other.Spec.Taints
	case 2:
		node.Status.Allocatable = other.Status.Allocatable
	case 3:
		node.Spec.Unschedulable = !node.Spec.Unschedulable
		node.Status.Images = other.Status.Images
	}
	g.nodes[i] = node
	return []conformance.Change{{UpdateNode: node}}
}

// lostNode removes a node, whose pods stay, and sometimes brings it back.
func (g *generator) lostNode() []conformance.Change {
	if len(g.nodes) < 2 {
		return nil
	}
	i := g.rng.IntN(len(g.nodes))
	node := g.nodes[i]
	if g.chance(0.5) {
		back := node.DeepCopy()
		back.Spec.Taints = nil
		g.nodes[i] = back
		return []conformance.Change{{DeleteNode: node.Name}, {AddNode: back}}
	}
	g.nodes = slices.Delete(g.nodes, i, i+1)
	return []conformance.Change{{DeleteNode: node.Name}}
}

// newPod adds a pod: observed on a node or nominated to one, or assumed on one and then confirmed there, confirmed on
// another, or forgotten.
func (g *generator) newPod() []conformance.Change {
	if len(g.nodes) == 0 {
		return nil
	}
	spec := g.specs.Pod()
	spec.NodeName = pick(g, g.nodes...).Name
	if g.chance(0.2) {
		spec.NodeName, spec.NominatedNodeName = "", spec.NodeName
	}
	pod := g.placed(&spec)
	if pod.Spec.NodeName == "" || g.chance(0.5) {
		g.pods = append(g.pods, pod)
		return []conformance.Change{{AddPod: pod}}
	}
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = pick(g, pod.Spec.NodeName, pick(g, g.nodes...).Name)
	g.freePorts(assumed)
	if g.chance(0.3) {
		return []conformance.Change{{AssumePod: assumed}, {ForgetPod: assumed}}
	}
	g.pods = append(g.pods, pod)
	return []conformance.Change{{AssumePod: assumed}, {AddPod: pod}}
}

// otherPod relabels a pod or makes it terminate.
func (g *generator) otherPod() []conformance.Change {
	if len(g.pods) == 0 {
		return nil
	}
	i := g.rng.IntN(len(g.pods))
	pod := g.pods[i].DeepCopy()
	if g.chance(0.5) {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)}
		g.preempt(pod)
	} else {
		pod.Labels = g.specs.Pod().Labels
	}
	g.pods[i] = pod
	return []conformance.Change{{UpdatePod: pod}}
}

func (g *generator) lostPod() []conformance.Change {
	if len(g.pods) == 0 {
		return nil
	}
	i := g.rng.IntN(len(g.pods))
	pod := g.pods[i]
	g.pods = slices.Delete(g.pods, i, i+1)
	return []conformance.Change{{DeletePod: pod}}
}

func (g *generator) otherNamespace() []conformance.Change {
	name := "new"
	if len(g.cluster.Namespaces) > 0 && g.chance(0.8) {
		name = pick(g, g.cluster.Namespaces...).Name
	}
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"kubernetes.io/metadata.name": name, "team": pick(g, "red", "blue"), "env": pick(g, "prod", "dev"),
	}}}
	return []conformance.Change{{SetNamespace: namespace}}
}

// String says what the step does.
func (s *Step) String() string {
	switch {
	case s.Ask != nil && s.Place:
		return fmt.Sprintf("place pod %s", conformance.Key(s.Ask))
	case s.Ask != nil:
		return fmt.Sprintf("ask about pod %s", conformance.Key(s.Ask))
	case s.Change != nil:
		return s.Change.String()
	}
	return "nothing"
}
