package benchmarks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
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
				name := coldNode(i)
				err := c.AddNode(&berth.Node{
					Name:        name,
					Labels:      map[string]string{berth.LabelHostname: name, berth.LabelZone: zones[i%3]},
					Allocatable: berth.Resources{MilliCPU: 4000, Memory: 32 << 30, Pods: 110},
				})
				if err != nil {
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
			place := func() (decide, commit time.Duration) {
				pod := s.kinds[turn%len(s.kinds)].pod("sched-1", turn)
				turn++
				var between time.Time
				start := time.Now()
				d, err := p.Decide(pod)
				between = time.Now()
				if err != nil {
					b.Fatal(err)
				}
				_, err = r.Decide(pod, func(*berth.Pod) (string, error) { return d.Node, nil })
				end := time.Now()
				if err != nil {
					b.Fatal(err)
				}
				return between.Sub(start), end.Sub(between)
			}
			for range 20 * len(s.kinds) {
				place()
			}
			var decides, commits, hot latencies
			for b.Loop() {
				e.evict()
				decide, commit := place()
				decides, commits = append(decides, decide), append(commits, commit)
			}
			for range 200 {
				_, commit := place()
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
