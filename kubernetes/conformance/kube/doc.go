// Package kube answers questions with kube-scheduler v1.37.2 itself: its cache, its nominator and its in-tree plugins in
// their default order and with their default weights, run through its framework. There is no API server; what plugins
// look up in informers (namespaces, services, controllers, disruption budgets) is put there by hand.
//
// [New] makes a [Scheduler] for a cluster. Evaluate runs PreFilter, Filter with nominated pods, PreScore, Score and
// NormalizeScore for every node, without sampling. Preempt dry-runs DefaultPreemption on every node that could be a
// candidate. Decide and Assume do what the scheduler's own cycle does, sampling and arbitrary ties included, for benchmarks.
//
// A Scheduler is not safe for concurrent use. It holds goroutines until it is closed.
package kube
