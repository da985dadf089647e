package score_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/invariants"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// wide returns a graph of so many nodes that they are split among workers, and that scores differ.
func wide(t *testing.T) *affinity.Graph {
	g, err := affinity.New(affinity.Config{Seed: 1})
	require.NoError(t, err)
	for i := range 7000 {
		require.NoError(t, g.AddNode(&berth.Node{
			Name:        fmt.Sprint("node-", i),
			Allocatable: berth.Resources{MilliCPU: int64(2000 + i%7*500), Memory: 8 << 30, Pods: 10},
			GPUs:        berth.GPUs{Model: "T4", Count: i % 5},
		}))
	}
	return g
}

// hash scores nodes by numbers that look random; few, so that there are ties.
type hash struct {
	name string
	salt uint64
}

func (h hash) Name() string { return h.name }

func (hash) Concurrent() {}

func (h hash) Score(_ *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		x := (uint64(n) + h.salt) * 0x9e3779b97f4a7c15
		column[n] = int64(x>>60) - 8
	}
	return nil
}

type localHash struct{ hash }

func (localHash) Local() {}

// serialLocal is Local but makes no promise on goroutines.
type serialLocal struct{ use }

func (serialLocal) Local() {}

// halved is a hash that is normalised.
type halved struct{ hash }

func (halved) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	for _, n := range feasible {
		column[n] /= 2
	}
	return nil
}

// ranked needs all nodes at once: a node's score is its place.
type ranked struct{}

func (ranked) Name() string { return "ranked" }

func (ranked) Score(_ *score.Input, nodes []topology.NodeID, column []int64) error {
	for i, n := range nodes {
		column[n] = int64(i % 3)
	}
	return nil
}

// TestWorkersDoNotChangeDecisions: the same pods on like clusters, with one worker and with several, while pods come and go
// and columns are kept.
func TestWorkersDoNotChangeDecisions(t *testing.T) {
	fgd, err := score.NewFGD([]score.TypicalPod{{MilliCPU: 1000, GPU: berth.GPURequest{Count: 1, Milli: 500}, Share: 1}})
	require.NoError(t, err)
	asked := 0
	scorers := map[string][]score.Weighted{
		"no scorer":        nil,
		"one":              {{Scorer: hash{"h", 1}}},
		"kept":             {{Scorer: localHash{hash{"l", 3}}}, {Scorer: score.BestFit{}}, {Scorer: fgd, Weight: 3}},
		"normalised":       {{Scorer: hash{"h", 1}}, {Scorer: halved{hash{"n", 2}}, Weight: 7}},
		"mixed promises":   {{Scorer: ranked{}}, {Scorer: hash{"h", 1}}, {Scorer: serialLocal{use{"s", &asked}}}, {Scorer: localHash{hash{"l", 3}}}},
		"all of one chunk": {{Scorer: ranked{}}},
	}
	for name, weighted := range scorers {
		for _, noScores := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", no built-in scores ", noScores), func(t *testing.T) {
				var want []score.Decision
				counts := []int{0, 2, 4}
				if invariants.Enabled {
					counts = []int{0, 3} // a graph for each, which checks itself
				}
				for _, workers := range counts {
					g := wide(t)
					p, err := score.New(g, score.Config{
						Profile: affinity.ProfileConfig{NoScores: noScores}, Scorers: weighted, Workers: workers,
						Filters: []score.Filter{without("f", "node-17")},
					})
					require.NoError(t, err)
					var got []score.Decision
					for i := range 12 {
						pod := plainPod(fmt.Sprint("p", i))
						pod.GPU = berth.GPURequest{Count: i % 2, Milli: int64(i % 2 * 500)}
						d, err := p.Place(pod)
						require.NoError(t, err)
						got = append(got, d)
						if i%3 == 2 {
							require.NoError(t, g.Release(pod.Key()))
						}
					}
					if want == nil {
						want = got
					}
					assert.Equal(t, want, got, "%d workers", workers)
				}
			})
		}
	}
}

// failing fails, panics or waits at one node, after it wrote nonsense, as long as it is told to.
type failing struct {
	hash
	at   topology.NodeID
	what func() error
}

func (failing) Local() {}

func (f *failing) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		if f.what != nil {
			column[n] = 1 << 39
			if n == f.at {
				if err := f.what(); err != nil {
					return err
				}
			}
		}
	}
	if f.what != nil {
		return nil
	}
	return f.hash.Score(in, nodes, column)
}

// TestFailuresLeaveNoTrace: after a scorer that fails amid the work, alone or beside others, decisions are those of a pipeline
// that never failed.
func TestFailuresLeaveNoTrace(t *testing.T) {
	for _, c := range []struct {
		name string
		what func(cancel func()) error
		is   error
		says string
	}{
		{"an error", func(func()) error { return errBroken }, errBroken, "score: bad: broken"},
		{"a panic", func(func()) error { panic("lost") }, score.ErrPlugin, "score: bad: plugin broke its contract: panic: lost"},
		{"cancellation", func(cancel func()) error { cancel(); return nil }, context.Canceled, "score: the decision was interrupted: context canceled"},
	} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprint(c.name, ", workers ", workers), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				bad := &failing{hash: hash{"bad", 5}, at: 3000}
				good := localHash{hash{"good", 6}}
				config := func(s score.Scorer) score.Config {
					return score.Config{Workers: workers, Scorers: []score.Weighted{{Scorer: good}, {Scorer: s}}}
				}
				g := wide(t)
				p, err := score.New(g, config(bad))
				require.NoError(t, err)
				bad.what = func() error { return c.what(cancel) }
				_, err = p.PlaceContext(ctx, plainPod("p"))
				require.ErrorIs(t, err, c.is)
				assert.EqualError(t, err, c.says)
				assert.Zero(t, g.Pods())

				bad.what = nil
				got, err := p.Decide(plainPod("p"))
				require.NoError(t, err)
				fresh, err := score.New(g, config(localHash{hash{"bad", 5}}))
				require.NoError(t, err)
				want, err := fresh.Decide(plainPod("p"))
				require.NoError(t, err)
				assert.Equal(t, want, got)
			})
		}
	}
}

// TestCancellationIsSeenBetweenScorers: once the context is done, the scorers that follow are not asked, not even about the
// part that is under way.
func TestCancellationIsSeenBetweenScorers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	first := &failing{hash: hash{"first", 1}, what: func() error { cancel(); return nil }}
	second := &failing{hash: hash{"second", 2}, what: func() error { panic("asked") }}
	p, err := score.New(three(t), score.Config{Scorers: []score.Weighted{{Scorer: first}, {Scorer: second}}})
	require.NoError(t, err)
	_, err = p.DecideContext(ctx, plainPod("p"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = p.DecideContext(ctx, plainPod("p"))
	require.EqualError(t, err, "score: the decision was interrupted: context canceled", "nor is anything begun")
}

// TestStates: an evaluation is Pending, Evaluating, and then Completed or Aborted, as seen from outside.
func TestStates(t *testing.T) {
	huge := plainPod("huge")
	huge.Requests.MilliCPU = 1 << 40
	bad := plainPod("bad")
	bad.Requests.MilliCPU = -1
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		pod  *berth.Pod
		what func() error
		want score.State
	}{
		{"a decision", t.Context(), plainPod("p"), func() error { return nil }, score.Completed},
		{"no node", t.Context(), huge, func() error { return nil }, score.Completed},
		{"a plugin that fails", t.Context(), plainPod("p"), func() error { return errBroken }, score.Aborted},
		{"a plugin that panics", t.Context(), plainPod("p"), func() error { panic("lost") }, score.Aborted},
		{"a bad spec", t.Context(), bad, func() error { return nil }, score.Aborted},
		{"a context that is done", cancelled, plainPod("p"), func() error { return nil }, score.Aborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *score.Evaluation
			var during atomic.Uint32
			s := &failing{hash: hash{"s", 1}, at: 0, what: func() error {
				during.Store(uint32(e.State()))
				return c.what()
			}}
			p, err := score.New(three(t), score.Only(s))
			require.NoError(t, err)
			e = p.Evaluation(c.pod)
			assert.Equal(t, score.Pending, e.State())
			_, runErr := e.Run(c.ctx)
			assert.Equal(t, c.want, e.State())
			if runErr == nil {
				assert.Equal(t, score.Evaluating, score.State(during.Load()))
			}
			_, err = e.Run(c.ctx)
			require.ErrorIs(t, err, score.ErrConfig, "it runs once")
			assert.Equal(t, c.want, e.State())
		})
	}
}

// worker prepares a number for the decision, reads it in Score, and checks the context of the input.
type worker struct {
	hash
	slot score.Slot[int64]
}

func (w *worker) Prepare(in *score.Input, feasible []topology.NodeID) error {
	if _, ok := w.slot.Get(in); ok {
		return fmt.Errorf("what an earlier decision put in is still there")
	}
	w.slot.Put(in, int64(len(feasible)))
	return in.Context().Err()
}

func (w *worker) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	v, ok := w.slot.Get(in)
	if !ok {
		return fmt.Errorf("Prepare was not called")
	}
	for _, n := range nodes {
		column[n] = v
	}
	return nil
}

func TestPrepareFillsSlots(t *testing.T) {
	w := &worker{hash: hash{"w", 0}}
	p, err := score.New(wide(t), score.Config{Workers: 2, Scorers: []score.Weighted{{Scorer: w}}})
	require.NoError(t, err)
	for range 3 {
		d, err := p.DecideContext(t.Context(), plainPod("p"))
		require.NoError(t, err)
		assert.Equal(t, []int64{7000}, d.Own)
	}
	_, ok := w.slot.Get(&score.Input{})
	assert.False(t, ok, "another decision")
	var empty score.Slot[string]
	_, ok = empty.Get(nil)
	assert.False(t, ok)
}
