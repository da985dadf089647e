package benchmarks_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth"
)

const (
	contenders     = 10_000 // goroutines
	contendedNodes = 1_000  // with ten pods each, besides one for each goroutine
	contendedRacks = 64
)

// BenchmarkContention is 10,000 goroutines at work on one state: handlers of events, each of a pod of its own, that also read. A round
// lasts half a second, and until all have finished what they were at; rounds of the store alternate with rounds of the
// one with a global mutex: x-mutex is the ratio of their throughputs, x-mutex-cpu that of the CPU time an operation, each the median
// of the rounds'.
//
// Between two operations a goroutine lets the others run. Latencies are those of single operations, waiting for locks included, lists
// excluded. waits/100-ops is how often a goroutine was put to sleep by a lock, which the mutex profile counts in a round of its own, and
// wait-ns/op how long for, by /sync/mutex/wait/total of runtime/metrics; an operation of the cache takes up to five locks,
// one of the global mutex takes one.
//
//	go test -run xxx -bench Contention -cpu 1,2,8 -benchtime 5x ./benchmarks
func BenchmarkContention(b *testing.B) {
	for _, impl := range stores {
		b.Run("impl="+impl.name, func(b *testing.B) {
			for _, m := range mixes {
				b.Run("mix="+m.name, func(b *testing.B) {
					n := contenders
					if impl.name == "cow" && m.name == "write-heavy" {
						n = 200 // 10,000 that wait to copy the maps, one by one, take minutes to get through
					}
					c, baseline := newContest(b, impl.make, m, n), newContest(b, newGlobalMutex, m, n)
					var all round
					var ratios, costs []float64
					for b.Loop() {
						r, base := c.round(), baseline.round()
						ratios = append(ratios, r.throughput()/base.throughput())
						costs = append(costs, r.cost()/base.cost())
						all.add(r)
					}
					all.add(c.profiled())
					c.check()
					all.report(b)
					slices.Sort(ratios)
					slices.Sort(costs)
					b.ReportMetric(float64(n), "goroutines")
					b.ReportMetric(ratios[len(ratios)/2], "x-mutex")
					b.ReportMetric(costs[len(costs)/2], "x-mutex-cpu")
				})
			}
		})
	}
}

// operation is a kind of operation whose latency is told apart.
type operation uint8

const (
	write    operation = iota
	read               // of a pod, or of what the pods of a node request, as it is now
	snapshot           // read of a pod from a snapshot
	list               // of all pods at one moment, as one who decides or lists needs it
	operations
)

// mix is how many of 1,000 operations are of each kind.
type mix struct {
	name string
	of   [operations]int
}

var mixes = []mix{
	{"read-heavy", [operations]int{write: 50, read: 475, snapshot: 474, list: 1}},
	{"write-heavy", [operations]int{write: 700, read: 150, snapshot: 149, list: 1}},
}

// contest is a store with the goroutines' work on it.
type contest struct {
	tb      testing.TB
	store   store
	mix     mix
	nodes   []string
	pods    []berth.PodKey
	specs   []berth.Pod
	workers []worker
}

func newContest(tb testing.TB, newStore func([]*berth.Node) (store, error), m mix, goroutines int) *contest {
	c := &contest{tb: tb, mix: m}
	var nodes []*berth.Node
	for i := range contendedNodes {
		n := scaleNode(i)
		n.Labels[rackKey] = fmt.Sprint("rack-", i%contendedRacks)
		nodes, c.nodes = append(nodes, n), append(c.nodes, n.Name)
	}
	var err error
	if c.store, err = newStore(nodes); err != nil {
		tb.Fatal(err)
	}
	for k := range 50 {
		c.specs = append(c.specs, scaleClass(k))
	}
	for i := range 10 * contendedNodes {
		p := c.pod(fmt.Sprint("pod-", i), i)
		if err := c.store.change(added, p); err != nil {
			tb.Fatal(err)
		}
		c.pods = append(c.pods, p.Key())
	}
	c.store.list() // and so publishes a first snapshot
	for i := range goroutines {
		c.workers = append(c.workers, worker{contest: c, name: fmt.Sprint("own-", i), rng: rand.NewPCG(1, uint64(i))})
	}
	return c
}

func (c *contest) pod(name string, i int) *berth.Pod {
	p := c.specs[i%len(c.specs)]
	p.Name, p.NodeName = name, c.nodes[i%len(c.nodes)]
	return &p
}

// worker is one goroutine's work: its pod comes and goes, and between that it looks at others.
type worker struct {
	contest *contest
	name    string
	rng     *rand.PCG
	life    int // how far the pod is
	pod     *berth.Pod
	took    [operations]latencies
	err     error
}

// course is what happens to a pod, again and again.
var course = []podChange{assumed, added, updated, updated, removed}

// one does one operation.
func (w *worker) one() {
	c := w.contest
	draw, kind := int(w.rng.Uint64()%1000), write
	for draw >= c.mix.of[kind] {
		draw -= c.mix.of[kind]
		kind++
	}
	i := w.rng.Uint64()
	key, node := c.pods[i%uint64(len(c.pods))], c.nodes[i%uint64(len(c.nodes))]
	what := course[w.life%len(course)]
	if kind == write {
		w.life++
		switch what {
		case assumed:
			w.pod = c.pod(w.name, int(i%1_000_000))
		case updated:
			next := *w.pod
			next.Requests.MilliCPU = 50 + int64(i%100)
			w.pod = &next
		}
	}
	start := time.Now()
	ok := true
	switch {
	case kind == write:
		w.err = c.store.change(what, w.pod)
	case kind == list:
		c.store.list()
	case kind == snapshot:
		ok = c.store.snapshotPod(key)
	case i%3 == 0:
		ok = c.store.milliCPU(node) > 0
	default:
		ok = c.store.pod(key)
	}
	w.took[kind] = append(w.took[kind], time.Since(start))
	if !ok {
		w.err = fmt.Errorf("%v or a pod of node %s is not there", key, node)
	}
}

// round is what the goroutines did, and how long it took.
type round struct {
	took    [operations]latencies
	elapsed time.Duration
	cpu     time.Duration
	waited  float64 // seconds for locks, of all goroutines together
	// slept is how often a lock put one to sleep, in so many operations.
	slept, watched int
}

const roundLength = 500 * time.Millisecond

// round lets all goroutines loose at once.
func (c *contest) round() round {
	var ready, done sync.WaitGroup
	begin := make(chan time.Time)
	for i := range c.workers {
		w := &c.workers[i]
		w.took = [operations]latencies{}
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			end := <-begin
			for time.Now().Before(end) && w.err == nil {
				w.one()
				runtime.Gosched()
			}
		})
	}
	ready.Wait()
	before := lockWait()
	cpu := cpuTime()
	start := time.Now()
	for range c.workers {
		begin <- start.Add(roundLength)
	}
	done.Wait()
	r := round{elapsed: time.Since(start), cpu: cpuTime() - cpu, waited: lockWait() - before}
	for i := range c.workers {
		if err := c.workers[i].err; err != nil {
			c.tb.Fatal(err)
		}
		for kind, l := range c.workers[i].took {
			r.took[kind] = append(r.took[kind], l...)
		}
	}
	return r
}

// profiled is a round of which the mutex profile is taken.
func (c *contest) profiled() round {
	old := runtime.SetMutexProfileFraction(1)
	defer runtime.SetMutexProfileFraction(old)
	before := slept()
	r := c.round()
	return round{slept: slept() - before, watched: r.operations()}
}

func (r *round) operations() (n int) {
	for _, l := range r.took {
		n += len(l)
	}
	return n
}

func (r *round) throughput() float64 { return float64(r.operations()) / r.elapsed.Seconds() }

// cost is the nanoseconds of CPU time that an operation took, what the goroutines do around it included.
func (r *round) cost() float64 { return float64(r.cpu) / float64(r.operations()) }

func (r *round) add(o round) {
	for kind, l := range o.took {
		r.took[kind] = append(r.took[kind], l...)
	}
	r.elapsed += o.elapsed
	r.cpu += o.cpu
	r.waited += o.waited
	r.slept += o.slept
	r.watched += o.watched
}

func (r *round) report(b *testing.B) {
	n := r.operations()
	b.ReportMetric(r.throughput(), "ops/s")
	b.ReportMetric(r.cost(), "cpu-ns/op")
	b.ReportMetric(1e9*r.waited/float64(n), "wait-ns/op")
	b.ReportMetric(100*float64(r.slept)/float64(r.watched), "waits/100-ops")
	slices.Concat(r.took[write], r.took[read], r.took[snapshot]).report(b, "")
	for kind, name := range [operations]string{write: "write-", read: "read-", snapshot: "snapshot-", list: "list-"} {
		if l := r.took[kind]; len(l) > 0 {
			l.report(b, name)
		}
	}
}

// lockWait is how long goroutines have waited for locks up to now, in seconds.
func lockWait() float64 {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}

// slept is how often a goroutine has been woken that slept for a lock of package sync, by the mutex profile.
func slept() int {
	n, _ := runtime.MutexProfile(nil)
	records := make([]runtime.BlockProfileRecord, 2*n+100)
	n, ok := runtime.MutexProfile(records)
	if !ok {
		panic("the mutex profile grows faster than it is read")
	}
	var count int64
	for _, r := range records[:n] {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if strings.Contains(f.Function, "sync.(*") && strings.HasSuffix(strings.ToLower(f.Function), "unlock") {
				count += r.Count
				break
			}
		}
	}
	return int(count)
}

// check holds the pods against the sums of the nodes.
func (c *contest) check() {
	var sum int64
	for _, node := range c.nodes {
		sum += c.store.milliCPU(node)
	}
	if pods := c.store.list(); sum != pods {
		c.tb.Fatalf("the nodes' sums are %d in all, their pods request %d", sum, pods)
	}
}
