package berth

// Operator relates the value of a label to a requirement's values.
type Operator string

// The operators. In a label selector (of pods or namespaces) only the first four are valid; Gt and Lt compare integers.
// NotIn and DoesNotExist match where the key is absent.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
)

// Requirement is a condition on one label.
type Requirement struct {
	Key      string   `json:"key,omitzero"`
	Operator Operator `json:"operator,omitzero"`
	// Values has at least one element for In and NotIn, none for Exists and DoesNotExist, and one integer for Gt and Lt.
	Values []string `json:"values,omitzero"`
}

// LabelSelector selects by labels: all of its conditions must hold. The empty selector matches everything; where a
// selector is a pointer, nil matches nothing.
type LabelSelector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitzero"`
	MatchExpressions []Requirement     `json:"matchExpressions,omitzero"`
}

// Affinity holds a pod's wishes for nodes and for the company of other pods.
type Affinity struct {
	NodeAffinity    *NodeAffinity    `json:"nodeAffinity,omitzero"`
	PodAffinity     *PodAffinity     `json:"podAffinity,omitzero"`
	PodAntiAffinity *PodAntiAffinity `json:"podAntiAffinity,omitzero"`
}

// NodeAffinity is a choice of nodes by their labels.
type NodeAffinity struct {
	// Required nodes; nil means any node.
	RequiredDuringSchedulingIgnoredDuringExecution *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitzero"`
	// Preferred nodes: a node's score is the sum of the weights of the terms that it matches.
	PreferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitzero"`
}

// NodeSelector matches a node that matches any of its terms.
type NodeSelector struct {
	NodeSelectorTerms []NodeSelectorTerm `json:"nodeSelectorTerms,omitzero"`
}

// NodeSelectorTerm matches a node that meets all of its requirements. A term without any matches no node.
type NodeSelectorTerm struct {
	MatchExpressions []Requirement `json:"matchExpressions,omitzero"`
	// MatchFields are requirements on fields: metadata.name only, In and NotIn only, one value each.
	MatchFields []Requirement `json:"matchFields,omitzero"`
}

// FieldName is the one field that NodeSelectorTerm.MatchFields can name.
const FieldName = "metadata.name"

// PreferredSchedulingTerm is a node selector term with a weight.
type PreferredSchedulingTerm struct {
	// Weight is in 1..100.
	Weight     int32            `json:"weight,omitzero"`
	Preference NodeSelectorTerm `json:"preference,omitzero"`
}

// PodAffinity draws a pod to the domains of other pods.
type PodAffinity struct {
	RequiredDuringSchedulingIgnoredDuringExecution  []PodAffinityTerm         `json:"requiredDuringSchedulingIgnoredDuringExecution,omitzero"`
	PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitzero"`
}

// PodAntiAffinity keeps a pod away from the domains of other pods.
type PodAntiAffinity struct {
	RequiredDuringSchedulingIgnoredDuringExecution  []PodAffinityTerm         `json:"requiredDuringSchedulingIgnoredDuringExecution,omitzero"`
	PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitzero"`
}

// PodAffinityTerm selects pods, and through them the domains of TopologyKey that they run in.
type PodAffinityTerm struct {
	// LabelSelector selects pods; nil selects none.
	LabelSelector *LabelSelector `json:"labelSelector,omitzero"`
	// Namespaces are the namespaces of the pods, in union with NamespaceSelector.
	// If Namespaces is empty and NamespaceSelector nil, it is the namespace of the pod that has the term.
	Namespaces        []string       `json:"namespaces,omitzero"`
	NamespaceSelector *LabelSelector `json:"namespaceSelector,omitzero"`
	// TopologyKey is the label of nodes whose values are the domains.
	TopologyKey string `json:"topologyKey,omitzero"`
	// MatchLabelKeys and MismatchLabelKeys are keys of the pod's own labels to be merged into LabelSelector; see [Fold].
	MatchLabelKeys    []string `json:"matchLabelKeys,omitzero"`
	MismatchLabelKeys []string `json:"mismatchLabelKeys,omitzero"`
}

// WeightedPodAffinityTerm is a preferred term.
type WeightedPodAffinityTerm struct {
	// Weight is in 1..100.
	Weight          int32           `json:"weight,omitzero"`
	PodAffinityTerm PodAffinityTerm `json:"podAffinityTerm,omitzero"`
}

// UnsatisfiableConstraintAction says whether a spread constraint refuses nodes or only scores them.
type UnsatisfiableConstraintAction string

// The actions.
const (
	DoNotSchedule  UnsatisfiableConstraintAction = "DoNotSchedule"
	ScheduleAnyway UnsatisfiableConstraintAction = "ScheduleAnyway"
)

// NodeInclusionPolicy says whether nodes that a rule excludes count for a spread constraint.
type NodeInclusionPolicy string

// The policies. Honor leaves excluded nodes out; Ignore counts them. Empty means the default of the field.
const (
	Honor  NodeInclusionPolicy = "Honor"
	Ignore NodeInclusionPolicy = "Ignore"
)

// TopologySpreadConstraint bounds how unevenly the selected pods of the namespace are spread over domains.
type TopologySpreadConstraint struct {
	// MaxSkew is at least 1.
	MaxSkew           int32                         `json:"maxSkew,omitzero"`
	TopologyKey       string                        `json:"topologyKey,omitzero"`
	WhenUnsatisfiable UnsatisfiableConstraintAction `json:"whenUnsatisfiable,omitzero"`
	// LabelSelector selects the pods that count; nil selects none.
	LabelSelector *LabelSelector `json:"labelSelector,omitzero"`
	// MinDomains: with fewer eligible domains the smallest count is taken as 0. Nil means 1; only for DoNotSchedule.
	MinDomains *int32 `json:"minDomains,omitzero"`
	// NodeAffinityPolicy is Honor by default: only nodes that match the pod's node selector and affinity count.
	NodeAffinityPolicy NodeInclusionPolicy `json:"nodeAffinityPolicy,omitzero"`
	// NodeTaintsPolicy is Ignore by default. Honor: only nodes whose NoSchedule and NoExecute taints are tolerated count.
	NodeTaintsPolicy NodeInclusionPolicy `json:"nodeTaintsPolicy,omitzero"`
	// MatchLabelKeys are keys of the pod's own labels to be merged into LabelSelector; see [Fold].
	MatchLabelKeys []string `json:"matchLabelKeys,omitzero"`
}
