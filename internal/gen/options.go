package gen

// Options say how often features occur. A rate is a probability in 0..1; its zero value switches the feature off.
type Options struct {
	// Nodes and Pods bound the size of a cluster; each cluster has 1..Nodes nodes and 0..Pods pods.
	Nodes, Pods int

	// MissingLabel leaves a label of the vocabulary off a node, pod or namespace.
	MissingLabel float64
	// AwkwardLabel gives a label an empty, non-numeric, negative or very large value.
	AwkwardLabel float64
	// DuplicateHostname gives a node the hostname of another.
	DuplicateHostname float64
	// Taint is the rate of each of up to three taints of a node.
	Taint float64
	// Unschedulable cordons a node.
	Unschedulable float64
	// Toleration is the rate of each of up to three tolerations of a pod.
	Toleration float64

	// ZeroRequest makes a pod request none of a resource, for each resource.
	ZeroRequest float64
	// ScalarResource is the rate of named resources; more nodes offer each than pods ask for it.
	ScalarResource float64
	// NonZeroRequests sets a pod's requests for resource scores apart from its real ones.
	NonZeroRequests float64
	// GPU is the rate of pods that ask for shareable devices; more nodes have some.
	GPU float64
	// OmitDevices leaves out which devices a placed pod holds, so that they follow from the order of placement. Such pods
	// are not reckoned with when others are placed, so that some find too few devices left.
	OmitDevices float64
	// HostPort is the rate of each of up to two host ports of a pod.
	HostPort float64
	// Image is the rate of each image on a node and of each of a pod's images.
	Image float64
	// ImageSize makes a node disagree with the others about the size of an image.
	ImageSize float64

	// NodeName names the one node that a pod to place may run on.
	NodeName float64
	// NodeSelector gives a pod a node selector.
	NodeSelector float64
	// NodeAffinity is the rate of required and of preferred node affinity.
	NodeAffinity float64
	// MatchFields uses node names in a node affinity term.
	MatchFields float64
	// PodAffinity and PodAntiAffinity are the rates of required and of preferred terms.
	PodAffinity, PodAntiAffinity float64
	// SelfMatch makes a selector of a pod select the pod itself.
	SelfMatch float64
	// NilSelector and EmptySelector make a selector nil and {}.
	NilSelector, EmptySelector float64
	// NamespaceList and NamespaceSelector name the namespaces of a pod affinity term.
	NamespaceList, NamespaceSelector float64
	// HardSpread and SoftSpread are the rates of each of up to two spread constraints of a pod.
	HardSpread, SoftSpread float64
	// SpreadPolicy sets a node inclusion policy, for each of the two.
	SpreadPolicy float64
	// MinDomains sets minDomains of a hard constraint.
	MinDomains float64
	// DefaultSpread gives a pod a selector for the default spread constraints.
	DefaultSpread float64
	// MatchLabelKeys gives pod affinity terms and spread constraints keys to be folded.
	MatchLabelKeys float64

	// Terminating, Nominated and Unplaced are the rates of such pods in a cluster. Unplaced pods are neither placed nor
	// nominated.
	Terminating, Nominated, Unplaced float64
	// Preempted makes the terminating ones of them victims of a preemption.
	Preempted float64
	// UnknownNode places or nominates a pod to a node that is not in the cluster.
	UnknownNode float64
	// OverCommit places a pod where it does not fit.
	OverCommit float64
	// Priority gives a pod a priority other than 0.
	Priority float64
	// PreemptNever keeps a pod from preempting.
	PreemptNever float64
	// Budget is the rate of each of up to four disruption budgets of a cluster.
	Budget float64

	Faults Faults
}

// Faults are rates of specs with a fault: first soft ones, then hard ones (see berth.ValidatePod).
type Faults struct {
	// RequiredTerm makes a required node affinity term one that does not parse: it matches nothing.
	RequiredTerm float64
	// EmptyTerm makes a node affinity term one without requirements: it matches nothing.
	EmptyTerm float64
	// ZeroWeight gives a preferred node affinity term weight 0: it is dropped.
	ZeroWeight float64

	// The following are hard faults, which are refused.

	// PreferredTerm makes a preferred node affinity term one that does not parse.
	PreferredTerm float64
	// Weight puts the weight of a preferred term out of range.
	Weight float64
	// Amount makes a request or an allocatable amount negative or too large.
	Amount float64
	// EmptyName leaves out a name.
	EmptyName float64
	// DuplicateNode gives a node the name of an earlier one.
	DuplicateNode float64
	// ManyLabels gives a node or pod 10,000 labels.
	ManyLabels float64
	// Toleration makes the operator of a toleration unknown.
	Toleration float64
	// HostPort puts a port out of range or makes its protocol unknown.
	HostPort float64
	// TaintEffect leaves out a taint's effect or makes it unknown.
	TaintEffect float64
	// SelectorOperator makes the operator of a label selector unknown, or its values wrong for it.
	SelectorOperator float64
	// TopologyKey leaves out the topology key of a term or constraint.
	TopologyKey float64
	// Spread makes maxSkew, minDomains, the action or a policy of a spread constraint wrong.
	Spread float64
	// GPURequest makes a device request contradict itself.
	GPURequest float64
}

// Everything mixes all features; roughly every second node is feasible for a typical pod.
func Everything() Options {
	return Options{
		Nodes: 60, Pods: 200,
		MissingLabel: 0.1, AwkwardLabel: 0.08, DuplicateHostname: 0.05,
		Taint: 0.1, Unschedulable: 0.08, Toleration: 0.25,
		ZeroRequest: 0.2, ScalarResource: 0.15, NonZeroRequests: 0.15, GPU: 0.15, OmitDevices: 0.1,
		HostPort: 0.06, Image: 0.3, ImageSize: 0.1,
		NodeName: 0.02, NodeSelector: 0.06, NodeAffinity: 0.15, MatchFields: 0.15,
		PodAffinity: 0.1, PodAntiAffinity: 0.1, SelfMatch: 0.4, NilSelector: 0.03, EmptySelector: 0.06,
		NamespaceList: 0.15, NamespaceSelector: 0.2,
		HardSpread: 0.12, SoftSpread: 0.15, SpreadPolicy: 0.3, MinDomains: 0.3, DefaultSpread: 0.4,
		MatchLabelKeys: 0.1,
		Terminating:    0.06, Preempted: 0.5, Nominated: 0.05, Unplaced: 0.02, UnknownNode: 0.02, OverCommit: 0.05,
		Priority: 0.5, PreemptNever: 0.05, Budget: 0.5,
		Faults: Faults{RequiredTerm: 0.05, EmptyTerm: 0.05, ZeroWeight: 0.05},
	}
}

// Plain has resources, taints and unique hostnames, and no rule that looks at other pods.
func Plain() Options {
	return Options{
		Nodes: 60, Pods: 200,
		Taint: 0.1, Unschedulable: 0.05, Toleration: 0.2, ZeroRequest: 0.1, ScalarResource: 0.1, NonZeroRequests: 0.1,
		NodeSelector: 0.1, NodeAffinity: 0.1, Image: 0.2, Priority: 0.3, OverCommit: 0.02,
	}
}

// Affine makes pod affinity frequent, with few other reasons to refuse a node.
func Affine() Options {
	o := Plain()
	o.MissingLabel, o.AwkwardLabel, o.DuplicateHostname = 0.1, 0.05, 0.05
	o.PodAffinity, o.PodAntiAffinity, o.SelfMatch = 0.35, 0.3, 0.5
	o.NilSelector, o.EmptySelector, o.NamespaceList, o.NamespaceSelector = 0.03, 0.05, 0.2, 0.25
	o.MatchLabelKeys, o.Terminating, o.Nominated = 0.1, 0.1, 0.1
	return o
}

// Spreading makes spread constraints frequent, with few other reasons to refuse a node.
func Spreading() Options {
	o := Plain()
	o.MissingLabel, o.AwkwardLabel, o.DuplicateHostname = 0.1, 0.05, 0.05
	o.HardSpread, o.SoftSpread, o.SpreadPolicy, o.MinDomains, o.DefaultSpread = 0.5, 0.4, 0.3, 0.3, 0.6
	o.SelfMatch, o.NilSelector, o.EmptySelector = 0.6, 0.03, 0.06
	o.MatchLabelKeys, o.Terminating, o.Nominated = 0.1, 0.1, 0.1
	return o
}

// Crowded has full nodes, many priorities and disruption budgets: pods to place mostly have to preempt.
func Crowded() Options {
	o := Everything()
	o.Nodes, o.Pods = 20, 200
	o.ZeroRequest, o.Priority, o.Budget, o.Nominated = 0.05, 0.9, 0.9, 0.1
	o.HostPort, o.GPU = 0.15, 0.3
	return o
}

// Invalid adds hard faults of every kind to Everything.
func Invalid() Options {
	o := Everything()
	f := &o.Faults
	f.PreferredTerm, f.Weight, f.Amount, f.EmptyName, f.DuplicateNode, f.ManyLabels = 0.05, 0.05, 0.03, 0.03, 0.03, 0.01
	f.TaintEffect, f.Toleration, f.HostPort, f.SelectorOperator, f.TopologyKey = 0.05, 0.05, 0.05, 0.05, 0.05
	f.Spread, f.GPURequest = 0.05, 0.05
	return o
}
