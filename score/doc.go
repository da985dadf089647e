// Package score decides: filter, score, normalise, weigh, select.
//
// A [Pipeline] takes a pod and returns a [Decision]: the node, its score, and the score by plugin. If no node is feasible
// the error is an [Unschedulable] that says how many nodes each rule refused.
//
// The filters are kube-scheduler's rules (package affinity). So are the built-in scores, with its formulas, rounding and
// weights; a pipeline with these alone decides from the affinity graph, without looking at nodes one by one. Other
// strategies are plugins: a [Scorer] fills a column, the score of each node, for a set of nodes. One that implements
// [Local] has its column kept for each class of pods and is asked again only for the nodes that changed. Those for GPUs come
// with the package: [BestFit], [DotProduct], [GPUPacking], [GPUClustering], [FGD], [Random].
//
// # The caller's duties
//
// A Pipeline belongs to the owner of its graph: calls must not overlap with each other or with updates of the graph. A
// decision changes nothing; bind the pod (Graph.Bind, or Place here) before the next one.
//
// # Guarantees
//
// Every feasible node is scored. The same calls give the same decisions: nodes of equal score are told apart by the
// graph's order, not by chance.
package score
