// Package affinity holds kube-scheduler's rules, compiled and kept incrementally: which nodes a pod may run on, how they
// score, which is best.
//
// # The graph
//
// A [Graph] is bipartite: pods on one side, nodes on the other. Stored as edges it would have pods times nodes of them.
// It is factored:
//
//	class --(matches)--> term --(counts)--> domain --(contains)--> node
//
// Pods that no rule can tell apart are one class. A term is a selection of pods (a matcher) and a topology key; which
// classes it matches is found out once, when either appears. Its counters hold the number of matching pods in each
// domain of the key. Placing or removing a pod changes one number for each term that its class matches, however many
// nodes and pods there are.
//
// A [Profile] answers under one configuration. It keeps for a class that it was asked about the nodes in groups whose
// members the rules can't tell apart but by their resources: same domains, same counts, same static scores. A decision
// looks at the groups, applies the rules that look at counts to each, and takes the top of the heap of the best. Changed
// nodes are looked at again from a log.
//
// A pod may be prepared before it is decided on ([Graph.Prepare]): deciding on it and binding it then do not read its spec again.
//
// # The caller's duties
//
// A Graph and its Profiles have one owner: calls must not overlap. Label keys of pods must have been folded (berth.Fold).
// Bind, Release and the other updates must tell what really is; the graph does not look for itself.
//
// # Guarantees
//
// Answers are those of kube-scheduler v1.37 with the same configuration; docs/DIFFERENCES.md lists the deliberate differences. All
// feasible nodes are scored, always. Nodes of equal score are told apart by a seeded order of their names, so that the
// same calls give the same answers. Updates that fail change nothing. What is passed in is not kept, but for the pod of a
// [Prepared], which only that holds.
package affinity
