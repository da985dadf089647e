// Package explain says why a pod goes where it goes: why this node, why not that one, and what would have to change.
//
// [Explain] makes a decision as the pipeline would and says what it rests on. The [Explanation] is a plain value: how many
// nodes each rule refused; for each refused node what stands in the way, down to the taint, the missing label, the pod
// that holds the port or whose anti-affinity excludes the pod, and the smallest [Suggestion] that would make the node
// feasible; the scores of the best nodes by plugin; the runner-up, and what tipped the balance. It has a stable form in
// JSON, as a tree of text (String), as a table for logs (Table), and as one line in the words of kube-scheduler (Line).
// [WhatIf] answers the question what if the pod had been placed on a certain node.
//
// # What a suggestion minimises
//
// A suggestion is made of changes of the kinds that [Kind] lists, and the node is feasible once all of them are made:
// they are tried on the graph before they are suggested. What is minimised is first the number of changes; of as many
// changes, the number of pods that have to go; then of pods that go those of low priority are preferred. Changes to the
// cluster and tolerations come first: what the pod asks for (its node name, node selection, GPU models, affinity) is only
// given up where no change to the cluster could meet it. A label that says where a node is (hostname, zone, region) is
// added where it is missing, but not changed.
//
// Part of a suggestion is in every possible one: tolerations, uncordoning, the pods that hold a port or break an
// anti-affinity. For the rest all single changes are tried, then all pairs as long as there are at most [MaxPairs]
// candidates. Where that finds nothing the changes are collected greedily, and those that prove superfluous are left out:
// then there may be a smaller way. Suggestion.Smallest says whether it is certain that there is none; it is not where
// labels had to be chosen, as others might do with fewer other changes. Whatever is suggested, none of its changes can be
// left out. There is no suggestion where it would take more than [MaxChanges].
//
// Whether pods may be evicted (disruption budgets), whether others would fit where they are asked for, and what the
// pipeline's own filters would say is not looked at.
//
// # The caller's duties
//
// An explanation is asked of the owner of the graph, like a decision, and calls must not overlap with others. Filters,
// scorers and signals of the pipeline's own are asked as for a decision; one whose answers depend on time or on the number
// of calls, as score.Random, decides anew.
//
// # Guarantees
//
// Nothing is changed, and nothing costs anything unless it is asked for: the path of decisions does not know of this
// package. Evaluated is Feasible plus the sum of Refused; the terms of a score add up to its total; the node chosen is
// the one that Pipeline.Decide chooses.
package explain
