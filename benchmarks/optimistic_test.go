package benchmarks_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/score"
)

// BenchmarkOptimistic is several schedulers that place pods on one cache at a time, each with a replica and a pipeline of its own, as in
// Omega (Schwarzkopf et al., EuroSys 2013). A round places 2,000 pods, a like part by each, on nodes that have room for one in ten more;
// each commits pod by pod, or 50 pods at a time. Where they spread, nodes are taken in turn; where they pack, all want the same.
// With commit=pod-in-turn each lets the others run between decision and commit, as if it had a core of its own or took longer to
// decide: on few cores, decisions of microseconds are seldom overtaken otherwise.
//
// Rounds alternate with rounds of a single scheduler on a cache of its own: x-one is the ratio of pods a second, and x-one-cpu of
// the CPU time a pod, each the median of the rounds'. overtaken-% is the share of commits before which others had committed
// since the decision, and redecided-% how many decisions had to be made again because of that, of 100 pods; most-decisions is
// the largest number of decisions for one commit. After each round every node is held against its room, and every pod must be
// there once.
//
//	go test -run xxx -bench Optimistic -benchtime 10x ./benchmarks
func BenchmarkOptimistic(b *testing.B) {
	strategies := []struct {
		name   string
		config score.Config
	}{{"spread", score.KubeDefault()}, {"pack", score.MostAllocated()}}
	for _, schedulers := range []int{1, 2, 4, 8} {
		for _, nodes := range []int{1_000, 10_000} {
			for _, strategy := range strategies {
				for _, way := range commitWays {
					name := fmt.Sprintf("schedulers=%d/nodes=%d/strategy=%s/commit=%s", schedulers, nodes, strategy.name, way.name)
					b.Run(name, func(b *testing.B) {
						newRace(b, strategy.config, nodes, schedulers, way).against(newRace(b, strategy.config, nodes, 1, way), b)
					})
				}
			}
		}
	}
}

// commitWay is how many pods are committed together, and whether others run between decision and commit.
type commitWay struct {
	name   string
	pods   int
	inTurn bool
}

var commitWays = []commitWay{{"pod", 1, false}, {"pod-in-turn", 1, true}, {"50-pods", 50, false}}

func (r *race) against(one *race, b *testing.B) {
	var sum scheduler // of all rounds
	var elapsed, cpu time.Duration
	var ratios, costs []float64
	for b.Loop() {
		took, used := r.round()
		alone, usedAlone := one.round()
		elapsed += took
		cpu += used
		ratios = append(ratios, alone.Seconds()/took.Seconds())
		costs = append(costs, used.Seconds()/usedAlone.Seconds())
		for _, s := range r.schedulers {
			sum.decisions += s.decisions
			sum.pods += s.pods
			sum.commits += s.commits
			sum.overtaken += s.overtaken
			sum.most = max(sum.most, s.most)
		}
	}
	slices.Sort(ratios)
	slices.Sort(costs)
	b.ReportMetric(float64(cpu.Microseconds())/float64(sum.pods), "cpu-µs/pod")
	b.ReportMetric(costs[len(costs)/2], "x-one-cpu")
	b.ReportMetric(float64(sum.pods)/elapsed.Seconds(), "pods/s")
	b.ReportMetric(ratios[len(ratios)/2], "x-one")
	b.ReportMetric(float64(sum.most), "most-decisions")
	b.ReportMetric(100*float64(sum.overtaken)/float64(sum.commits), "overtaken-%")
	b.ReportMetric(100*float64(sum.decisions-sum.pods)/float64(sum.pods), "redecided-%")
}

// race is a cache with schedulers, and the pods that they place in a round.
type race struct {
	tb         testing.TB
	cache      *cache.Cache
	room       map[string]int64 // of each node: pods
	schedulers []*scheduler
	pods       []*berth.Pod
	way        commitWay
}

const (
	raced     = 2_000 // pods in a round
	racedSlot = 1_000 // milli CPU that each pod takes
)

// newRace fills nodes so that they have room for 2,200 pods, some for more than others.
func newRace(tb testing.TB, cfg score.Config, nodes, schedulers int, way commitWay) *race {
	c, err := cache.New(cache.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	r := &race{tb: tb, cache: c, room: make(map[string]int64), way: way}
	for i := range nodes {
		n := scaleNode(i)
		free := int64((i+1)*raced*11/10/nodes - i*raced*11/10/nodes)
		filler := &berth.Pod{Namespace: "full", Name: fmt.Sprint("filler-", i), NodeName: n.Name}
		filler.Requests.MilliCPU = n.Allocatable.MilliCPU - free*racedSlot
		r.room[n.Name] = n.Allocatable.MilliCPU
		r.must(c.AddNode(n))
		r.must(c.AddPod(filler))
	}
	for range schedulers {
		s, err := newScheduler(c, cfg, way.inTurn)
		r.must(err)
		r.schedulers = append(r.schedulers, s)
	}
	for i := range raced {
		r.pods = append(r.pods, &berth.Pod{Namespace: "default", Name: fmt.Sprint("pod-", i), Labels: map[string]string{"app": "raced"},
			Requests: berth.Resources{MilliCPU: racedSlot, Memory: 64 << 20}})
	}
	r.round()
	return r
}

func (r *race) must(err error) {
	if err != nil {
		r.tb.Helper()
		r.tb.Fatal(err)
	}
}

// round places all pods, returns how long that took and the CPU time, checks the state, and takes the pods out again.
func (r *race) round() (took, cpu time.Duration) {
	for _, s := range r.schedulers {
		s.decisions, s.pods, s.commits, s.overtaken = 0, 0, 0, 0
		r.must(s.replica.Sync())
	}
	var all sync.WaitGroup
	start, used := time.Now(), cpuTime()
	for i, s := range r.schedulers {
		all.Go(func() {
			share := r.pods[i*len(r.pods)/len(r.schedulers) : (i+1)*len(r.pods)/len(r.schedulers)]
			for batch := range slices.Chunk(share, r.way.pods) {
				if s.err = s.place(batch); s.err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	took, cpu = time.Since(start), cpuTime()-used
	r.check()
	for i := range r.pods {
		r.must(r.cache.Forget(r.pods[i].Key()))
	}
	return took, cpu
}

// check makes sure that no pod is lost and no node is over its room, by the pods of a snapshot and by the nodes' sums.
func (r *race) check() {
	for _, s := range r.schedulers {
		r.must(s.err)
	}
	used := make(map[string]int64)
	placed := 0
	for p := range r.cache.Publish().AllPods() {
		used[p.Spec.NodeName] += p.Spec.Requests.MilliCPU
		if p.Assumed {
			placed++
		}
	}
	if placed != len(r.pods) {
		r.tb.Fatalf("%d pods are placed, want %d", placed, len(r.pods))
	}
	for name, room := range r.room {
		m, _ := r.cache.Metrics(name)
		if used[name] > room || m.MilliCPU() != used[name] {
			r.tb.Fatalf("the pods of %s request %dm, by its sums %dm; it has %dm", name, used[name], m.MilliCPU(), room)
		}
	}
}

// scheduler is one of those that race, and counts what it does in a round.
type scheduler struct {
	replica                             *cache.Replica
	pipeline                            *score.Pipeline
	inTurn                              bool
	decisions, pods, commits, overtaken int
	most                                int    // decisions for one commit
	first                               uint64 // version that the first decision of a commit was made on
	err                                 error
}

func newScheduler(c *cache.Cache, cfg score.Config, inTurn bool) (*scheduler, error) {
	r, err := c.NewReplica()
	if err != nil {
		return nil, err
	}
	p, err := score.New(r.Graph(), cfg)
	return &scheduler{replica: r, pipeline: p, inTurn: inTurn}, err
}

// place decides on pods and commits them together.
func (s *scheduler) place(pods []*berth.Pod) error {
	const forever = 1 << 30
	before := s.decisions
	s.first = 0
	if len(pods) == 1 {
		if _, err := s.replica.Decide(pods[0], s.decide); err != nil {
			return err
		}
	} else {
		placements, err := s.replica.Schedule(pods, forever, s.decide)
		if err != nil {
			return err
		}
		for _, p := range placements {
			if p.Err != nil {
				return p.Err
			}
		}
	}
	s.pods += len(pods)
	s.commits++
	s.most = max(s.most, s.decisions-before)
	if s.replica.Version() != s.first+uint64(len(pods)) {
		s.overtaken++
	}
	return nil
}

func (s *scheduler) decide(p *berth.Pod) (string, error) {
	if s.first == 0 {
		s.first = s.replica.Version()
	}
	s.decisions++
	d, err := s.pipeline.Decide(p)
	if s.inTurn {
		runtime.Gosched()
	}
	return d.Node, err
}
