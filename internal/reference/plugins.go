package reference

// Names of the plugins, kube-scheduler's except for GPU.
const (
	NodeName                        = "NodeName"
	NodeUnschedulable               = "NodeUnschedulable"
	TaintToleration                 = "TaintToleration"
	NodeAffinity                    = "NodeAffinity"
	NodePorts                       = "NodePorts"
	NodeResourcesFit                = "NodeResourcesFit"
	GPU                             = "GPU"
	PodTopologySpread               = "PodTopologySpread"
	InterPodAffinity                = "InterPodAffinity"
	NodeResourcesBalancedAllocation = "NodeResourcesBalancedAllocation"
	ImageLocality                   = "ImageLocality"
)

// verdict is what one rule says about one node.
type verdict int

const (
	passes verdict = iota
	// resolvable is kube-scheduler's Unschedulable: taking pods away could change it.
	resolvable
	// unresolvable is kube-scheduler's UnschedulableAndUnresolvable.
	unresolvable
)
