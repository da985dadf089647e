package casefile

// Step is one thing that happens. Exactly one field besides Note is set.
type Step struct {
	Note       string `json:"note,omitempty"`
	AddNode    *Node  `json:"addNode,omitempty"`
	UpdateNode *Node  `json:"updateNode,omitempty"`
	DeleteNode string `json:"deleteNode,omitempty"`
	// AddPod and UpdatePod are bound pods as they are observed; DeletePod is name or namespace/name.
	AddPod    *Pod   `json:"addPod,omitempty"`
	UpdatePod *Pod   `json:"updatePod,omitempty"`
	DeletePod string `json:"deletePod,omitempty"`
	// Assume puts an incoming pod where the scheduler chose, Forget takes that back as binding failed, and Confirm is the
	// binding as it is observed, perhaps on another node.
	Assume  *Assignment `json:"assume,omitempty"`
	Forget  string      `json:"forget,omitempty"`
	Confirm *Assignment `json:"confirm,omitempty"`

	// The following are of kind queue.

	// QueueAdd adds an incoming pod; Pop expects it to be taken, or nothing if "".
	QueueAdd string  `json:"queueAdd,omitempty"`
	Pop      *string `json:"pop,omitempty"`
	// Fail gives a popped pod back.
	Fail *Failure `json:"fail,omitempty"`
	// Advance moves the clock and then flushes what has waited long enough.
	Advance string `json:"advance,omitempty"`
	// Event is something that the waiting pods may have waited for.
	Event *Event `json:"event,omitempty"`
}

// Assignment is a pod and its node.
type Assignment struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Failure is a pod that could not be placed.
type Failure struct {
	Pod string `json:"pod"`
	// Plugins are the ones that refused it; none means an internal error.
	Plugins []string `json:"plugins,omitempty"`
}

// Event is a change of the cluster: assignedPodAdd, assignedPodDelete, assignedPodUpdate, nodeAdd or nodeUpdate.
type Event struct {
	Type    string `json:"type"`
	Pod     *Pod   `json:"pod,omitempty"`
	OldPod  *Pod   `json:"oldPod,omitempty"`
	Node    *Node  `json:"node,omitempty"`
	OldNode *Node  `json:"oldNode,omitempty"`
}

// Machine is a machine with several NUMA nodes. Each check starts from it as it is given.
type Machine struct {
	Nodes []Cell `json:"nodes"`
	// Distances are between NUMA nodes, in the order of Nodes.
	Distances [][]uint64 `json:"distances,omitempty"`
	// PreferClosest is the topology manager's option prefer-closest-numa-nodes.
	PreferClosest bool `json:"preferClosest,omitempty"`
}

// Cell is a NUMA node.
type Cell struct {
	ID       int `json:"id"`
	CPUs     int `json:"cpus"`
	Reserved int `json:"reserved,omitempty"`
	// Free is the number of CPUs that neither the system nor a pod has.
	Free    int               `json:"free"`
	Devices map[string]Amount `json:"devices,omitempty"`
	// Memory is in Mi.
	Memory *Amount `json:"memory,omitempty"`
}

// Amount is how much of something there is.
type Amount struct {
	Total int `json:"total"`
	Free  int `json:"free"`
}

// Alignment is where a container's resources come from.
type Alignment struct {
	// NUMANodes is the merged mask; an empty one means no preference, an absent one is not asked about.
	NUMANodes []int `json:"numaNodes,omitempty"`
	Preferred *bool `json:"preferred,omitempty"`
	// CPUsOn is how many CPUs are taken from each NUMA node.
	CPUsOn map[string]int `json:"cpusOn,omitempty"`
}
