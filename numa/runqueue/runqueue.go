package runqueue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth/numa"
)

// ErrConfig marks a Config that does not fit the machine or is out of range.
var ErrConfig = errors.New("runqueue: config")

// Config describes the workers. Zero fields mean the default.
type Config struct {
	// CPUs holds the CPU of each worker, the number of a worker being its
	// index. Several workers may share a CPU. There is no default.
	CPUs []int
	// Local bounds the tasks that a worker's own deque holds; when it is
	// full, half of it goes to the global queue. Default 256, at least 2.
	Local int
	// Global bounds the global queue. Default 64 for each worker.
	Global int
	// Fairness is the number of calls of Next after which a worker serves
	// the global queue and its oldest task first. Default 61, as in Go's
	// own scheduler (runtime, proc.go, findRunnable).
	Fairness int
}

// Source says where a task came from.
type Source uint8

// Sources, from near to far.
const (
	// None: there was no task.
	None Source = iota
	// Own deque of the worker.
	Own
	// Global queue.
	Global
	// SameCache: stolen from a worker under the same last-level cache.
	SameCache
	// SameNode: stolen from a worker of the same NUMA node.
	SameNode
	// Remote: stolen from another node.
	Remote
)

// Queue distributes tasks. Make one with New. Push and Next of different
// workers, Submit and Len may be called concurrently.
type Queue[T any] struct {
	workers  []worker[T]
	global   deque[T]
	fairness int
}

type worker[T any] struct {
	own     deque[T]
	victims []victims // nearest first
	calls   int
	stolen  []T // scratch of Next
	_       [64]byte
}

// victims are workers at the same distance, tried in turn from a point that
// moves on with every theft, so that thieves spread out.
type victims struct {
	source Source
	list   []int
	next   int
}

// New returns an empty queue for workers on the machine's CPUs. O(workers
// squared). The error wraps [ErrConfig].
func New[T any](l *numa.Layout, cfg Config) (*Queue[T], error) {
	n := len(cfg.CPUs)
	if n == 0 {
		return nil, fmt.Errorf("%w: CPUs is empty", ErrConfig)
	}
	set := func(field string, v *int, def, low int) error {
		if *v == 0 {
			*v = def
		}
		if *v < low || *v > 1<<24 {
			return fmt.Errorf("%w: %s = %d is outside %d..%d", ErrConfig, field, *v, low, 1<<24)
		}
		return nil
	}
	if err := errors.Join(
		set("Local", &cfg.Local, 256, 2),
		set("Global", &cfg.Global, min(64*n, 1<<24), 1),
		set("Fairness", &cfg.Fairness, 61, 1),
	); err != nil {
		return nil, err
	}
	for i, cpu := range cfg.CPUs {
		if l.NodeOf(cpu) < 0 {
			return nil, fmt.Errorf("%w: CPUs[%d] = %d: the machine has no such CPU", ErrConfig, i, cpu)
		}
	}
	q := &Queue[T]{workers: make([]worker[T], n), fairness: cfg.Fairness}
	q.global.ring = make([]T, cfg.Global)
	for i := range q.workers {
		q.workers[i].own.ring = make([]T, cfg.Local)
		q.workers[i].victims = order(l, cfg.CPUs, i)
		q.workers[i].stolen = make([]T, cfg.Local/2+1)
	}
	return q, nil
}

// order groups the other workers by how near they are.
func order(l *numa.Layout, cpus []int, self int) []victims {
	cache, node := l.CacheOf(cpus[self]), l.NodeOf(cpus[self])
	type place struct {
		source   Source
		distance int
	}
	groups := map[place]*victims{}
	var places []place
	for i, cpu := range cpus {
		if i == self {
			continue
		}
		p := place{Remote, l.Distance(node, l.NodeOf(cpu))}
		switch {
		case l.NodeOf(cpu) != node:
		case l.CacheOf(cpu) == cache:
			p = place{SameCache, 0}
		default:
			p = place{SameNode, 0}
		}
		if groups[p] == nil {
			groups[p] = &victims{source: p.source}
			places = append(places, p)
		}
		groups[p].list = append(groups[p].list, i)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.distance, b.distance))
	})
	var list []victims
	for _, p := range places {
		v := groups[p]
		// Start behind oneself, not all at the first worker.
		v.next = self % len(v.list)
		list = append(list, *v)
	}
	return list
}

// Push queues a task for a worker. If the worker's deque is full, its older
// half goes to the global queue first; if that is full too, nothing changes
// and Push returns false. O(1) amortised.
func (q *Queue[T]) Push(worker int, v T) bool {
	w := &q.workers[worker]
	if w.own.push(v) {
		return true
	}
	moved := w.own.takeOldest(w.stolen, len(w.own.ring)/2)
	kept := q.global.pushAll(w.stolen[:moved])
	w.own.giveBack(w.stolen[kept:moved])
	clear(w.stolen[:moved])
	return w.own.push(v)
}

// Submit queues a task for whoever comes first, or returns false if the
// global queue is full. O(1).
func (q *Queue[T]) Submit(v T) bool { return q.global.push(v) }

// Next takes a task for a worker and tells where it came from; ok is false if
// there was none. O(1) while the worker has tasks, O(workers) to find out that
// nobody has.
func (q *Queue[T]) Next(worker int) (v T, from Source, ok bool) {
	w := &q.workers[worker]
	if w.calls++; w.calls%q.fairness == 0 {
		if v, ok = q.global.oldest(); ok {
			return v, Global, true
		}
		if v, ok = w.own.oldest(); ok {
			return v, Own, true
		}
	}
	if v, ok = w.own.newest(); ok {
		return v, Own, true
	}
	if v, ok = q.global.oldest(); ok {
		return v, Global, true
	}
	// Of the far ones only those are worth a visit that have about as much
	// as any: who takes the last tasks of a neighbour only sends him out to
	// steal as well. In the second round any task will do, for tasks move
	// while one looks.
	for _, round := range []int{0, 1} {
		rich := 1
		for i := range w.victims {
			from := &w.victims[i]
			if from.source == Remote && round == 0 && rich == 1 {
				rich = max(1, q.longest(w.victims[i:])/2)
			}
			if v, ok = q.steal(w, from, rich); ok {
				return v, from.source, true
			}
		}
	}
	return v, None, false
}

// longest is the length of the longest deque among the victims.
func (q *Queue[T]) longest(groups []victims) int {
	n := 0
	for i := range groups {
		for _, other := range groups[i].list {
			n = max(n, q.workers[other].own.len())
		}
	}
	return n
}

// steal takes from the first of the victims that has at least rich tasks: the
// oldest one to run and, nearby, up to half of the rest to keep.
func (q *Queue[T]) steal(w *worker[T], from *victims, rich int) (v T, ok bool) {
	for range from.list {
		other := &q.workers[from.list[from.next]].own
		if from.next++; from.next == len(from.list) {
			from.next = 0
		}
		if other.len() < rich {
			continue
		}
		most := 1
		if from.source != Remote {
			most = (other.len() + 1) / 2
		}
		n := other.takeOldest(w.stolen, min(most, len(w.stolen)))
		if n == 0 {
			continue
		}
		v = w.stolen[0]
		w.own.pushAll(w.stolen[1:n]) // fits: it is empty, and half of one
		clear(w.stolen[:n])
		return v, true
	}
	return v, false
}

// Len returns the number of tasks, exact only while nobody pushes or takes.
func (q *Queue[T]) Len() int {
	n := q.global.len()
	for i := range q.workers {
		n += q.workers[i].own.len()
	}
	return n
}
