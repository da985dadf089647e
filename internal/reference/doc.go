// Package reference decides where pods go, slowly and obviously: kube-scheduler v1.37.2's filter rules, score rules and
// preemption as plain loops over nodes and pods. Fast code is tested against it, so it shares none: it imports package
// berth and the standard library only.
//
// Each rule is a file that names the plugin of pkg/scheduler/framework/plugins that it was read from. Formulas keep the
// source's order of float64 operations, with explicit conversions where a compiler might otherwise fuse two of them.
//
// # The order of refusals
//
// A node's refusal is the first one in kube-scheduler's default order: NodeName, NodeUnschedulable, TaintToleration,
// NodeAffinity, NodePorts, NodeResourcesFit, GPU (ours), PodTopologySpread, InterPodAffinity. Two things come before it,
// as PreFilter results do there: a node that spec.nodeName or required matchFields terms leave out is refused by NodeName
// or NodeAffinity whatever else is wrong with it, and matchFields terms that contradict themselves refuse every node by
// NodeAffinity.
//
// Nodes with nominated pods of at least the pod's priority are tested twice, with those pods and without.
//
// # Where the source is followed against expectation
//
// These come from kube-scheduler keeping counts by addition and subtraction where a recount would differ. They show only
// with nominated pods and during preemption:
//
//   - InterPodAffinity is not consulted at all for a pod without required terms that no placed pod's required
//     anti-affinity selects, so a nominated pod's anti-affinity does not hold against it.
//   - PodTopologySpread counts no placed pods for a selector {}, yet counts a nominated pod, and takes a removed victim
//     off. It takes a removed victim off even if that was terminating and so was never counted.
//
// And everywhere: an incoming pod's namespaceSelector (other than {}) selects among the namespaces that exist, so it
// never selects pods of an unknown namespace; a placed pod's is matched with no labels for an unknown namespace.
//
// # Where it is not
//
// Host ports of a node are a set there, so taking a victim away also frees a port that another pod of the node holds
// too. Here a port is in use while any pod of the node uses it. The size of an image is there the one of whichever node
// came first in time; here it is the one that the node itself reports. Pods of one priority and start time, and candidates
// of preemption that no criterion tells apart, are in the order of the cluster's lists here, and in any order there.
//
// # The caller's duties
//
// Specs have no hard faults and pods are folded (berth.Fold); names are unique. Node selector terms may be malformed: that
// is part of the rules. A pod is identified by namespace and name.
package reference
