package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Feasible returns the names of the feasible nodes, sorted.
func (e *Evaluation) Feasible() []string { return slices.Sorted(maps.Keys(e.Totals)) }

// Best returns the names of the nodes with the highest total, sorted.
func (e *Evaluation) Best() []string {
	var best []string
	for _, node := range e.Feasible() {
		if len(best) > 0 && e.Totals[node] > e.Totals[best[0]] {
			best = best[:0]
		}
		if len(best) == 0 || e.Totals[node] == e.Totals[best[0]] {
			best = append(best, node)
		}
	}
	return best
}

// Diff lists where the evaluation differs from the judge's, one a line, in the order of node names.
func (e *Evaluation) Diff(judge *Evaluation) []string {
	var out []string
	for _, node := range union(e.Refusals, judge.Refusals) {
		got, want := e.Refusals[node], judge.Refusals[node]
		if got.Plugin != want.Plugin || got.Resolvable != want.Resolvable {
			out = append(out, fmt.Sprintf("node %s: refused by %s, kube-scheduler: %s", node, got, want))
		}
	}
	for _, plugin := range union(e.Scores, judge.Scores) {
		for _, node := range union(e.Scores[plugin], judge.Scores[plugin]) {
			if got, want := e.Scores[plugin][node], judge.Scores[plugin][node]; got != want {
				out = append(out, fmt.Sprintf("node %s: %s scores %d, kube-scheduler: %d", node, plugin, got, want))
			}
		}
	}
	for _, node := range union(e.Totals, judge.Totals) {
		got, feasible := e.Totals[node]
		want, wanted := judge.Totals[node]
		if got != want || feasible != wanted {
			out = append(out, fmt.Sprintf("node %s: total %d (feasible: %v), kube-scheduler: %d (%v)", node, got, feasible, want, wanted))
		}
	}
	if got, want := e.Best(), judge.Best(); !slices.Equal(got, want) {
		out = append(out, fmt.Sprintf("best %v, kube-scheduler: %v", got, want))
	}
	return out
}

// String names the plugin and whether preemption could help.
func (r Refusal) String() string {
	switch {
	case r.Plugin == "":
		return "nobody"
	case r.Resolvable:
		return r.Plugin + " (resolvable)"
	}
	return r.Plugin + " (unresolvable)"
}

// Diff lists where the preemption differs from the judge's, one a line, in the order of node names.
func (p *Preemption) Diff(judge *Preemption) []string {
	var out []string
	for _, node := range union(p.Candidates, judge.Candidates) {
		got, candidate := p.Candidates[node]
		want, wanted := judge.Candidates[node]
		if candidate != wanted || got.Violations != want.Violations || !slices.Equal(got.Pods, want.Pods) {
			out = append(out, fmt.Sprintf("node %s: victims %v with %d violations (candidate: %v), kube-scheduler: %v with %d (%v)",
				node, got.Pods, got.Violations, candidate, want.Pods, want.Violations, wanted))
		}
	}
	within := !slices.ContainsFunc(p.Chosen, func(node string) bool { return !slices.Contains(judge.Chosen, node) })
	if !within || (len(p.Chosen) == 0) != (len(judge.Chosen) == 0) {
		out = append(out, fmt.Sprintf("chosen %v, kube-scheduler: %v", p.Chosen, judge.Chosen))
	}
	return out
}

// union returns the keys of both maps, sorted.
func union[K cmp.Ordered, V any](a, b map[K]V) []K {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
