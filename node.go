package berth

// Node is a machine that pods run on.
type Node struct {
	// Name identifies the node in its cluster.
	Name   string            `json:"name,omitzero"`
	Labels map[string]string `json:"labels,omitzero"`
	Taints []Taint           `json:"taints,omitzero"`
	// Unschedulable refuses every pod that does not tolerate [TaintNodeUnschedulable] (a cordoned node).
	Unschedulable bool `json:"unschedulable,omitzero"`
	// Allocatable is what the node offers to pods.
	Allocatable Resources `json:"allocatable,omitzero"`
	GPUs        GPUs      `json:"gpus,omitzero"`
	// Images are the container images that the node already holds.
	Images []ContainerImage `json:"images,omitzero"`
}

// ContainerImage is an image on a node.
type ContainerImage struct {
	// Names are all the names that the image is known by, in normalised form: with a tag ("app:latest", not "app").
	Names []string `json:"names,omitzero"`
	// SizeBytes is the size of the image.
	SizeBytes int64 `json:"sizeBytes,omitzero"`
}

// Well-known label keys.
const (
	// LabelHostname is the key whose value is meant to be unique to a node.
	LabelHostname = "kubernetes.io/hostname"
	// LabelZone is the key of a failure domain within a region.
	LabelZone = "topology.kubernetes.io/zone"
	// LabelRegion is the key of a region.
	LabelRegion = "topology.kubernetes.io/region"
)

// TaintEffect says what a taint does to pods that do not tolerate it.
type TaintEffect string

// The effects. For a placement NoExecute refuses just as NoSchedule does; PreferNoSchedule only lowers the score.
const (
	NoSchedule       TaintEffect = "NoSchedule"
	PreferNoSchedule TaintEffect = "PreferNoSchedule"
	NoExecute        TaintEffect = "NoExecute"
)

// TaintNodeUnschedulable is the key that a pod tolerates, with effect NoSchedule, to run on a cordoned node.
const TaintNodeUnschedulable = "node.kubernetes.io/unschedulable"

// Taint keeps pods without a matching [Toleration] away from a node.
type Taint struct {
	Key    string      `json:"key,omitzero"`
	Value  string      `json:"value,omitzero"`
	Effect TaintEffect `json:"effect,omitzero"`
}

// Toleration lets a pod run in spite of the taints that it matches.
type Toleration struct {
	// Key is the taint's key. Empty with operator Exists matches every key.
	Key string `json:"key,omitzero"`
	// Operator is one of TolerationEqual (also the meaning of "") and TolerationExists.
	Operator TolerationOperator `json:"operator,omitzero"`
	// Value is the taint's value, for TolerationEqual.
	Value string `json:"value,omitzero"`
	// Effect is the taint's effect; empty matches every effect.
	Effect TaintEffect `json:"effect,omitzero"`
}

// TolerationOperator relates a toleration's value to a taint's.
type TolerationOperator string

// The operators of tolerations.
const (
	TolerationEqual  TolerationOperator = "Equal"
	TolerationExists TolerationOperator = "Exists"
)

// Namespace is a group of pods with labels that pod affinity terms can select by.
type Namespace struct {
	Name   string            `json:"name,omitzero"`
	Labels map[string]string `json:"labels,omitzero"`
}
