// Package queue holds berth's scheduling queue, package heap, against the one of kube-scheduler v1.37.2.
//
// A [Queue] is either; [RunCase] puts one through a case of kind queue and says where it is not as expected. The tests of this
// package drive both through the same random operations and require equal answers: which pod is popped, and which pods are
// active, backing off and unschedulable after each step. By default they take some thousands of steps; -steps=N takes more.
//
// What may help a waiting pod is not a matter of the queue but of its rules. Those of [NewBerth] are kube-scheduler's filters,
// held against its queueing hints on random pods, nodes and events, without the wake-ups that v1.37.2 still loses: the
// deletion of the last peer of a pod with affinity to itself (kubernetes#141354), and what happens to peers in namespaces that
// only a selector names.
//
// Where the queues differ on purpose, and the tests step around it:
//
//   - Pods of equal priority that entered at the same moment leave in any order there, in order of entry here.
//   - A pod that is deleted while it is being tried, and then fails, comes back there unless the caller prevents it. Here it
//     does not.
//   - When a pod in flight changes, others in flight hear of it there. Here only the pod itself does.
//   - A gang that is refused here waits for an event that may help one of its members, as single pods do; there it backs off
//     and is tried again. Gangs are not part of the comparison: in v1.37 they are behind a gate that is off by default.
package queue
