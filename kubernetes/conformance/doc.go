// Package conformance asks several schedulers the same questions and compares what they answer.
//
// A [Cluster] is what an API server would hold. A [Scheduler] is given one, is told of changes, and answers questions about
// pods: which plugin refuses which node and whether preemption could help, what each plugin scores the other nodes, which
// nodes are best, and who would be preempted where. There are three, which package schedulers knows by name:
//
//   - package kube drives kube-scheduler's own in-tree plugins, cache and nominator, without an API server: the judge;
//   - package fast is berth as its users have it: cache.Cache and score.Pipeline;
//   - package slow is the reference that berth's own tests hold it against.
//
// [Evaluation.Diff] and [Preemption.Diff] compare answers. Three programs ask the questions:
//
//	cmd/cases         questions from case files, with the answers beside them
//	cmd/differential  random clusters; whoever differs from kube-scheduler is shown by the smallest cluster that shows it
//	cmd/peerbench     how long the answers take, decision by decision on the same cluster
//
// Packages queue and numa do the same for the scheduling queue and for the kubelet's alignment.
//
// Where berth means to differ from kube-scheduler is written in docs/DIFFERENCES.md, with a test for each place. Nothing that
// is compared is let pass as a known difference.
//
// This module needs k8s.io/kubernetes and takes minutes to compile. Users of berth have no need for it: what they need is
// package convert of the module above.
package conformance
