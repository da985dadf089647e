package ants_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/panjf2000/ants/v2"

	"github.com/berth-go/berth/benchmarks"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// BenchmarkParallel scores 10,000 pairs, each way in turn with the serial loop. The pool of ants is made beforehand; it is
// handed the pairs one by one, as its own examples do, and in as many parts as berth makes, which is the best that can be made of it.
func BenchmarkParallel(b *testing.B) {
	p := benchmarks.NewPairs(10_000)
	pool, err := ants.NewPool(runtime.GOMAXPROCS(0))
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Release()
	submit := func(task func()) {
		if err := pool.Submit(task); err != nil {
			panic(err)
		}
	}
	for _, way := range []struct {
		name string
		run  func()
	}{
		{"ants-a-pair", func() {
			var all sync.WaitGroup
			for i := range p.Scores {
				all.Add(1)
				submit(func() {
					p.Score(i)
					all.Done()
				})
			}
			all.Wait()
		}},
		{"ants-in-parts", func() {
			var all sync.WaitGroup
			for from := 0; from < len(p.Scores); from += score.ChunkNodes {
				all.Add(1)
				submit(func() {
					for i := from; i < min(from+score.ChunkNodes, len(p.Scores)); i++ {
						p.Score(i)
					}
					all.Done()
				})
			}
			all.Wait()
		}},
		{"berth", func() {
			err := score.Chunks(b.Context(), runtime.GOMAXPROCS(0), p.IDs, func(_ int, chunk []topology.NodeID) error {
				for _, i := range chunk {
					p.Score(int(i))
				}
				return nil
			})
			if err != nil {
				panic(err)
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) { p.Compare(b, way.run) })
	}
}
