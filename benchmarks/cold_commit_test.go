package benchmarks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/score"
)

// BenchmarkColdCommit is BenchmarkCold with the binding through a cache: the decision is committed as an assumed pod.
func BenchmarkColdCommit(b *testing.B) {
	e := newEvictor()
	for _, s := range coldShapes() {
		b.Run("shape="+s.name, func(b *testing.B) {
			c, err := cache.New(cache.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 5000 {
				if err := c.AddNode(coldNode(i)); err != nil {
					b.Fatal(err)
				}
			}
			for i := range 5000 {
				pod, node := s.existing(i, 5000)
				pod.NodeName = node
				if err := c.AddPod(pod); err != nil {
					b.Fatal(err)
				}
			}
			r, err := c.NewReplica()
			if err != nil {
				b.Fatal(err)
			}
			p, err := score.New(r.Graph(), score.KubeDefault())
			if err != nil {
				b.Fatal(err)
			}
			turn := 0
			place := func(wait func()) (decide, commit time.Duration) {
				w, err := r.Prepare(s.next(&turn))
				if err != nil {
					b.Fatal(err)
				}
				wait()
				start := time.Now()
				d, err := p.DecidePrepared(&w.Prepared)
				between := time.Now()
				if err != nil {
					b.Fatal(err)
				}
				_, err = r.DecidePrepared(w, func(*affinity.Prepared) (string, error) { return d.Node, nil })
				end := time.Now()
				if err != nil {
					b.Fatal(err)
				}
				return between.Sub(start), end.Sub(between)
			}
			for range 20 * len(s.kinds) {
				place(nothing)
			}
			var decides, commits, hot latencies
			for b.Loop() {
				decide, commit := place(e.evict)
				decides, commits = append(decides, decide), append(commits, commit)
			}
			for range 200 {
				_, commit := place(nothing)
				hot = append(hot, commit)
			}
			for _, l := range []struct {
				name string
				latencies
			}{{"cold-decide", decides}, {"cold-commit", commits}, {"hot-commit", hot}} {
				slices.Sort(l.latencies)
				b.ReportMetric(float64(l.at(0.5)), l.name+"-p50-ns")
			}
		})
	}
}
