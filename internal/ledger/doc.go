// Package ledger counts what a node has given away, in the one way that the affinity graph and the cache must agree on: a pod
// that the cache accepts, the graph has to accept.
package ledger

// MaxUsed bounds what can be used of a resource on a node, so that no sum or difference of amounts overflows.
const MaxUsed = 1 << 61
