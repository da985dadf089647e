package benchmarks_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/score"
)

var stateSizes = []int{1_000, 10_000, 100_000}

// eachSize runs a benchmark on caches of growing numbers of nodes; with -short, without the largest.
func eachSize(b *testing.B, run func(*testing.B, *observed)) {
	for _, nodes := range stateSizes {
		if testing.Short() && nodes > 10_000 {
			break
		}
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) { run(b, newObserved(b, nodes)) })
	}
}

// observed is a cache of like nodes with ten pods each in 200 classes, and the events that come for it.
type observed struct {
	*cache.Cache
	tb     testing.TB
	nodes  int
	rng    *rand.Rand
	serial int
	late   []berth.PodKey // pods that came after the first ones, the oldest first
}

func newObserved(tb testing.TB, nodes int) *observed {
	const podsPerNode, classes = 10, 200
	c, err := cache.New(cache.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	o := &observed{Cache: c, tb: tb, nodes: nodes, rng: rand.New(rand.NewPCG(1, uint64(nodes)))}
	for i := range nodes {
		o.must(c.AddNode(scaleNode(i)))
	}
	for i := range podsPerNode * nodes {
		p := scaleClass(i % classes)
		p.Name, p.NodeName = fmt.Sprint("pod-", i), fmt.Sprint("node-", i*7919%nodes)
		o.must(c.AddPod(&p))
	}
	c.Publish()
	return o
}

func (o *observed) must(err error) {
	if err != nil {
		o.tb.Helper()
		o.tb.Fatal(err)
	}
}

// podEvent is a pod that comes, or, every other time, the oldest of those going again.
func (o *observed) podEvent() {
	o.serial++
	if o.serial%2 == 0 {
		o.must(o.RemovePod(o.late[0]))
		o.late = o.late[1:]
		return
	}
	p := scaleClass(o.serial % 200)
	p.Name, p.NodeName = fmt.Sprint("pod-", o.rng.Uint32(), "-", o.serial), fmt.Sprint("node-", o.rng.IntN(o.nodes))
	o.must(o.AddPod(&p))
	o.late = append(o.late, p.Key())
}

// nodeEvent is a new label of a node.
func (o *observed) nodeEvent() {
	o.serial++
	n := scaleNode(o.rng.IntN(o.nodes))
	n.Labels["example.com/beat"] = fmt.Sprint(o.serial)
	o.must(o.UpdateNode(n))
}

// BenchmarkPublish is the publication of a snapshot after one change, in turn with the same on a cache of 1,000 nodes:
// x-1k is the ratio of the medians.
//
//	go test -run xxx -bench Publish -benchtime 20000x ./benchmarks
func BenchmarkPublish(b *testing.B) {
	small := newObserved(b, 1_000)
	eachSize(b, func(b *testing.B, o *observed) {
		for _, change := range []struct {
			name string
			make func(*observed)
		}{{"pod", (*observed).podEvent}, {"node", (*observed).nodeEvent}} {
			b.Run("change="+change.name, func(b *testing.B) {
				var at, base latencies
				for b.Loop() {
					at = append(at, o.publish(change.make))
					base = append(base, small.publish(change.make))
				}
				at.report(b, "publish-")
				slices.Sort(base)
				b.ReportMetric(float64(at.at(0.5))/float64(base.at(0.5)), "x-1k")
			})
		}
	})
}

// publish makes a change and returns how long it takes to publish it.
func (o *observed) publish(change func(*observed)) time.Duration {
	change(o)
	start := time.Now()
	o.Publish()
	return time.Since(start)
}

// BenchmarkHeldSnapshot is the memory that it takes to hold a snapshot after the state has changed, beside that of the
// state itself: of eight snapshots, so many changes of pods apart, what is free once they are dropped. The specs of pods
// that are gone are not counted, for the history of the cache keeps them as well.
//
//	go test -run xxx -bench HeldSnapshot -benchtime 3x ./benchmarks
func BenchmarkHeldSnapshot(b *testing.B) {
	empty := heapBytes()
	eachSize(b, func(b *testing.B, o *observed) {
		whole := float64(heapBytes() - empty)
		for b.Loop() {
			for _, changes := range []int{1, 1_000} {
				held := o.heldBytes(changes)
				b.ReportMetric(held, fmt.Sprintf("held-%d-B", changes))
				b.ReportMetric(100*held/whole, fmt.Sprintf("held-%d-%%", changes))
			}
		}
		b.ReportMetric(whole/(1<<20), "state-MiB")
	})
}

func (o *observed) heldBytes(changes int) float64 {
	held := make([]*cache.Snapshot, 8)
	for i := range held {
		held[i] = o.Publish()
		for range changes {
			o.podEvent()
		}
	}
	o.Publish()
	with := heapBytes()
	runtime.KeepAlive(held)
	clear(held)
	return float64(int64(with)-int64(heapBytes())) / float64(len(held))
}

// BenchmarkDigest is publishing one change of a pod with the digest of the snapshot, in turn with publishing alone on a like cache of
// which no digest was asked for. kept is the difference of the medians, and scratch the first digest of a state.
func BenchmarkDigest(b *testing.B) {
	eachSize(b, func(b *testing.B, o *observed) {
		alone := newObserved(b, o.nodes)
		start := time.Now()
		o.Snapshot().Digest()
		scratch := time.Since(start)
		o.publish((*observed).podEvent) // from here on the cache keeps it
		var with, without latencies
		for b.Loop() {
			o.podEvent()
			start := time.Now()
			o.Publish().Digest()
			with = append(with, time.Since(start))
			without = append(without, alone.publish((*observed).podEvent))
		}
		slices.Sort(without)
		slices.Sort(with)
		kept := max(1, with.at(0.5)-without.at(0.5))
		b.ReportMetric(float64(without.at(0.5)), "publish-ns")
		b.ReportMetric(float64(kept), "kept-ns")
		b.ReportMetric(float64(scratch), "scratch-ns")
		b.ReportMetric(float64(scratch)/float64(kept), "scratch/kept")
	})
}

// BenchmarkSync is how long a replica takes to follow 1,000 events of pods, and change what the events cost in the cache before. Both
// are CPU times.
func BenchmarkSync(b *testing.B) {
	eachSize(b, func(b *testing.B, o *observed) {
		r, err := o.NewReplica()
		o.must(err)
		const events = 1_000
		var change, sync latencies
		for b.Loop() {
			start := cpuTime()
			for range events {
				o.podEvent()
			}
			middle := cpuTime()
			o.must(r.Sync())
			change, sync = append(change, middle-start), append(sync, cpuTime()-middle)
		}
		slices.Sort(change)
		slices.Sort(sync)
		b.ReportMetric(float64(change.at(0.5))/events, "change-ns/event")
		b.ReportMetric(float64(sync.at(0.5))/events, "sync-ns/event")
	})
}

// tryout is a scheduler that tries things out: a replica, a pipeline on its graph, and a transaction.
type tryout struct {
	*observed
	pipeline *score.Pipeline
	txn      *cache.Txn
	pods     []berth.Pod
}

func newTryout(o *observed, pods int) *tryout {
	r, err := o.NewReplica()
	o.must(err)
	p, err := score.New(r.Graph(), score.KubeDefault())
	o.must(err)
	t, err := r.Begin()
	o.must(err)
	return &tryout{observed: o, pipeline: p, txn: t, pods: toPlace(pods)}
}

// tried is the number of classes that the pods have which are tried out. Each asks for something else; for more than eight of these
// a graph of 100,000 nodes would not keep the nodes sorted (affinity.Config.MaxColumnBytes), and sorting would hide the rest.
const tried = 5

func toPlace(n int) []berth.Pod {
	pods := make([]berth.Pod, n)
	for i := range pods {
		pods[i] = scaleClass(i % tried)
		pods[i].Name = fmt.Sprint("tried-", i)
	}
	return pods
}

func (t *tryout) decide(p *berth.Pod) (string, error) {
	d, err := t.pipeline.Decide(p)
	return d.Node, err
}

func (t *tryout) place(pods []berth.Pod) {
	for i := range pods {
		t.must(t.txn.Decide(&pods[i], t.decide))
	}
}

// settle asks for a decision on each class, so that the pipeline has seen all changes.
func settle(tb testing.TB, p *score.Pipeline, pods []berth.Pod) {
	for i := range pods[:tried] {
		if _, err := p.Decide(&pods[i]); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkSavepoint is a savepoint and rolling back to it, in a transaction that has placed 1,000 pods; and 1,000 nested
// savepoints with a pod placed after each, rolled back one by one from the innermost (nested-ns, for one), and all at once by the
// outermost (at-once-ns, for one).
func BenchmarkSavepoint(b *testing.B) {
	eachSize(b, func(b *testing.B, o *observed) {
		t := newTryout(o, 1_000)
		b.Run("savepoint", func(b *testing.B) {
			first := t.txn.Savepoint()
			t.place(t.pods)
			for b.Loop() {
				o.must(t.txn.RollbackTo(t.txn.Savepoint()))
			}
			o.must(t.txn.RollbackTo(first))
		})
		b.Run("nested=1000", func(b *testing.B) {
			var nested, once latencies
			savepoints := make([]cache.Savepoint, len(t.pods))
			for b.Loop() {
				nested = append(nested, t.unwind(savepoints, 1))
				once = append(once, t.unwind(savepoints, len(savepoints)))
			}
			slices.Sort(nested)
			slices.Sort(once)
			b.ReportMetric(float64(nested.at(0.5))/float64(len(savepoints)), "nested-ns")
			b.ReportMetric(float64(once.at(0.5))/float64(len(savepoints)), "at-once-ns")
		})
	})
}

// unwind places pods, each after a savepoint, and returns how long it takes to roll back so many of them at a time.
func (t *tryout) unwind(savepoints []cache.Savepoint, at int) time.Duration {
	g := t.txn.Graph()
	before := g.Pods()
	for i := range savepoints {
		savepoints[i] = t.txn.Savepoint()
		t.place(t.pods[i : i+1])
	}
	start := time.Now()
	for i := len(savepoints) - at; i >= 0; i -= at {
		t.must(t.txn.RollbackTo(savepoints[i]))
		if g.Pods() != before+i {
			t.tb.Fatalf("%d pods after rolling back to savepoint %d, want %d", g.Pods(), i, before+i)
		}
	}
	return time.Since(start)
}

// BenchmarkWhatIf is 1,000 decisions of a pipeline in a transaction, and their rolling back, in turn with the same decisions made
// and bound on a graph without a transaction. alone is the latter. After a rollback, the first decisions find that nodes have changed; settle is
// the time of one decision for each class then. x-alone is (place + rollback + settle) / alone. All are CPU times.
//
//	go test -run xxx -bench WhatIf -benchtime 50x ./benchmarks
func BenchmarkWhatIf(b *testing.B) {
	eachSize(b, func(b *testing.B, o *observed) {
		t := newTryout(o, 1_000)
		g, err := o.Snapshot().Graph()
		o.must(err)
		p, err := score.New(g, score.KubeDefault())
		o.must(err)
		settle(b, p, t.pods)
		settle(b, t.pipeline, t.pods)
		var alone, place, rollback, again latencies
		for b.Loop() {
			start := cpuTime()
			for i := range t.pods {
				_, err := p.Place(&t.pods[i])
				o.must(err)
			}
			alone = append(alone, cpuTime()-start)
			for i := range t.pods {
				o.must(g.Release(t.pods[i].Key()))
			}
			settle(b, p, t.pods)

			start = cpuTime()
			s := t.txn.Savepoint()
			t.place(t.pods)
			placed := cpuTime()
			o.must(t.txn.RollbackTo(s))
			back := cpuTime()
			settle(b, t.pipeline, t.pods)
			place, rollback, again = append(place, placed-start), append(rollback, back-placed), append(again, cpuTime()-back)
		}
		var sum float64
		for _, l := range []struct {
			name string
			latencies
		}{{"place", place}, {"rollback", rollback}, {"settle", again}} {
			slices.Sort(l.latencies)
			sum += float64(l.at(0.5))
			b.ReportMetric(float64(l.at(0.5))/1e3, l.name+"-µs")
		}
		slices.Sort(alone)
		b.ReportMetric(float64(alone.at(0.5))/1e3, "alone-µs")
		b.ReportMetric(sum/float64(alone.at(0.5)), "x-alone")
		b.ReportMetric(float64(place.at(0.5)+rollback.at(0.5))/float64(place.at(0.5)), "(place+rollback)/place")
	})
}

// BenchmarkRead is what single reads cost when nobody writes: the snapshot itself, a pod in it and as it is now, the sums of a node, and
// those of one whose Metrics are at hand. Pods and nodes are drawn at random.
func BenchmarkRead(b *testing.B) {
	eachSize(b, func(b *testing.B, o *observed) {
		const draws = 1 << 12
		keys, nodes, held := make([]berth.PodKey, draws), make([]string, draws), make([]*cache.Metrics, draws)
		for i := range draws {
			keys[i] = berth.PodKey{Namespace: "default", Name: fmt.Sprint("pod-", o.rng.IntN(10*o.nodes))}
			nodes[i] = fmt.Sprint("node-", o.rng.IntN(o.nodes))
			held[i], _ = o.Metrics(nodes[i])
		}
		for _, read := range []struct {
			of   string
			read func(i int) bool
		}{
			{"snapshot", func(int) bool { return o.Snapshot() != nil }},
			{"snapshot-pod", func(i int) bool { _, ok := o.Snapshot().Pod(keys[i]); return ok }},
			{"pod", func(i int) bool { _, ok := o.Pod(keys[i]); return ok }},
			{"metrics", func(i int) bool { _, ok := o.Metrics(nodes[i]); return ok }},
			{"held-metrics", func(i int) bool { return held[i].MilliCPU() > 0 }},
		} {
			b.Run("of="+read.of, func(b *testing.B) {
				b.ReportAllocs()
				i, start := 0, cpuTime()
				for ; b.Loop(); i++ {
					if !read.read(i % draws) {
						b.Fatal("not there")
					}
				}
				b.ReportMetric(float64(cpuTime()-start)/float64(i), "cpu-ns/op")
			})
		}
	})
}
