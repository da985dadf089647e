// Package cache holds the state of a cluster as it is observed: nodes and pods, in whatever order their events arrive.
//
// A [Cache] takes the events of a control plane from any number of goroutines. A pod may arrive before its node, and a
// node that goes away while pods remain is remembered, hidden, until it comes back or its last pod is gone. A decision
// that is on its way to the API server is an assumed pod: it counts from the moment of [Cache.Assume], until it is
// confirmed by the event of the bound pod ([Cache.AddPod]) or given up ([Cache.Forget]). What kube-scheduler's cache
// does in these cases (pkg/scheduler/backend/cache/cache.go), this one does.
//
// Decisions are made on the affinity graph that the cache keeps, under its lock ([Cache.Do]), or apart from it on a
// [Snapshot], an immutable copy that is read without locks.
//
// # The caller's duties
//
// Specs that are handed in are kept and must not be changed afterwards. An affinity.Profile or score.Pipeline on the
// graph of a Cache may only be used inside Do.
//
// # Guarantees
//
// Every method may be called from several goroutines. An event that contradicts the state is an error that changes
// nothing. Nothing runs in the background.
package cache
