// Package queue holds berth's scheduling queue, package heap, against the one of kube-scheduler v1.37.2.
//
// A [Queue] is either; [RunCase] puts one through a case of kind queue and says where it is not as expected. The test of this
// package drives both through the same random operations and requires equal answers: which pod is popped, and which pods are
// active, backing off and unschedulable after each step. By default it takes some thousands of steps; -steps=N takes more.
//
// What may help a waiting pod is not a matter of the queue but of its rules. Those of [NewBerth] are those of kube-scheduler's filters,
// written for objects of the API, without the wake-ups that v1.37.2 still loses: the deletion of the last peer of a pod with
// affinity to itself (kubernetes#141354), and peers in namespaces that only a selector names.
//
// Known differences of the queues, which the test steps around: kube-scheduler orders pods of equal priority by time stamps,
// so that those of the same moment leave in any order, where berth has them leave in order of entry. It brings a pod back that
// was deleted while it was being tried and then failed; its event handlers don't let it come to that.
package queue
