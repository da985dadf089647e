// Package heap decides what comes next: priority queues that are found by key, and the queue of a scheduler.
//
// # Concepts
//
//   - [Heap] is an indexed d-ary heap. What it compares is a rank, 64 bits that a function of the caller makes of a value.
//   - [Weighted] orders items by a base priority times the load factor of the group that they belong to. Either may change
//     at any time; the factor of a million items changes in constant time. [Controller] finds load factors by feedback.
//   - [Queue] holds what waits to be scheduled: active, backing off, refused and waiting for an event that helps, gated, or
//     gathering until its gang is complete. [Blocking] lets goroutines wait for it.
//   - [Fair] shares service among tenants by weight and keeps long jobs from starving short ones.
//   - [Adapter] runs a d-ary heap on a container/heap Interface.
//
// # The caller's duties
//
// Only Blocking is safe for concurrent use; everything else wants one user at a time. Time is handed in as an argument:
// nothing here reads a clock, starts a goroutine or draws a random number that could be seen in an answer. Functions that
// are handed in (ranks, hints, gates) must be pure, as they are called at times and as often as the package likes.
//
// # Guarantees
//
// The same calls give the same answers, on any machine. Equals leave in the order in which they came. A call that returns an
// error has changed nothing. What is in a container is never lost: it leaves when it is popped, removed or done.
package heap
