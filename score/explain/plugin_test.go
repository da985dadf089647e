package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
	"github.com/berth-go/berth/topology"
)

// labels scores a node by the number of its labels and the pod's priority, scaled to 0..100 if it is told to.
type labels struct{ name string }

func (l labels) Name() string { return l.name }

func (labels) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		column[n] = int64(len(in.Graph.Topology().Labels(n))) * int64(in.Pod.Priority%3)
	}
	return nil
}

type scaled struct{ labels }

func (scaled) Local() {}

func (scaled) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	var most int64 = 1
	for _, n := range feasible {
		most = max(most, column[n])
	}
	for _, n := range feasible {
		column[n] = 100 * column[n] / most
	}
	return nil
}

// every refuses the nodes whose id is divisible by a number.
type every int

func (every) Name() string { return "Every" }

func (e every) Filter(_ *score.Input, feasible *topology.NodeSet) error {
	for n := range feasible.Clone().All() {
		if int(n)%int(e) == 0 {
			feasible.Remove(n)
		}
	}
	return nil
}

// meter is a source that scores nodes by their place, and refuses the fifth.
type meter struct {
	name string
	fail error
}

func (m meter) Name() string { return m.name }

func (m meter) Fetch(_ context.Context, q *score.Query) error {
	for i := range q.Nodes {
		q.Scores[i], q.Refused[i] = int64(10*i), i == 4
	}
	return m.fail
}

// TestPluginsAreExplained holds counts, scores and choice of pipelines with plugins to account.
func TestPluginsAreExplained(t *testing.T) {
	chosen := 0
	for seed := range uint64(30 * *steps) {
		w, err := newWorld(seed)
		require.NoError(t, err)
		cfg := score.Config{
			Filters: []score.Filter{every(3), noSpot{}},
			Scorers: []score.Weighted{{Scorer: labels{"Plain"}, Weight: 5}, {Scorer: scaled{labels{"Scaled"}}}},
			Signals: []score.Signal{{Source: meter{"Load", nil}, Weight: 2}, {Source: meter{"Down", errFaulty}}},
		}
		cfg.Profile.NoScores = seed%2 == 0
		p, err := w.pipeline(cfg)
		require.NoError(t, err)
		for range decisions {
			pod := w.pod()
			e, err := explain.Explain(t.Context(), p, pod, explain.Options{Top: 1000, NoSuggestions: true})
			require.NoError(t, err)
			require.NoError(t, checkChoice(p, pod, e))
			sum := e.Feasible
			for _, c := range e.Refused {
				sum += c.Nodes
			}
			require.Equal(t, e.Evaluated, sum)
			var refused *score.Unschedulable
			if _, err := p.Decide(pod); errors.As(err, &refused) {
				for _, f := range refused.Filters {
					assert.Contains(t, e.Refused, explain.Count{Rule: f.Name, Own: true, Nodes: f.Nodes}, "seed %d", seed)
				}
			}
			for _, c := range e.Top {
				var points int64
				for _, term := range c.Terms {
					points += term.Points
					require.Equal(t, term.Plugin == "Down", term.Late)
				}
				require.Equal(t, c.Total, points)
				chosen++
			}
		}
	}
	assert.Greater(t, chosen, 100)
}

// faulty fails in the way that it is told to.
type faulty struct {
	labels
	how string
}

var errFaulty = errors.New("faulty")

func (f faulty) Score(*score.Input, []topology.NodeID, []int64) error {
	switch f.how {
	case "panic":
		panic("oh")
	case "error":
		return errFaulty
	}
	return nil
}

func (f faulty) Filter(_ *score.Input, feasible *topology.NodeSet) error {
	switch f.how {
	case "filter panics":
		panic("oh")
	case "filter fails":
		return errFaulty
	case "filter adds":
		feasible.Fill(100)
	}
	return nil
}

func TestFaultsOfPluginsAreNamed(t *testing.T) {
	for how, want := range map[string]error{"panic": score.ErrPlugin, "error": errFaulty, "filter panics": score.ErrPlugin,
		"filter fails": errFaulty, "filter adds": score.ErrPlugin} {
		t.Run(how, func(t *testing.T) {
			s := scenarios()[0]
			g := s.graph(t)
			f := faulty{labels{"Bad"}, how}
			p, err := score.New(g, score.Config{Filters: []score.Filter{f}, Scorers: []score.Weighted{{Scorer: f}}})
			require.NoError(t, err)
			_, err = explain.Explain(t.Context(), p, &s.pod, explain.Options{})
			require.ErrorIs(t, err, want)
			assert.ErrorContains(t, err, "Bad: ")
			_, err = explain.WhatIf(t.Context(), p, &s.pod, "n1", explain.Options{})
			require.ErrorIs(t, err, want)
		})
	}
}

func TestBadInputIsRefused(t *testing.T) {
	s := scenarios()[0]
	p, err := score.New(s.graph(t), score.Config{})
	require.NoError(t, err)
	_, err = explain.Explain(t.Context(), p, &berth.Pod{}, explain.Options{})
	require.ErrorIs(t, err, berth.ErrInvalid)
	_, err = explain.WhatIf(t.Context(), p, &berth.Pod{}, "n1", explain.Options{})
	require.ErrorIs(t, err, berth.ErrInvalid)
	_, err = explain.WhatIf(t.Context(), p, &s.pod, "nowhere", explain.Options{})
	require.ErrorIs(t, err, affinity.ErrUnknownNode)
}

// TestNothingIsChanged: not even the log of changed nodes, from which decisions learn what to look at again.
func TestNothingIsChanged(t *testing.T) {
	for seed := range uint64(20) {
		w, err := newWorld(seed)
		require.NoError(t, err)
		p, err := w.pipeline(score.Config{})
		require.NoError(t, err)
		pod := w.pod()
		want, wantErr := p.Decide(pod)
		_, before, _ := w.graph.Changes(0)
		_, err = explain.Explain(t.Context(), p, pod, explain.Options{})
		require.NoError(t, err)
		_, after, _ := w.graph.Changes(0)
		require.Equal(t, before, after, "seed %d", seed)
		got, err := p.Decide(pod)
		require.Equal(t, wantErr, err)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// TestJSONHoldsEverything: an explanation that is written and read again is the same, and is written the same.
func TestJSONHoldsEverything(t *testing.T) {
	for _, s := range scenarios() {
		if s.place != "" {
			continue
		}
		p, err := score.New(s.graph(t), s.cfg)
		require.NoError(t, err)
		e, err := explain.Explain(t.Context(), p, &s.pod, s.opts)
		require.NoError(t, err)
		text, err := json.Marshal(e)
		require.NoError(t, err)
		var back explain.Explanation
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, e, &back, s.name)
		require.Equal(t, e.String()+e.Table()+e.Line(), back.String()+back.Table()+back.Line(), s.name)
	}
}

func TestOptionsLimitWhatIsTold(t *testing.T) {
	nodes := []berth.Node{node("n1", "a"), node("n2", "b"), node("n3", "c"), node("n4", "d", func(n *berth.Node) { n.Unschedulable = true })}
	var pods []berth.Pod
	for _, name := range []string{"w1", "w2", "w3"} {
		pods = append(pods, pod(name, "n1", app("web"), cpu(10)))
	}
	s := scenario{nodes: nodes, pods: pods, pod: pod("p", "", apart("web", berth.LabelHostname))}
	p, err := score.New(s.graph(t), score.Config{})
	require.NoError(t, err)
	ask := func(o explain.Options) *explain.Explanation {
		e, err := explain.Explain(t.Context(), p, &s.pod, o)
		require.NoError(t, err)
		return e
	}
	full := ask(explain.Options{})
	assert.Len(t, full.Top, 2)
	assert.Len(t, full.Refusals, 2)
	assert.Len(t, full.Refusals[0].Obstacles[0].Pods, 3)
	assert.Len(t, full.Refusals[0].Suggestion.Changes, 3)

	assert.Len(t, ask(explain.Options{Top: 1}).Top, 1)
	none := ask(explain.Options{Top: -1, Refusals: -1})
	assert.Empty(t, none.Top)
	assert.Empty(t, none.Chosen())
	assert.Empty(t, none.Refusals)
	assert.Equal(t, 2, none.Omitted)
	assert.Equal(t, full.Refused, none.Refused)
	assert.Equal(t, full.Line(), none.Line(), "the line counts what is not told")
	assert.NotNil(t, none.RunnerUp)

	few := ask(explain.Options{Refusals: 1, Pods: 2, NoSuggestions: true})
	require.Len(t, few.Refusals, 1)
	assert.Equal(t, 1, few.Omitted)
	assert.Nil(t, few.Refusals[0].Suggestion)
	o := few.Refusals[0].Obstacles[0]
	assert.Len(t, o.Pods, 2)
	assert.Equal(t, 3, o.PodCount)
	assert.Contains(t, o.String(), "shop/w1 (on n1), shop/w2 (on n1), 1 more")
	assert.Empty(t, ask(explain.Options{Pods: -1}).Refusals[0].Obstacles[0].Pods)
}

// TestWhatIfAgreesWithExplain: the rank and terms of a node are those of the list, its refusal the one of the list.
func TestWhatIfAgreesWithExplain(t *testing.T) {
	for seed := range uint64(15) {
		w, err := newWorld(seed)
		require.NoError(t, err)
		p, err := w.pipeline(score.Config{})
		require.NoError(t, err)
		pod := w.pod()
		e, err := explain.Explain(t.Context(), p, pod, explain.Options{Top: 1000})
		require.NoError(t, err)
		for i := range w.Nodes {
			name := w.Nodes[i].Name
			got, err := explain.WhatIf(t.Context(), p, pod, name, explain.Options{})
			require.NoError(t, err)
			if k := slices.IndexFunc(e.Top, func(c explain.Candidate) bool { return c.Node == name }); k >= 0 {
				require.Equal(t, &e.Top[k], got.Candidate)
				require.Equal(t, k > 0, got.Chosen != nil)
				require.Nil(t, got.Refusal)
				continue
			}
			k := slices.IndexFunc(e.Refusals, func(r explain.Refusal) bool { return r.Node == name })
			require.Equal(t, &e.Refusals[k], got.Refusal)
			require.Nil(t, got.Candidate)
		}
	}
}

// FuzzExplain explains on the cluster of any seed.
func FuzzExplain(f *testing.F) {
	f.Add(uint64(19))
	f.Add(uint64(689))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := explainOn(seed, &tally{kinds: map[explain.Kind]int{}}); err != nil {
			t.Fatal(err)
		}
	})
}
