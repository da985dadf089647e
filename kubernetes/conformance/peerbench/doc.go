// Package peerbench measures how long schedulers take for a decision, side by side in one process.
//
// A [Shape] is a cluster with pods placed and a kind of pod to place, after the scheduler benchmarks of Kubernetes
// (test/integration/scheduler_perf). [Run] gives it to several peers and lets them decide in turn: each on the same cluster,
// each pod once, and before the next pod all of them put it where the first one chose.
//
// A decision is what kube-scheduler counts as its scheduling algorithm: UpdateSnapshot and SchedulePod; for berth, bringing the
// replica up to date and Pipeline.DecidePrepared. A cycle is the decision with the bookkeeping that makes it count for the next one: AssumePod
// there, a commit to the cache here. Part of berth's work on a decision is done in the placement of the one before, so the times of cycles
// tell what decisions alone would hide. What is not timed is what both do when an object
// arrives (converting it, parsing its terms), one pod ahead, so that the decisions of all peers lie between a pod's arrival and its own
// decision; and what neither does here: queueing, binding, talking to an API server.
//
// kube-scheduler's opportunistic batching has no part in this: it applies only after a pod of the same kind has filled
// the node that it was put on.
package peerbench
