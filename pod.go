package berth

import (
	"cmp"
	"time"
)

// PodKey identifies a pod in its cluster.
type PodKey struct {
	Namespace string `json:"namespace,omitzero"`
	Name      string `json:"name,omitzero"`
}

// String returns namespace/name.
func (k PodKey) String() string { return k.Namespace + "/" + k.Name }

// Compare orders keys by namespace and then by name: it is negative if k comes first, positive if o does, and 0 if they are equal.
func (k PodKey) Compare(o PodKey) int {
	return cmp.Or(cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name))
}

// Pod is a unit of work to be placed, or placed already.
type Pod struct {
	Namespace string `json:"namespace,omitzero"`
	Name      string `json:"name,omitzero"`
	// UID tells two pods apart that had the same key one after the other. It may be empty.
	UID    string            `json:"uid,omitzero"`
	Labels map[string]string `json:"labels,omitzero"`
	// Owner is the controller that made the pod; the zero value if there is none.
	Owner OwnerReference `json:"owner,omitzero"`

	// NodeName is the node that the pod runs on, or, for a pod to be placed, the only node that it may run on.
	NodeName string `json:"nodeName,omitzero"`
	// NominatedNodeName is the node that a preemption has made room on for this pod.
	NominatedNodeName string `json:"nominatedNodeName,omitzero"`
	// Terminating pods still hold their resources and count for pod affinity, but not for topology spread.
	Terminating bool `json:"terminating,omitzero"`
	// Preempted is true for a pod that terminates because it was preempted: its preemptor waits for the room instead of
	// preempting again (condition DisruptionTarget, reason PreemptionByScheduler).
	Preempted bool `json:"preempted,omitzero"`

	// Requests are the effective requests of the whole pod, its init containers and overhead included.
	Requests Resources `json:"requests,omitzero"`
	// NonZeroRequests are the requests that resource scores use, in which each container without a request counts as
	// one of 100 milli CPU or 200 MiB. nil means that the pod is one container with the given Requests.
	NonZeroRequests *NonZeroRequests `json:"nonZeroRequests,omitzero"`
	GPU             GPURequest       `json:"gpu,omitzero"`
	// HostPorts are the ports of the node that the pod needs for itself.
	HostPorts []HostPort `json:"hostPorts,omitzero"`
	// Images are the images of all init containers, containers and image volumes, with repetitions, in normalised form
	// (see ContainerImage).
	Images []string `json:"images,omitzero"`

	NodeSelector map[string]string `json:"nodeSelector,omitzero"`
	Affinity     *Affinity         `json:"affinity,omitzero"`
	Tolerations  []Toleration      `json:"tolerations,omitzero"`

	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitzero"`
	// DefaultSpreadSelector selects the pods of the same service or controller. A pod without spread constraints of its
	// own is spread by the default constraints with this selector; nil or an empty selector means not at all.
	DefaultSpreadSelector *LabelSelector `json:"defaultSpreadSelector,omitzero"`

	// Priority orders pods; higher ones may preempt lower ones.
	Priority int32 `json:"priority,omitzero"`
	// PreemptNever keeps the pod from preempting others (preemptionPolicy: Never).
	PreemptNever bool `json:"preemptNever,omitzero"`
	// StartTime is when a placed pod was started, for the choice among victims of preemption.
	StartTime time.Time `json:"startTime,omitzero"`
}

// Key returns the pod's identity.
func (p *Pod) Key() PodKey { return PodKey{Namespace: p.Namespace, Name: p.Name} }

// OwnerReference names the controller of a pod.
type OwnerReference struct {
	Kind string `json:"kind,omitzero"`
	Name string `json:"name,omitzero"`
	UID  string `json:"uid,omitzero"`
}

// The requests that a container without any counts with in resource scores
// (kube-scheduler's pkg/scheduler/util/pod_resources.go).
const (
	DefaultMilliCPURequest int64 = 100
	DefaultMemoryRequest   int64 = 200 << 20
)

// NonZeroRequests are requests as resource scores see them.
type NonZeroRequests struct {
	MilliCPU int64 `json:"milliCPU,omitzero"`
	Memory   int64 `json:"memory,omitzero"`
}

// ScoreRequests returns the CPU and memory that resource scores use for the pod: NonZeroRequests if set, else Requests
// with the defaults in place of what is 0.
func (p *Pod) ScoreRequests() NonZeroRequests {
	if p.NonZeroRequests != nil {
		return *p.NonZeroRequests
	}
	n := NonZeroRequests{MilliCPU: p.Requests.MilliCPU, Memory: p.Requests.Memory}
	if n.MilliCPU == 0 {
		n.MilliCPU = DefaultMilliCPURequest
	}
	if n.Memory == 0 {
		n.Memory = DefaultMemoryRequest
	}
	return n
}

// Protocol of a host port.
type Protocol string

// The protocols. An empty one means TCP.
const (
	TCP  Protocol = "TCP"
	UDP  Protocol = "UDP"
	SCTP Protocol = "SCTP"
)

// HostPort is a port on the node. Two of them conflict if protocol and port are the same and the addresses are the same
// or one of them is 0.0.0.0, which is also the meaning of an empty HostIP.
type HostPort struct {
	HostIP   string   `json:"hostIP,omitzero"`
	Protocol Protocol `json:"protocol,omitzero"`
	Port     int32    `json:"port,omitzero"`
}

// PodDisruptionBudget bounds how many of the selected pods may be evicted at once.
type PodDisruptionBudget struct {
	Namespace string `json:"namespace,omitzero"`
	Name      string `json:"name,omitzero"`
	// Selector selects pods of the budget's namespace. Nil or empty selects none.
	Selector *LabelSelector `json:"selector,omitzero"`
	// DisruptionsAllowed is how many evictions the budget permits now.
	DisruptionsAllowed int32 `json:"disruptionsAllowed,omitzero"`
	// DisruptedPods are names of pods whose eviction is already accounted for.
	DisruptedPods []string `json:"disruptedPods,omitzero"`
}
