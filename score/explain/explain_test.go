package explain_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

// steps multiplies the length of the random tests: -berth.steps=100 makes more than 100,000 suggestions.
var steps = flag.Int("berth.steps", 1, "how many times longer the random tests run")

const (
	// clusters is the number of random clusters of TestExplanationsHold, decisions the number of pods explained on each.
	clusters, decisions = 60, 5
)

// tally is what the random tests have seen.
type tally struct {
	refused, suggested, smallest, changes int
	kinds                                 map[explain.Kind]int
}

// TestExplanationsHold holds explanations on random clusters to account: the counts add up, the scores add up, the choice
// is that of the decision, and every suggestion makes its node feasible in the eyes of the reference.
func TestExplanationsHold(t *testing.T) {
	sum := tally{kinds: map[explain.Kind]int{}}
	for seed := range uint64(clusters * *steps) {
		if err := explainOn(seed, &sum); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d refused nodes, %d suggestions of %d changes, %d of them certainly smallest; by kind: %v",
		sum.refused, sum.suggested, sum.changes, sum.smallest, sum.kinds)
	if sum.suggested < 1000**steps || 1000*sum.suggested < 995*sum.refused {
		t.Errorf("only %d suggestions for %d refused nodes", sum.suggested, sum.refused)
	}
	for _, k := range []explain.Kind{explain.Uncordon, explain.SetLabel, explain.RemoveLabel, explain.AddResource, explain.AddGPUs, explain.AddPod,
		explain.EndNomination, explain.RemovePod, explain.Tolerate, explain.AcceptGPUModel, explain.DropNodeName,
		explain.DropNodeSelector, explain.DropNodeAffinity, explain.DropPodAffinity} {
		if sum.kinds[k] == 0 {
			t.Errorf("no suggestion was to %s", k)
		}
	}
}

func explainOn(seed uint64, sum *tally) error {
	w, err := newWorld(seed)
	if err != nil {
		return err
	}
	p, err := w.pipeline(score.Config{})
	if err != nil {
		return err
	}
	for i := range decisions {
		pod := w.pod()
		e, err := explain.Explain(context.Background(), p, pod, explain.Options{Top: 1000, Pods: 1000})
		if err != nil {
			return err
		}
		if err := w.checkCounts(e, pod); err != nil {
			return fmt.Errorf("pod %d: %w", i, err)
		}
		if err := w.checkScores(e, pod); err != nil {
			return fmt.Errorf("pod %d: %w", i, err)
		}
		if err := checkChoice(p, pod, e); err != nil {
			return fmt.Errorf("pod %d: %w", i, err)
		}
		if err := w.checkSuggestions(e, pod, sum); err != nil {
			return fmt.Errorf("pod %d: %w", i, err)
		}
		if chosen := e.Chosen(); chosen != "" && pod.NodeName == "" {
			pod.NodeName = chosen
			if err := w.add(*pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCounts: evaluated = feasible + sum of refusals, as the reference counts them.
func (w *world) checkCounts(e *explain.Explanation, pod *berth.Pod) error {
	want := map[string]int{}
	for _, r := range w.Filter(pod) {
		want[r.Plugin]++
	}
	sum := e.Feasible
	for _, c := range e.Refused {
		if c.Nodes != want[c.Rule] {
			return fmt.Errorf("%d nodes refused by %s, reference %d", c.Nodes, c.Rule, want[c.Rule])
		}
		sum += c.Nodes
	}
	if e.Evaluated != len(w.Nodes) || sum != e.Evaluated || e.Feasible != want[""] {
		return fmt.Errorf("%d nodes, evaluated %d, feasible %d, in all %d", len(w.Nodes), e.Evaluated, e.Feasible, sum)
	}
	if len(e.Refusals)+e.Feasible != e.Evaluated || e.Omitted != 0 {
		return fmt.Errorf("%d refusals, omitted %d", len(e.Refusals), e.Omitted)
	}
	for _, r := range e.Refusals {
		if len(r.Reasons) == 0 || len(r.Obstacles) == 0 || r.Obstacles[0].Rule != r.Rule {
			return fmt.Errorf("refusal %+v", r)
		}
	}
	return nil
}

// checkScores: the points of the terms add up to the total, and the differences to the margin.
func (w *world) checkScores(e *explain.Explanation, pod *berth.Pod) error {
	if len(e.Top) != e.Feasible {
		return fmt.Errorf("%d best nodes of %d", len(e.Top), e.Feasible)
	}
	feasible := w.Feasible(pod)
	scores, err := w.Score(pod, feasible)
	if err != nil {
		return err
	}
	total := map[string]int64{}
	for i, f := range feasible {
		total[w.Nodes[f].Name] = scores.Total[i]
	}
	for i, c := range e.Top {
		var sum int64
		for _, term := range c.Terms {
			if term.Points != term.Score*term.Weight {
				return fmt.Errorf("term %+v", term)
			}
			sum += term.Points
		}
		if sum != c.Total || sum != total[c.Node] || c.Rank != i+1 || i > 0 && c.Total > e.Top[i-1].Total {
			return fmt.Errorf("candidate %+v: the terms make %d, the reference %d", c, sum, total[c.Node])
		}
	}
	if (e.RunnerUp != nil) != (len(e.Top) > 1) {
		return fmt.Errorf("runner-up %v of %d", e.RunnerUp, len(e.Top))
	}
	if r := e.RunnerUp; r != nil {
		var sum int64
		for i, d := range r.Differences {
			if sum += d.Points; i > 0 && d.Points > r.Differences[i-1].Points {
				return fmt.Errorf("differences are not sorted: %+v", r.Differences)
			}
		}
		if sum != r.Margin || r.Winner != e.Top[0].Node || r.Loser != e.Top[1].Node || r.Margin != e.Top[0].Total-e.Top[1].Total {
			return fmt.Errorf("runner-up %+v", r)
		}
	}
	return nil
}

// checkChoice: the fast path chooses the same.
func checkChoice(p *score.Pipeline, pod *berth.Pod, e *explain.Explanation) error {
	d, err := p.Decide(pod)
	if errors.Is(err, score.ErrUnschedulable) != (e.Feasible == 0) || err != nil && !errors.Is(err, score.ErrUnschedulable) {
		return fmt.Errorf("decision %v, %d feasible", err, e.Feasible)
	}
	if d.Node != e.Chosen() || d.Feasible != e.Feasible || err == nil && d.Score != e.Top[0].Total {
		return fmt.Errorf("decision %+v, explained %s of %d", d, e.Chosen(), e.Feasible)
	}
	return nil
}

// checkSuggestions makes the changes of each suggestion and asks the reference.
func (w *world) checkSuggestions(e *explain.Explanation, pod *berth.Pod, sum *tally) error {
	for _, r := range e.Refusals {
		sum.refused++
		s := r.Suggestion
		if s == nil {
			continue
		}
		sum.suggested++
		sum.changes += len(s.Changes)
		if s.Smallest {
			sum.smallest++
		}
		for _, c := range s.Changes {
			sum.kinds[c.Kind]++
		}
		if got := w.judge(pod, r.Node, s.Changes); got.Plugin != "" {
			return fmt.Errorf("node %s, refused by %s: after %q it is refused by %s", r.Node, r.Rule, s, got.Plugin)
		}
		for i := range s.Changes { // none is superfluous
			without := append(append([]explain.Change(nil), s.Changes[:i]...), s.Changes[i+1:]...)
			if got := w.judge(pod, r.Node, without); got.Plugin == "" {
				return fmt.Errorf("node %s: of %q, %q is not needed", r.Node, s, &s.Changes[i])
			}
		}
	}
	return nil
}

// judge is the reference's verdict for a node after changes.
func (w *world) judge(pod *berth.Pod, node string, changes []explain.Change) reference.Refusal {
	c, changed := w.with(pod, changes)
	return c.Filter(changed)[w.node(node)]
}
