package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// View is what a scheduler that keeps a cache of the cluster can tell about it.
type View interface {
	// Nodes are the names of the nodes that the scheduler sees.
	Nodes() ([]string, error)
	// Requested is what the pods of a node request: cpu in milli, "pods" their number.
	Requested(node string) (map[v1.ResourceName]int64, error)
}

// Check asks the scheduler what the case asks and returns what is not as expected. With actual, what v1.37.2 does is
// expected where that is not what is documented.
func (c *Case) Check(open conformance.Open, actual bool) []string {
	cluster, err := c.Cluster()
	if err != nil {
		return []string{err.Error()}
	}
	r := &run{Case: c, actual: actual, incoming: map[string]*v1.Pod{}, placed: map[string]*v1.Pod{}}
	for _, p := range cluster.Pods {
		r.placed[conformance.Key(p)] = p
	}
	for i := range c.Incoming {
		pods, err := c.Incoming[i].Expand()
		if err != nil {
			return []string{err.Error()}
		}
		for _, p := range pods {
			r.incoming[p.Name] = p
		}
	}
	scheduler, closing, err := open(cluster)
	if err != nil {
		return []string{err.Error()}
	}
	defer closing()
	r.scheduler = scheduler
	for done := 0; ; done++ {
		for i := range c.Expect {
			if e := &c.Expect[i]; (e.After == nil && done == len(c.Steps)) || (e.After != nil && *e.After == done) {
				r.expect(fmt.Sprintf("expect[%d] %s", i, e.Pod), e)
			}
		}
		if done == len(c.Steps) {
			return r.failures
		}
		if err := r.step(&c.Steps[done]); err != nil {
			return append(r.failures, fmt.Sprintf("step %d: %v", done+1, err))
		}
	}
}

// run is a case under way.
type run struct {
	*Case
	actual    bool
	scheduler conformance.Scheduler
	// incoming are the pods to place, by name, and placed all others, by namespace/name.
	incoming, placed map[string]*v1.Pod
	failures         []string
}

func (r *run) failf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *run) expect(what string, e *Expect) {
	answer := e
	if r.actual && e.Actual != nil {
		answer = e.Actual
	}
	r.expectView(what, answer)
	if e.Pod == "" {
		return
	}
	pod := r.incoming[e.Pod]
	if pod == nil {
		r.failf("%s: no such pod is incoming", what)
		return
	}
	evaluation, err := r.scheduler.Evaluate(pod)
	if err != nil {
		r.failf("%s: %v", what, err)
		return
	}
	r.expectEvaluation(what, answer, evaluation)
	r.expectPreemption(what, answer, pod)
	if e.Placed != "" {
		if err := r.bind(pod, e.Placed); err != nil {
			r.failf("%s: placed: %v", what, err)
		}
	}
}

func (r *run) expectEvaluation(what string, want *Expect, got *conformance.Evaluation) {
	if want.Feasible != nil && !same(got.Feasible(), want.Feasible) {
		r.failf("%s: feasible: expected %v, got %v", what, sorted(want.Feasible), got.Feasible())
	}
	if want.FeasibleCount != nil && len(got.Totals) != *want.FeasibleCount {
		r.failf("%s: feasible: expected %d nodes, got %d", what, *want.FeasibleCount, len(got.Totals))
	}
	for _, node := range slices.Sorted(maps.Keys(want.Infeasible)) {
		refusal, refused := got.Refusals[node]
		if !refused {
			r.failf("%s: infeasible: expected %s to be refused, got no refusal", what, node)
			continue
		}
		if plugin, found := pluginOf(want.Infeasible[node]); found && plugin != refusal.Plugin {
			r.failf("%s: infeasible: expected %s to be refused by %s, got %s", what, node, plugin, refusal.Plugin)
		}
	}
	if want.Best != nil && !same(got.Best(), want.Best) {
		r.failf("%s: best: expected %v, got %v of %v", what, sorted(want.Best), got.Best(), got.Totals)
	}
	for _, plugin := range slices.Sorted(maps.Keys(want.Scores)) {
		scores := got.Scores[plugin]
		if plugin == "total" {
			scores = got.Totals
		}
		for _, node := range slices.Sorted(maps.Keys(want.Scores[plugin])) {
			score, found := scores[node]
			if expected := want.Scores[plugin][node]; !found || score != expected {
				r.failf("%s: scores: %s on %s: expected %d, got %d (scored: %v)", what, plugin, node, expected, score, found)
			}
		}
	}
}

// pluginOf is the plugin that a reason starts with, in brackets.
func pluginOf(reason string) (string, bool) {
	rest, found := strings.CutPrefix(reason, "[")
	plugin, _, closed := strings.Cut(rest, "]")
	return plugin, found && closed
}

func (r *run) expectPreemption(what string, want *Expect, pod *v1.Pod) {
	if want.Nominated == nil && want.Candidates == nil && want.Victims == nil {
		return
	}
	got, err := r.scheduler.Preempt(pod)
	if err != nil {
		r.failf("%s: preemption: %v", what, err)
		return
	}
	if want.Candidates != nil {
		for _, node := range slices.Sorted(maps.Keys(got.Candidates)) {
			if _, expected := want.Candidates[node]; !expected {
				r.failf("%s: candidates: did not expect %s, with victims %v", what, node, got.Candidates[node].Pods)
			}
		}
		for _, node := range slices.Sorted(maps.Keys(want.Candidates)) {
			victims, found := got.Candidates[node]
			if !found || !same(names(victims.Pods), want.Candidates[node]) {
				r.failf("%s: candidates: %s: expected victims %v, got %v (candidate: %v)", what, node, want.Candidates[node], victims.Pods, found)
			}
		}
	}
	if want.Nominated == nil {
		return
	}
	if *want.Nominated == "" {
		if len(got.Chosen) > 0 {
			r.failf("%s: nominated: expected none, got %v", what, got.Chosen)
		}
		return
	}
	if !slices.Contains(got.Chosen, *want.Nominated) {
		r.failf("%s: nominated: expected %s, got %v", what, *want.Nominated, got.Chosen)
		return
	}
	if victims := names(got.Candidates[*want.Nominated].Pods); want.Victims != nil && !same(victims, want.Victims) {
		r.failf("%s: victims: expected %v, got %v", what, want.Victims, victims)
	}
}

// names are the names of namespace/name.
func names(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = key[strings.LastIndex(key, "/")+1:]
	}
	return out
}

func (r *run) expectView(what string, want *Expect) {
	if want.SnapshotNodes == nil && want.Requested == nil {
		return
	}
	view, ok := r.scheduler.(View)
	if !ok {
		r.failf("%s: the scheduler does not tell what it sees", what)
		return
	}
	if want.SnapshotNodes != nil {
		nodes, err := view.Nodes()
		if err != nil || !same(nodes, want.SnapshotNodes) {
			r.failf("%s: snapshot: expected nodes %v, got %v (%v)", what, sorted(want.SnapshotNodes), sorted(nodes), err)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(want.Requested)) {
		requested, err := view.Requested(node)
		if err != nil {
			r.failf("%s: requested: %s: %v", what, node, err)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(want.Requested[node])) {
			quantity := want.Requested[node][name]
			expected := quantity.Value()
			if name == v1.ResourceCPU {
				expected = quantity.MilliValue()
			}
			if requested[name] != expected {
				r.failf("%s: requested: %s of %s: expected %d, got %d", what, name, node, expected, requested[name])
			}
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func same(a, b []string) bool { return slices.Equal(sorted(a), sorted(b)) }
