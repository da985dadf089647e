// Package ring is a bounded queue for many producers and many consumers that
// takes no lock: completions of accelerators or of binders flow through it to
// workers that must not wait for each other.
//
// It is Dmitry Vyukov's bounded MPMC queue
// (https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue):
// an array of cells, each with a sequence number that says whose turn it is.
// A push or a pop is one compare-and-swap on a shared counter and one store
// into a cell that is then its own. Counters and cells sit on cache lines of
// their own. PopBatch takes a run of cells with one compare-and-swap, which is
// where a consumer that can handle several values gains most.
//
// The order is first in, first out among pushes that do not overlap in time.
// A goroutine that is stopped between claiming a cell and filling it holds up
// consumers at that cell, but never a producer elsewhere in the ring: the
// queue is free of locks, not wait-free.
//
// Push and Pop never block. A caller that has nothing else to do waits in its
// own way; what works well is runtime.Gosched after a failed attempt.
package ring
