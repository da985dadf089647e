// Package runqueue hands tasks to a caller's workers so that a task is run
// near where it was queued.
//
// Each worker has a deque of its own, and there is one bounded global queue. A
// worker takes its newest task, which is warm in its cache. One without tasks
// looks into the global queue and then steals: from workers under the same
// last-level cache, then from those of the same NUMA node, then from other
// nodes, the nearest first that has at least half as much as the richest of
// them. It steals the oldest half of what it finds on its
// own node, and a single task from another: what a far worker takes it has to
// fetch from far, so it takes no more than it can run at once.
//
// Starvation: newest first could leave old tasks waiting for ever, and busy
// workers the global queue. Every Config.Fairness-th call of a worker looks
// into the global queue first and takes the oldest of its own tasks.
//
// The caller owns the workers: the package starts no goroutine and never
// blocks. A worker calls Next in a loop and, on false, waits in a way of its
// own. What it must keep: at most one goroutine at a time calls Push and Next
// for one worker.
//
// Guarantees: a task that Push or Submit accepted comes out of Next exactly
// once; if Next reports false, every queue was empty at some moment while it
// ran its course through them.
package runqueue
