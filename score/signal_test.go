package score_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// source answers from tables, after a time, as often as it is told after failing.
type source struct {
	name    string
	scores  map[string]int64
	refused map[string]bool
	after   time.Duration
	deaf    bool            // does not heed its context
	fails   int             // calls that fail
	at      []time.Duration // when it was called
	start   time.Time
}

func (s *source) Name() string { return s.name }

func (s *source) Fetch(ctx context.Context, q *score.Query) error {
	s.at = append(s.at, time.Since(s.start))
	for i, n := range q.Nodes {
		q.Scores[i], q.Refused[i] = 1<<39, true // nonsense, to be dropped unless it is overwritten
		defer func() { q.Scores[i], q.Refused[i] = s.scores[n], s.refused[n] }()
	}
	done := ctx.Done()
	if s.deaf {
		done = nil
	}
	select {
	case <-time.After(s.after):
	case <-done:
		return ctx.Err()
	}
	if s.fails--; s.fails >= 0 {
		return errBroken
	}
	return nil
}

// sourceFunc is a source that is a function.
type sourceFunc func(ctx context.Context, q *score.Query) error

func (sourceFunc) Name() string { return "func" }

func (f sourceFunc) Fetch(ctx context.Context, q *score.Query) error { return f(ctx, q) }

const (
	ms    = time.Millisecond
	never = 1000 * time.Hour
)

// timed runs f in a bubble of time and returns how long it took.
func timed(t *testing.T, f func(t *testing.T)) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f(t)
		took = time.Since(start)
	})
	return took
}

// TestFallbacks: a signal prefers node b; without it c, which the local scorer of the fallback prefers, or a, the first.
func TestFallbacks(t *testing.T) {
	for _, c := range []struct {
		name     string
		source   source
		fallback score.Fallback
		want     string
		late     bool
		err      error
		took     time.Duration
	}{
		{"an answer in time counts", source{after: 20 * ms}, score.Skip, "b", false, nil, 20 * ms},
		{"it needs no fallback", source{after: 20 * ms}, score.Evaluate, "b", false, nil, 20 * ms},
		{"nor is it refused", source{after: 20 * ms}, score.Refuse, "b", false, nil, 20 * ms},
		{"late: skip", source{after: never}, score.Skip, "a", true, nil, 50 * ms},
		{"late: local evaluation", source{after: never}, score.Evaluate, "c", true, nil, 50 * ms},
		{"late: refuse", source{after: never}, score.Refuse, "", true, score.ErrLate, 50 * ms},
		{"a little late is late", source{after: 50*ms + 1}, score.Skip, "a", true, nil, 50 * ms},
		{"failed: skip", source{after: 20 * ms, fails: 1}, score.Skip, "a", false, nil, 20 * ms},
		{"failed: local evaluation", source{after: 20 * ms, fails: 1}, score.Evaluate, "c", false, nil, 20 * ms},
		{"failed at once: local evaluation", source{fails: 1}, score.Evaluate, "c", false, nil, 0},
		{"failed: refuse", source{after: 20 * ms, fails: 1}, score.Refuse, "", false, errBroken, 20 * ms},
		{"deaf: skip, after a moment of grace", source{after: time.Second, deaf: true}, score.Skip, "a", true, nil, 51 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := c.source
				s.name, s.scores, s.start = "prices", map[string]int64{"b": 1000}, time.Now()
				signal := score.Signal{Source: &s, Deadline: 50 * ms, Fallback: c.fallback}
				if c.fallback == score.Evaluate {
					signal.Local = byName{"c": 1000}
				}
				p, err := score.New(three(t), score.Config{Signals: []score.Signal{signal}})
				require.NoError(t, err)
				d, err := p.Decide(plainPod("p"))
				assert.Equal(t, c.took, time.Since(s.start))
				if !s.deaf {
					assert.Zero(t, goroutines(), "no goroutine is left")
				}
				if c.err != nil {
					require.ErrorIs(t, err, c.err)
					assert.ErrorContains(t, err, "score: prices: ")
					return
				}
				if s.deaf {
					time.Sleep(s.after) // a bubble ends with its goroutines
				}
				require.NoError(t, err)
				assert.Equal(t, c.want, d.Node)
				require.Len(t, d.Signals, 1)
				assert.Equal(t, "prices", d.Signals[0].Signal)
				assert.Equal(t, c.late, errors.Is(d.Signals[0].Err, score.ErrLate))
				assert.Equal(t, c.want == "b", d.Signals[0].Err == nil)
				if c.late {
					assert.Equal(t, []string{"prices"}, d.Late())
				} else {
					assert.Empty(t, d.Late())
				}
				if c.want != "a" {
					assert.Equal(t, int64(1000), d.Signals[0].Score)
				}
			})
		})
	}
}

// TestSourceThatIgnoresItsContext: the decision does not hang, the goroutine is one at most and is counted, and when it is
// gone the source is asked again.
func TestSourceThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{name: "deaf", deaf: true, after: time.Second, start: time.Now(), scores: map[string]int64{"b": 1000}}
		p, err := score.New(three(t), score.Config{Signals: []score.Signal{{Source: s, Deadline: 50 * ms}}})
		require.NoError(t, err)
		for i := range 4 {
			d, err := p.Place(plainPod(fmt.Sprint("p", i)))
			require.NoError(t, err)
			assert.Equal(t, []string{"deaf"}, d.Late())
			assert.Less(t, time.Since(s.start), 55*ms, "the first waits for the deadline, the others not at all")
			assert.Equal(t, 1, p.Stragglers())
			assert.Equal(t, 1, goroutines())
		}
		time.Sleep(time.Second)
		assert.Zero(t, goroutines())
		assert.Zero(t, p.Stragglers())
		assert.Len(t, s.at, 1)
		s.after = 0
		d, err := p.Decide(plainPod("q"))
		require.NoError(t, err)
		assert.Empty(t, d.Late())
		assert.Equal(t, "b", d.Node)
	})
}

// TestEachSignalHasItsDeadline: affinity 50 ms, taints 100 ms, resources 200 ms, beside each other, and what arrives counts.
func TestEachSignalHasItsDeadline(t *testing.T) {
	for _, c := range []struct {
		name  string
		after [3]time.Duration
		late  []string
		score int64
		took  time.Duration
	}{
		{"all in time", [3]time.Duration{49 * ms, 99 * ms, 199 * ms}, nil, 3 + 20 + 500, 199 * ms},
		{"the first is late", [3]time.Duration{51 * ms, 10 * ms, 10 * ms}, []string{"affinity"}, 20 + 500, 50 * ms},
		{"the last never comes", [3]time.Duration{1 * ms, 2 * ms, never}, []string{"resources"}, 3 + 20, 200 * ms},
		{"none comes", [3]time.Duration{never, never, never}, []string{"affinity", "taints", "resources"}, 0, 200 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			took := timed(t, func(t *testing.T) {
				cfg := score.Only(constant{})
				for i, name := range []string{"affinity", "taints", "resources"} {
					s := &source{name: name, after: c.after[i], scores: map[string]int64{"b": []int64{3, 10, 100}[i]}}
					cfg.Signals = append(cfg.Signals, score.Signal{
						Source: s, Deadline: []time.Duration{50 * ms, 100 * ms, 200 * ms}[i], Weight: []int64{0, 2, 5}[i],
					})
				}
				p, err := score.New(three(t), cfg)
				require.NoError(t, err)
				d, err := p.DecideContext(t.Context(), plainPod("p"))
				require.NoError(t, err)
				assert.Equal(t, c.late, d.Late())
				assert.Equal(t, c.score, d.Score)
			})
			assert.Equal(t, c.took, took)
		})
	}
}

func TestParentsDeadlineEndsTheDecision(t *testing.T) {
	took := timed(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*ms)
		defer cancel()
		s := &source{name: "slow", after: never}
		p, err := score.New(three(t), score.Config{Signals: []score.Signal{{Source: s, Deadline: 50 * ms}}})
		require.NoError(t, err)
		_, err = p.DecideContext(ctx, plainPod("p"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, p.Stragglers())
	})
	assert.Equal(t, 30*ms, took)
}

func TestSourcesRefuse(t *testing.T) {
	g := three(t)
	full := plainPod("full")
	full.Requests.MilliCPU = 4000
	require.NoError(t, g.Bind(full, "c"))
	first := &source{name: "licences", refused: map[string]bool{"a": true}}
	second := &source{name: "quarantine", refused: map[string]bool{"a": true}, scores: map[string]int64{"b": 5}}
	p, err := score.New(g, score.Config{Scorers: []score.Weighted{{Scorer: halved{hash{"h", 1}}}}, Signals: []score.Signal{{Source: first}, {Source: second}}})
	require.NoError(t, err)
	d, err := p.Decide(plainPod("p"))
	require.NoError(t, err)
	assert.Equal(t, "b", d.Node)
	assert.Equal(t, 1, d.Feasible)
	assert.Equal(t, []score.Outcome{{Signal: "licences"}, {Signal: "quarantine", Score: 5}}, d.Signals)

	second.refused["b"] = true
	_, err = p.Decide(plainPod("p"))
	require.EqualError(t, err, "score: pod d/p: 0/3 nodes are available: 1 NodeResourcesFit, 1 licences, 1 quarantine")
}

func TestBadSourcesFail(t *testing.T) {
	for name, f := range map[string]sourceFunc{
		"panic": func(context.Context, *score.Query) error { panic("lost") },
		"exit":  func(context.Context, *score.Query) error { runtime.Goexit(); return nil },
		"range": func(_ context.Context, q *score.Query) error { q.Scores[2] = score.MaxScore + 1; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p, err := score.New(three(t), score.Config{Signals: []score.Signal{{Source: f}}})
			require.NoError(t, err)
			d, err := p.Decide(plainPod("p"))
			require.NoError(t, err)
			require.ErrorIs(t, d.Signals[0].Err, score.ErrPlugin)
			assert.Empty(t, d.Late(), "it failed, but not by being late")
			assert.Zero(t, p.Stragglers())
		})
	}
}

// TestRetries: waits are drawn from the caller's randomness, grow to Max, and end before the deadline.
func TestRetries(t *testing.T) {
	whole := score.Retry{Attempts: 5, Base: 10 * ms, Max: 25 * ms}
	for _, c := range []struct {
		name     string
		retry    score.Retry
		fails    int
		deadline time.Duration
		calls    []time.Duration
		ok       bool
	}{
		{"once by default", score.Retry{}, 1, 0, []time.Duration{0}, false},
		{"until it succeeds", whole, 2, 0, []time.Duration{0, 10 * ms, 30 * ms}, true},
		{"doubled up to the maximum", whole, 9, 0, []time.Duration{0, 10 * ms, 30 * ms, 55 * ms, 80 * ms}, false},
		{"no wait past the deadline", whole, 9, 55 * ms, []time.Duration{0, 10 * ms, 30 * ms}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			took := timed(t, func(t *testing.T) {
				s := &source{name: "s", fails: c.fails, start: time.Now()}
				p, err := score.New(three(t), score.Config{Signals: []score.Signal{{Source: s, Retry: c.retry, Deadline: c.deadline}}})
				require.NoError(t, err)
				d, err := p.Decide(plainPod("p"))
				require.NoError(t, err)
				assert.Equal(t, c.calls, s.at)
				if c.ok {
					assert.NoError(t, d.Signals[0].Err)
				} else {
					assert.ErrorIs(t, d.Signals[0].Err, errBroken)
				}
			})
			assert.Equal(t, c.calls[len(c.calls)-1], took, "it ends with the last call")
		})
	}
}

func TestJitterFollowsFromTheSeed(t *testing.T) {
	calls := func(seed uint64) (at []time.Duration) {
		timed(t, func(t *testing.T) {
			s := &source{name: "s", fails: 99, start: time.Now()}
			retry := score.Retry{Attempts: 10, Base: 10 * ms, Max: 80 * ms, Random: rand.New(rand.NewPCG(seed, 0))}
			p, err := score.New(three(t), score.Config{Signals: []score.Signal{{Source: s, Retry: retry}}})
			require.NoError(t, err)
			_, err = p.Decide(plainPod("p"))
			require.NoError(t, err)
			at = s.at
		})
		return at
	}
	one := calls(1)
	assert.Equal(t, one, calls(1))
	assert.NotEqual(t, one, calls(2))
	for i, most := range []time.Duration{10, 20, 40, 80, 80, 80, 80, 80, 80} {
		assert.LessOrEqual(t, one[i+1]-one[i], most*ms, "wait %d", i)
	}
}

func TestSignalConfigErrors(t *testing.T) {
	s := &source{name: "s"}
	for name, c := range map[string]struct {
		signals []score.Signal
		says    string
	}{
		"no source":        {[]score.Signal{{}}, "Signals[0].Source is nil"},
		"name twice":       {[]score.Signal{{Source: s}, {Source: s}}, "Signals[1] (s): the name is taken"},
		"weight":           {[]score.Signal{{Source: s, Weight: -1}}, "weight -1"},
		"deadline":         {[]score.Signal{{Source: s, Deadline: -1}}, "Deadline is -1ns"},
		"fallback":         {[]score.Signal{{Source: s, Fallback: 3}}, "Fallback is 3"},
		"no local scorer":  {[]score.Signal{{Source: s, Fallback: score.Evaluate}}, "Local and the fallback Evaluate"},
		"local for naught": {[]score.Signal{{Source: s, Local: constant{}}}, "Local and the fallback Evaluate"},
		"attempts":         {[]score.Signal{{Source: s, Retry: score.Retry{Attempts: 17}}}, "Retry.Attempts is 17"},
		"no base":          {[]score.Signal{{Source: s, Retry: score.Retry{Attempts: 2}}}, "Retry.Base is 0s"},
		"maximum too low":  {[]score.Signal{{Source: s, Retry: score.Retry{Attempts: 2, Base: ms}}}, "Retry.Max is 0s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := score.New(three(t), score.Config{Signals: c.signals})
			require.ErrorIs(t, err, score.ErrConfig)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// slow is a scorer that takes its time.
type slow struct {
	constant
	takes time.Duration
}

func (s slow) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	time.Sleep(s.takes)
	return s.constant.Score(in, nodes, column)
}

// TestLateIsLateForABusyDecision: an answer that came after its deadline does not count, even if the decision had something
// else to do until then; one that came before does.
func TestLateIsLateForABusyDecision(t *testing.T) {
	for after, want := range map[time.Duration][]string{40 * ms: nil, 60 * ms: {"prices"}} {
		synctest.Test(t, func(t *testing.T) {
			s := &source{name: "prices", after: after, deaf: true}
			cfg := score.Only(slow{takes: 80 * ms})
			cfg.Signals = []score.Signal{{Source: s, Deadline: 50 * ms}}
			p, err := score.New(three(t), cfg)
			require.NoError(t, err)
			d, err := p.Decide(plainPod("p"))
			require.NoError(t, err)
			assert.Equal(t, want, d.Late(), "after %v", after)
		})
	}
}

// TestFallbackOfAScorersName: the columns that are kept for a fallback are not those of a scorer of the same name, and
// both last through changes of the graph.
func TestFallbackOfAScorersName(t *testing.T) {
	g := three(t)
	cfg := score.Only(localByName{byName{"a": 1, "b": 1, "c": 1}})
	cfg.Signals = []score.Signal{{Source: &source{name: "s", fails: 99}, Fallback: score.Evaluate, Local: localByName{byName{"b": 5}}}}
	p, err := score.New(g, cfg)
	require.NoError(t, err)
	for _, next := range []string{"d", "e", "f"} {
		d, err := p.Decide(plainPod("p"))
		require.NoError(t, err)
		assert.Equal(t, "b", d.Node)
		assert.Equal(t, []int64{1}, d.Own)
		assert.Equal(t, int64(5), d.Signals[0].Score)
		require.NoError(t, g.AddNode(&berth.Node{Name: next, Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 << 30, Pods: 10}}))
	}
}
