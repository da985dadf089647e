// Package cache holds the state of a cluster as it is observed: nodes and pods, in whatever order their events arrive.
//
// A [Cache] takes the events of a control plane from any number of goroutines. A pod may arrive before its node, and a
// node that goes away while pods remain is remembered, hidden, until it comes back or its last pod is gone. A decision
// that is on its way to the API server is an assumed pod: it counts from the moment of [Cache.Assume], until it is
// confirmed by the event of the bound pod ([Cache.AddPod]), given up ([Cache.Forget]), or its deadline comes
// ([Cache.Advance]). What kube-scheduler's cache does in these cases (pkg/scheduler/backend/cache/cache.go), this one does.
//
// # Who follows whom
//
//	event handlers --> Cache (shards) --> events --> Snapshot   read by anybody, without locks
//	                          ^                 \--> Replica    decided on by one scheduler
//	                          |                         |
//	                          +-------- Commit ------- Txn
//
// Nodes are divided into shards by a label, each with a RWMutex; an operation locks the shards that it concerns, in one
// order, and makes its change there or refuses it. Every change is an [Event] with a version, and all else follows the events:
//
//   - A [Snapshot] is immutable. [Cache.Publish] brings the latest up to date with the events since the last, in trees that share
//     what did not change; [Cache.Snapshot] loads it from an atomic pointer.
//   - A [Replica] is a private affinity graph for one scheduler, with its profiles and pipelines. [Replica.Sync] applies the events.
//   - A [Txn] is a what-if on a replica: place, evict, add, change and remove nodes, to any depth of savepoints, and roll
//     back what was tried. [Txn.Commit] makes it real, unless another has taken the room or broken a rule: that is found out by asking the rules
//     again, and told as conflicts. [Replica.Decide] and [Replica.Schedule] decide again on what conflicted.
//   - The events can be written to a log (package eventlog) and replayed with [Cache.Apply] to the same state, as
//     [Snapshot.Digest] shows; [Diff] and [Repair] find and mend what differs from a list of what is really there.
//
// # The caller's duties
//
// Specs that are handed in are kept and must not be changed afterwards. A Replica, its graph and its Txn have one owner.
// A decision that is committed is only an assumed pod: to bind it is the caller's business, and to forget it if that fails.
//
// # Guarantees
//
// Every method of Cache and Snapshot may be called from several goroutines. An event that contradicts the state is an error that
// changes nothing. Two commits never take the same room. Nothing runs in the background, and there is no clock but the one
// that is told to Advance.
package cache
