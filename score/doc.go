// Package score decides: filter, score, normalise, weigh, select.
//
// A [Pipeline] takes a pod and returns a [Decision]: the node, its score, and the score by plugin. If no node is feasible
// the error is an [Unschedulable] that says how many nodes each rule and each filter refused.
//
// The first filters are kube-scheduler's rules (package affinity). So are the built-in scores, with its formulas, rounding
// and weights; a pipeline with these alone decides from the affinity graph, without looking at nodes one by one. All else is
// plugins, which work on sets and columns:
//
//   - a [Filter] narrows the set of feasible nodes;
//   - a [Scorer] fills a column, the score of each node, for a set of nodes. It may be a [Normalizer] and a [Preparer] too,
//     and keep what it works out for a decision in a [Slot]. One that is [Local] has its column kept for each class of pods
//     and is asked again only for the nodes that changed; one that is [Concurrent] is asked by several goroutines;
//   - a [Signal] is scores and refusals from a [Source] that may be slow or fail: each has a deadline, retries, and a fallback;
//   - a [Reserver] is told where a pod goes, before it is bound.
//
// A [Registry] holds plugins by name and version, and lets a version serve a share of the pods. Package scoretest tests a
// plugin's contract. Scorers for GPUs come with the package: [BestFit], [DotProduct], [GPUPacking], [GPUClustering], [FGD],
// [Headroom], [Random].
//
// With Config.Workers, nodes are scored by several goroutines, part by part ([Chunks]); a [Limiter] finds out how many are
// good. An [Evaluation] is a decision whose state others may watch.
//
// # The caller's duties
//
// A Pipeline belongs to the owner of its graph: calls must not overlap with each other or with updates of the graph. A
// decision changes nothing; bind the pod (Graph.Bind, or Place here) before the next one.
//
// # Guarantees
//
// Every feasible node is scored. The same calls give the same decisions, for any number of workers: nodes of equal score are
// told apart by the graph's order, not by chance. Only signals, and contexts that end, bring in time.
//
// A plugin that fails or panics, and a context that ends, are errors that leave the pipeline as it was. No goroutine outlives
// a call, but that of a Source that ignores its context.
//
// Built-in scores are normalised over the nodes that the rules and the filters of one's own leave, as in kube-scheduler; what sources
// refuse comes after that.
package score
