package heap

import (
	"cmp"
	"fmt"
	"math"
)

// FairConfig says how a Fair tells short jobs from long ones. The zero value does not.
type FairConfig struct {
	// Short is the greatest cost of a short job; 0 makes all jobs equal.
	Short float64
	// ShortShare is the share of its tenant's service that short jobs are given while long ones wait too, above 0 and below 1.
	// 0 means one half. What short jobs leave of it is used by long ones, and the other way round.
	ShortShare float64
}

// Fair is a queue of jobs of tenants that shares service among those who wait, in proportion to their weights and whatever
// the cost of each job: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996). The jobs of a tenant leave in order of
// arrival, but short jobs have a lane of their own, which is served likewise: a short job waits for the one job in service
// and for its share of short ones, but never for a heap of long ones, and long jobs keep the rest of the service.
//
// Two tenants f and g that both wait get service W that satisfies |Wf/wf - Wg/wg| <= cf/wf + cg/wg over any time, with w their
// weights and c their greatest costs (theorem 1 there): no one starves. It never idles while a job waits.
//
// With t waiting tenants Push and Pop take O(log t), and allocate only while the queue grows. Use NewFair. A Fair is not safe
// for concurrent use.
type Fair[T comparable, V any] struct {
	config  FairConfig
	weights map[T]float64 // other than 1
	tenants map[T]*tenant[V]
	heads   *Heap[T, *tenant[V]] // those with jobs, by start tag
	spare   []*tenant[V]
	clock   float64 // virtual time: the start tag of the job in service
	length  int
}

// tenant is a flow of jobs among those of other tenants, and of two lanes itself.
type tenant[V any] struct {
	tags
	clock float64 // virtual time of the lanes
	lanes [2]lane[V]
}

const (
	short = iota
	long
)

type lane[V any] struct {
	tags
	share float64
	jobs  fifo[job[V]]
}

// tags are where a flow stands in virtual time: its first job starts at start, and its last one ended at finish.
type tags struct{ start, finish float64 }

// arrive lets a flow that was idle begin; what it did not use while idle is gone.
func (t *tags) arrive(clock float64) { t.start = max(clock, t.finish) }

// serve accounts for a job of a flow.
func (t *tags) serve(cost, weight float64) {
	t.finish = t.start + cost/weight
	t.start = t.finish // if another job waits
}

type job[V any] struct {
	value V
	cost  float64
}

// NewFair returns an empty queue. It returns ErrRange for a Short that is negative or not finite and a ShortShare outside
// [0, 1).
func NewFair[T comparable, V any](config FairConfig) (*Fair[T, V], error) {
	if !(config.Short >= 0 && config.Short <= maxMagnitude) {
		return nil, fmt.Errorf("%w: Short %v is not in [0, 1e100]", ErrRange, config.Short)
	}
	if !(config.ShortShare >= 0 && config.ShortShare < 1) {
		return nil, fmt.Errorf("%w: ShortShare %v is not in [0, 1)", ErrRange, config.ShortShare)
	}
	config.ShortShare = cmp.Or(config.ShortShare, 0.5)
	return &Fair[T, V]{
		config:  config,
		weights: map[T]float64{},
		tenants: map[T]*tenant[V]{},
		heads:   New[T](Order[*tenant[V]]{Rank: func(t *tenant[V]) uint64 { return Ascending(t.start) }}),
	}, nil
}

// Len returns the number of jobs.
func (f *Fair[T, V]) Len() int { return f.length }

// SetWeight sets the weight of a tenant, 1 until then, for the jobs that leave from now on. It returns ErrRange for a weight
// outside [1e-9, 1e9].
func (f *Fair[T, V]) SetWeight(name T, weight float64) error {
	if !(weight >= 1e-9 && weight <= 1e9) {
		return fmt.Errorf("%w: weight %v of tenant %v is not in [1e-9, 1e9]", ErrRange, weight, name)
	}
	if weight == 1 {
		delete(f.weights, name)
	} else {
		f.weights[name] = weight
	}
	return nil
}

// Push adds a job behind those of its tenant and lane. The cost is how much service it takes, in any unit. It returns ErrRange
// for a cost outside (0, 1e100].
func (f *Fair[T, V]) Push(name T, value V, cost float64) error {
	if !(cost > 0 && cost <= maxMagnitude) {
		return fmt.Errorf("%w: cost %v of a job of tenant %v is not in (0, 1e100]", ErrRange, cost, name)
	}
	if f.length == 0 {
		f.restart()
	}
	f.length++
	t, ok := f.tenants[name]
	if !ok {
		t = f.newTenant()
		f.tenants[name] = t
	}
	if t.idle() {
		t.arrive(f.clock)
		_ = f.heads.Push(name, t) // idle tenants are not there
	}
	l := &t.lanes[long]
	if cost <= f.config.Short {
		l = &t.lanes[short]
	}
	if l.jobs.len() == 0 {
		l.arrive(t.clock)
	}
	l.jobs.push(job[V]{value, cost})
	return nil
}

// Pop removes the next job and returns it, and false if there is none.
func (f *Fair[T, V]) Pop() (name T, value V, ok bool) {
	name, t, ok := f.heads.Peek()
	if !ok {
		return name, value, false
	}
	f.length--
	l := t.next()
	next := l.jobs.pop()
	f.clock, t.clock = t.start, l.start
	l.serve(next.cost, l.share)
	t.serve(next.cost, f.weight(name))
	f.heads.Remove(name)
	if !t.idle() {
		_ = f.heads.Push(name, t) // just removed; behind its equals
	}
	return name, next.value, true
}

func (f *Fair[T, V]) weight(name T) float64 {
	if w, ok := f.weights[name]; ok {
		return w
	}
	return 1
}

// restart begins virtual time anew: with nothing waiting, no one is ahead of anyone. It also keeps the numbers small.
func (f *Fair[T, V]) restart() {
	f.clock = 0
	for name, t := range f.tenants { // in any order: all become the same
		delete(f.tenants, name)
		f.spare = append(f.spare, t)
	}
}

func (f *Fair[T, V]) newTenant() *tenant[V] {
	t := new(tenant[V])
	if last := len(f.spare) - 1; last >= 0 {
		t, f.spare = f.spare[last], f.spare[:last]
	}
	t.tags, t.clock = tags{}, 0
	for i, share := range [...]float64{f.config.ShortShare, 1 - f.config.ShortShare} {
		t.lanes[i].tags, t.lanes[i].share = tags{}, share
	}
	return t
}

func (t *tenant[V]) idle() bool { return t.lanes[short].jobs.len()+t.lanes[long].jobs.len() == 0 }

// next returns the lane whose turn it is; the short one if both are.
func (t *tenant[V]) next() *lane[V] {
	start := [2]float64{math.Inf(1), math.Inf(1)}
	for i := range t.lanes {
		if t.lanes[i].jobs.len() > 0 {
			start[i] = t.lanes[i].start
		}
	}
	if start[short] <= start[long] {
		return &t.lanes[short]
	}
	return &t.lanes[long]
}
