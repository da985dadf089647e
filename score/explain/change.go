package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth"
)

// Kind is a kind of change.
type Kind string

// The kinds of changes, those to the cluster first.
const (
	// Uncordon makes Node schedulable.
	Uncordon Kind = "Uncordon"
	// SetLabel gives Node the label Key=Value, RemoveLabel takes the label Key away.
	SetLabel    Kind = "SetLabel"
	RemoveLabel Kind = "RemoveLabel"
	// AddResource makes Node offer Amount more of Resource.
	AddResource Kind = "AddResource"
	// AddGPUs gives Node Amount more shareable GPUs, of Model if it has none yet and the pod asks for certain models.
	AddGPUs Kind = "AddGPUs"
	// AddPod places one more pod with Namespace and Labels on Node, or any node like it, in the domain Key=Value.
	AddPod Kind = "AddPod"
	// EndNomination ends the nomination of Pod to Node.
	EndNomination Kind = "EndNomination"
	// RemovePod takes Pod off Node.
	RemovePod Kind = "RemovePod"
	// Tolerate gives the pod a toleration for Taint, by key, value and effect.
	Tolerate Kind = "Tolerate"
	// AcceptGPUModel adds Model to the GPU models that the pod accepts.
	AcceptGPUModel Kind = "AcceptGPUModel"
	// DropNodeName leaves out the pod's nodeName.
	DropNodeName Kind = "DropNodeName"
	// DropNodeSelector leaves Key out of the pod's nodeSelector.
	DropNodeSelector Kind = "DropNodeSelector"
	// DropNodeAffinity leaves out the pod's required node affinity.
	DropNodeAffinity Kind = "DropNodeAffinity"
	// DropPodAffinity leaves out the pod's required pod affinity.
	DropPodAffinity Kind = "DropPodAffinity"
)

// Change is one change to the cluster or to the pod. Which fields are set depends on Kind.
type Change struct {
	Kind Kind   `json:"kind"`
	Node string `json:"node,omitempty"`
	// Pod is the pod to remove.
	Pod *berth.PodKey `json:"pod,omitempty"`
	// Resource and Amount are what to add, in thousandths of a core, in bytes, or in numbers.
	Resource string `json:"resource,omitempty"`
	Amount   int64  `json:"amount,omitempty"`
	// Key and Value are a label of a node: the one to set or remove, or the domain of a pod to add.
	Key   string       `json:"key,omitempty"`
	Value string       `json:"value,omitempty"`
	Taint *berth.Taint `json:"taint,omitempty"`
	// Namespace and Labels are those of a pod to add.
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Model     string            `json:"model,omitempty"`
}

// String says the change as advice: "remove pod shop/web-1 from n3", "add 2 cpu to n3".
func (c *Change) String() string {
	switch c.Kind {
	case Uncordon:
		return "uncordon " + c.Node
	case SetLabel:
		return fmt.Sprintf("label %s with %s=%s", c.Node, c.Key, c.Value)
	case RemoveLabel:
		return fmt.Sprintf("remove label %s from %s", c.Key, c.Node)
	case AddResource:
		if c.Resource == berth.ResourcePods {
			return fmt.Sprintf("raise the number of pods that %s allows by %d", c.Node, c.Amount)
		}
		return fmt.Sprintf("add %s to %s", amountText(c.Resource, c.Amount), c.Node)
	case AddGPUs:
		if c.Model != "" {
			return fmt.Sprintf("add %s of model %s to %s", gpusText(c.Amount), c.Model, c.Node)
		}
		return fmt.Sprintf("add %s to %s", gpusText(c.Amount), c.Node)
	case AddPod:
		return fmt.Sprintf("place one more pod with %s (namespace %s) in %s=%s, say on %s", labelsText(c.Labels), c.Namespace, c.Key, c.Value, c.Node)
	case EndNomination:
		return fmt.Sprintf("end the nomination of pod %v to %s", c.Pod, c.Node)
	case RemovePod:
		return fmt.Sprintf("remove pod %v from %s", c.Pod, c.Node)
	case Tolerate:
		return "tolerate taint " + taintText(c.Taint)
	case AcceptGPUModel:
		return "accept GPU model " + c.Model
	case DropNodeName:
		return "drop the pod's nodeName"
	case DropNodeSelector:
		return fmt.Sprintf("drop %s from the pod's nodeSelector", c.Key)
	case DropNodeAffinity:
		return "drop the pod's required node affinity"
	case DropPodAffinity:
		return "drop the pod's required pod affinity"
	}
	return string(c.Kind)
}

// ofPod reports whether the change is one to the pod to place.
func (c Change) ofPod() bool {
	switch c.Kind {
	case Tolerate, AcceptGPUModel, DropNodeName, DropNodeSelector, DropNodeAffinity, DropPodAffinity:
		return true
	}
	return false
}

// Suggestion is what would make a node feasible: all of Changes together.
type Suggestion struct {
	Changes []Change `json:"changes"`
	// Smallest is true if it is certain that no fewer changes of these kinds would do (see the package's comment).
	Smallest bool `json:"smallest"`
}

// String lists the changes.
func (s *Suggestion) String() string {
	var parts []string
	for i := range s.Changes {
		parts = append(parts, s.Changes[i].String())
	}
	return strings.Join(parts, "; ")
}

// changePod returns the pod with those of the changes that concern it; it shares what they don't.
func changePod(pod *berth.Pod, changes []Change) *berth.Pod {
	p := *pod
	p.Tolerations = slices.Clip(p.Tolerations)
	affinity := berth.Affinity{}
	if p.Affinity != nil {
		affinity = *p.Affinity
	}
	for _, c := range changes {
		switch c.Kind {
		case Tolerate:
			p.Tolerations = append(p.Tolerations, berth.Toleration{Key: c.Taint.Key, Operator: berth.TolerationEqual, Value: c.Taint.Value, Effect: c.Taint.Effect})
		case AcceptGPUModel:
			p.GPU.Models = append(slices.Clip(p.GPU.Models), c.Model)
		case DropNodeName:
			p.NodeName = ""
		case DropNodeSelector:
			p.NodeSelector = maps.Clone(p.NodeSelector)
			delete(p.NodeSelector, c.Key)
		case DropNodeAffinity:
			node := *affinity.NodeAffinity
			node.RequiredDuringSchedulingIgnoredDuringExecution = nil
			affinity.NodeAffinity = &node
			p.Affinity = &affinity
		case DropPodAffinity:
			pods := *affinity.PodAffinity
			pods.RequiredDuringSchedulingIgnoredDuringExecution = nil
			affinity.PodAffinity = &pods
			p.Affinity = &affinity
		}
	}
	return &p
}

// changeNode makes a change to the spec of a node, whose labels are the caller's to change.
func changeNode(n *berth.Node, c *Change) {
	switch c.Kind {
	case Uncordon:
		n.Unschedulable = false
	case SetLabel:
		if n.Labels == nil {
			n.Labels = make(map[string]string)
		}
		n.Labels[c.Key] = c.Value
	case RemoveLabel:
		delete(n.Labels, c.Key)
	case AddGPUs:
		n.GPUs.Count += int(c.Amount)
		if c.Model != "" {
			n.GPUs.Model = c.Model
		}
	case AddResource:
		a := &n.Allocatable
		switch c.Resource {
		case berth.ResourceCPU:
			a.MilliCPU += c.Amount
		case berth.ResourceMemory:
			a.Memory += c.Amount
		case berth.ResourceEphemeralStorage:
			a.EphemeralStorage += c.Amount
		case berth.ResourcePods:
			a.Pods += c.Amount
		default:
			if a.Scalar == nil {
				a.Scalar = make(map[string]int64)
			}
			a.Scalar[c.Resource] += c.Amount
		}
	}
}

func taintText(t *berth.Taint) string {
	s := t.Key
	if t.Value != "" {
		s += "=" + t.Value
	}
	return s + ":" + string(t.Effect)
}

func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return "no labels"
	}
	return selectorText(&berth.LabelSelector{MatchLabels: labels})
}

func gpusText(n int64) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

// amountText writes an amount of a resource as one says it: "1.5 cpu", "2Gi memory".
func amountText(resource string, amount int64) string {
	switch {
	case resource == berth.ResourceCPU:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", amount/1000, amount%1000), "0"), ".") + " cpu"
	case resource == berth.ResourceMemory, resource == berth.ResourceEphemeralStorage, strings.HasPrefix(resource, "hugepages-"):
		return bytesText(amount) + " " + resource
	}
	return strconv.FormatInt(amount, 10) + " " + resource
}

func bytesText(n int64) string {
	for i, unit := range []string{"Ti", "Gi", "Mi", "Ki"} {
		if size := int64(1) << (40 - 10*i); n >= size && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}
