package runqueue

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berth-go/berth/numa"
)

// machine has nodes on a line, a package each, two caches a node and cores
// under each.
func machine(t testing.TB, nodes, cores int) (*numa.Layout, []int) {
	t.Helper()
	m := &numa.Machine{}
	var cpus []int
	for n := range nodes {
		m.Nodes = append(m.Nodes, numa.Node{ID: n})
		row := make([]int, nodes)
		for k := range row {
			row[k] = 10 + 6*max(n-k, k-n)
		}
		m.Distances = append(m.Distances, row)
		for half := range 2 {
			c := numa.Cache{ID: 2*n + half, Level: 3}
			for range cores / 2 {
				id := len(m.CPUs)
				m.CPUs = append(m.CPUs, numa.CPU{ID: id, Core: id, Package: n, Node: n})
				c.CPUs.Add(id)
				cpus = append(cpus, id)
			}
			m.Caches = append(m.Caches, c)
		}
	}
	l, err := numa.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	return l, cpus
}

func newQueue(t testing.TB, nodes, cores int, cfg Config) *Queue[int] {
	t.Helper()
	l, cpus := machine(t, nodes, cores)
	cfg.CPUs = cpus
	q, err := New[int](l, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestNearestFirst(t *testing.T) {
	// Workers 0,1 and 2,3 share caches on node 0; 4..7 are node 1, 8..11
	// node 2.
	q := newQueue(t, 3, 4, Config{})
	for _, w := range []int{9, 5, 3, 1, 0} {
		q.Push(w, w)
	}
	q.Submit(100)
	for _, want := range []struct {
		v    int
		from Source
	}{{0, Own}, {100, Global}, {1, SameCache}, {3, SameNode}, {5, Remote}, {9, Remote}} {
		v, from, ok := q.Next(0)
		if !ok || v != want.v || from != want.from {
			t.Errorf("got %d from %d (%v), want %+v", v, from, ok, want)
		}
	}
	if _, from, ok := q.Next(0); ok || from != None {
		t.Errorf("the queue is empty, got a task from %d", from)
	}
}

func TestThievesTakeTheOlderHalfNearbyAndOneFromFar(t *testing.T) {
	q := newQueue(t, 2, 4, Config{})
	for i := range 8 {
		q.Push(0, i)
	}
	if v, _, _ := q.Next(1); v != 0 || q.workers[1].own.len() != 3 || q.workers[0].own.len() != 4 {
		t.Errorf("nearby: ran %d, kept %d, left %d; want 0, 3, 4", v, q.workers[1].own.len(), q.workers[0].own.len())
	}
	if v, from, _ := q.Next(4); from != Remote || q.workers[4].own.len() != 0 {
		t.Errorf("far: ran %d from %d and kept %d; want to keep none", v, from, q.workers[4].own.len())
	}
}

func TestAFullDequeSpillsItsOlderHalf(t *testing.T) {
	q := newQueue(t, 1, 2, Config{Local: 4, Global: 3})
	for i := range 7 {
		if !q.Push(0, i) {
			t.Fatalf("task %d refused with %d queued", i, q.Len())
		}
	}
	if q.Push(0, 7) || q.Submit(8) || q.Len() != 7 {
		t.Fatalf("accepted more than it holds: %d", q.Len())
	}
	var got []int
	for {
		v, _, ok := q.Next(0)
		if !ok {
			break
		}
		got = append(got, v)
	}
	if len(got) != 7 || got[0] != 6 {
		t.Errorf("order %v, want the newest first and all of them", got)
	}
}

func TestOldTasksAreServed(t *testing.T) {
	q := newQueue(t, 1, 2, Config{Fairness: 4})
	q.Submit(-1)
	q.Push(0, -2)
	for i := range 12 {
		q.Push(0, i)
		if v, _, _ := q.Next(0); v == -2 {
			return
		}
	}
	t.Error("the oldest task is still waiting after twelve calls with a fairness of four")
}

// The queue against a bag: whatever the order, nothing is lost or invented,
// and Next is empty-handed only if the bag is empty.
func TestEqualsABag(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		q := newQueue(t, 1+rng.IntN(3), 2+2*rng.IntN(2), Config{Local: 2 + rng.IntN(6), Global: 1 + rng.IntN(8), Fairness: 1 + rng.IntN(5)})
		bag := map[int]bool{}
		for i := range 400 {
			w := rng.IntN(len(q.workers))
			switch rng.IntN(5) {
			case 0, 1:
				if q.Push(w, i) {
					bag[i] = true
				}
			case 2:
				if q.Submit(i) {
					bag[i] = true
				}
			default:
				v, _, ok := q.Next(w)
				if ok != (len(bag) > 0) || ok && !bag[v] {
					t.Fatalf("Next is %d %v with %d queued", v, ok, len(bag))
				}
				delete(bag, v)
			}
			if q.Len() != len(bag) {
				t.Fatalf("Len is %d, want %d", q.Len(), len(bag))
			}
		}
	}
}

func TestConcurrentWorkersRunEachTaskOnce(t *testing.T) {
	q := newQueue(t, 2, 4, Config{Local: 16, Global: 32})
	const each = 3_000
	n := len(q.workers)
	ran := make([]atomic.Int32, n*each)
	var total atomic.Int64
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			next := 0
			for total.Load() < int64(n*each) {
				if next < each && (q.Push(w, w*each+next) || q.Submit(w*each+next)) {
					next++
				}
				if next%3 == 0 || next == each {
					if v, _, ok := q.Next(w); ok {
						ran[v].Add(1)
						total.Add(1)
					} else {
						runtime.Gosched()
					}
				} else if q.Len() > 100 {
					if v, _, ok := q.Next(w); ok {
						ran[v].Add(1)
						total.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	for v := range ran {
		if c := ran[v].Load(); c != 1 {
			t.Fatalf("task %d ran %d times", v, c)
		}
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	l, cpus := machine(t, 1, 2)
	for _, cfg := range []Config{
		{}, {CPUs: []int{99}}, {CPUs: cpus, Local: 1}, {CPUs: cpus, Global: -1}, {CPUs: cpus, Fairness: -3},
	} {
		if _, err := New[int](l, cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: got %v", cfg, err)
		}
	}
}

func TestPushAndNextDoNotAllocate(t *testing.T) {
	q := newQueue(t, 2, 4, Config{})
	if n := testing.AllocsPerRun(200, func() {
		q.Push(0, 1)
		q.Push(5, 2)
		q.Next(0)
		q.Next(0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
