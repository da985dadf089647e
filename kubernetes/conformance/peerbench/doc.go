// Package peerbench measures how long schedulers take for a decision, side by side in one process.
//
// A [Shape] is a cluster with pods placed and a kind of pod to place, after the scheduler benchmarks of Kubernetes
// (test/integration/scheduler_perf). [Run] gives it to several peers and lets them decide in turn: each on the same cluster,
// each pod once, and before the next pod all of them put it where the first one chose. What is timed is the decision and
// the bookkeeping that makes it count for the next one: for kube-scheduler UpdateSnapshot, SchedulePod and AssumePod, for
// berth the same of its cache and pipeline. What is not timed is what both do when an object arrives (converting it,
// parsing its terms) and what neither does here: queueing, binding, talking to an API server.
//
// kube-scheduler's opportunistic batching has no part in this: it applies only after a pod of the same kind has filled
// the node that it was put on.
package peerbench
