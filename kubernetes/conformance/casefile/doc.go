// Package casefile reads questions about scheduling from YAML files, and checks answers against the ones beside them.
//
// A file holds one [Case]: a cluster, pods to place, steps that change the cluster, and what is to be expected in between.
// The kind says what it is about. [Case.Check] runs all kinds that a [conformance.Scheduler] can answer: filter, score,
// spread, affinity, antiaffinity, taint, resources, preemption, cache and perf. The kinds queue, numa and gang are about
// other parts of a scheduler; whoever has such a part reads the same Case.
//
// # Reading a case
//
//   - Affinity, spread constraints, tolerations, containers, resources and status have the names and types of core/v1.
//     Requests is short for one container "main"; Images adds containers, ImageVolumes adds volumes.
//   - Count: n makes copies name-0 to name-(n-1). In node labels and in a pod's node, {i} is the number of the copy,
//     {i%k} its remainder and {name} its name.
//   - A node without an amount of pods offers 110. A pod without a namespace is in "default". A terminating pod has a
//     deletion time. Pods without a node are waiting, perhaps nominated.
//   - Pods are written as a user writes them: matchLabelKeys are merged when the pod is created.
//   - What is to be expected after k steps has after: k; without it, after all of them. Placed binds the pod before the
//     next question.
//   - A check that carries v1_37_2 has two answers: what is documented, and what kube-scheduler v1.37.2 does instead.
package casefile
