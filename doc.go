// Package berth decides where pods go.
//
// This package is the vocabulary: plain specs of nodes and pods with Kubernetes' field names, their validation, and
// nothing that decides. What decides is in the packages that import it:
//
//	topology   nodes as dense ids, interned labels, sets of nodes, domains and trees of them
//	affinity   kube-scheduler's filter and score rules, compiled and kept incrementally
//	cache      the state of a cluster: nodes and pods, and immutable snapshots of them
//	score      strategies: filter, score, normalise, weigh, select; the Decision and why
//	heap       priority heaps and the scheduling queue
//	numa       NUMA nodes, CPUs, memory and devices within a machine
//
// The shortest way to a decision is package cache for the state and package score for the pipeline; see the example.
//
// # The caller's duties
//
// A spec is data that the caller fills and hands over. Specs are never changed by the library, and what a caller hands
// in must not be changed while the library holds it; a function that keeps its argument says so. Specs are checked where
// they enter ([ValidatePod], [ValidateNode], ...): hard faults are refused with an error that names field and value, soft
// ones are accepted. matchLabelKeys must be folded into the selectors once, when a pod is created ([Fold]), as the
// Kubernetes API server does.
//
// # Guarantees
//
// The same input gives the same answer, on any number of cores: nothing depends on time, map order or randomness that
// the caller did not hand in. No package starts a goroutine that outlives the call, does I/O or panics on bad data.
package berth
