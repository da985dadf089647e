package differential

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Script is a cluster and what happens in it.
type Script struct {
	Cluster conformance.Cluster `json:"cluster"`
	Steps   []Step              `json:"steps"`
}

// Step is a question or a change.
type Step struct {
	// Ask is a pod to place. The schedulers say what they think of each node, and if none will do, whom they would preempt.
	Ask *v1.Pod `json:"ask,omitempty"`
	// Place puts the pod on the first of the best nodes afterwards, if there are any.
	Place bool `json:"place,omitempty"`
	// Change happens to the cluster.
	Change *conformance.Change `json:"change,omitempty"`
}

// Counts are how much was compared.
type Counts struct {
	// Verdicts is the number of nodes that were judged feasible or not, and Scores the number of their scores by plugin.
	Verdicts, Scores int
	// Questions is the number of pods that were asked about, Preemptions of those that had candidates for preemption, and
	// Candidates the number of these.
	Questions, Preemptions, Candidates int
	// Changes is the number of changes.
	Changes int
}

// Add adds counts.
func (c *Counts) Add(d Counts) {
	c.Verdicts += d.Verdicts
	c.Scores += d.Scores
	c.Questions += d.Questions
	c.Preemptions += d.Preemptions
	c.Candidates += d.Candidates
	c.Changes += d.Changes
}

// Difference is a step at which two schedulers answer differently.
type Difference struct {
	Step  int
	Lines []string
}

// Kind is what the difference is about, whatever the names and numbers in it.
func (d *Difference) Kind() string {
	words := strings.FieldsFunc(d.Lines[0], unicode.IsSpace)
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return strings.ContainsAny(word, "0123456789:[]") }), " ")
}

// valid says whether every object has the names by which others find it, every pod a container, and no two placed pods the
// same start.
func (s *Script) valid() bool {
	nodes, pods, started := slices.Clone(s.Cluster.Nodes), slices.Clone(s.Cluster.Pods), map[int64]string{}
	for _, step := range s.Steps {
		pods = append(pods, step.Ask)
		if c := step.Change; c != nil {
			pods = append(pods, c.AddPod, c.UpdatePod, c.AssumePod)
			nodes = append(nodes, c.AddNode, c.UpdateNode)
		}
	}
	for _, p := range pods {
		if p == nil {
			continue
		}
		if p.Name == "" || p.Namespace == "" || p.UID == "" || p.Spec.SchedulerName == "" || len(p.Spec.Containers) == 0 {
			return false
		}
		var start int64
		if p.Status.StartTime != nil {
			start = p.Status.StartTime.Unix()
		}
		if other, found := started[start]; found && other != conformance.Key(p) && p.Spec.NodeName != "" {
			return false
		}
		started[start] = conformance.Key(p)
	}
	return !slices.ContainsFunc(nodes, func(n *v1.Node) bool { return n != nil && n.Name == "" })
}

// Run puts the script to a scheduler and to the judge until they differ. An error means that one of them could not follow.
func (s *Script) Run(ours, judge conformance.Open) (counts Counts, difference *Difference, err error) {
	o, done, err := ours(&s.Cluster)
	if err != nil {
		return counts, nil, fmt.Errorf("ours: %w", err)
	}
	defer done()
	j, done, err := judge(&s.Cluster)
	if err != nil {
		return counts, nil, fmt.Errorf("judge: %w", err)
	}
	defer done()
	for i, step := range s.Steps {
		lines, err := step.run(o, j, &counts)
		if err != nil {
			return counts, nil, fmt.Errorf("step %d: %w", i, err)
		}
		if len(lines) > 0 {
			return counts, &Difference{i, lines}, nil
		}
	}
	return counts, nil, nil
}

func (s *Step) run(ours, judge conformance.Scheduler, counts *Counts) (differences []string, err error) {
	if s.Change != nil {
		return nil, apply(*s.Change, ours, judge, counts)
	}
	if s.Ask == nil {
		return nil, nil
	}
	evaluation, lines := compare(ours, judge, s.Ask, counts)
	if len(lines) > 0 || !s.Place || evaluation == nil || len(evaluation.Totals) == 0 {
		return lines, nil
	}
	placed := s.Ask.DeepCopy()
	placed.Spec.NodeName = evaluation.Best()[0]
	if err := apply(conformance.Change{AssumePod: placed}, ours, judge, counts); err != nil {
		return nil, err
	}
	return nil, apply(conformance.Change{AddPod: placed}, ours, judge, counts)
}

func apply(c conformance.Change, ours, judge conformance.Scheduler, counts *Counts) error {
	counts.Changes++
	if err := judge.Apply(c); err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	if err := ours.Apply(c); err != nil {
		return fmt.Errorf("ours: %w", err)
	}
	return nil
}

// compare asks both about a pod and returns the judge's answer and where the other differs. The answer is nil if both
// refuse to evaluate the pod at all.
func compare(ours, judge conformance.Scheduler, pod *v1.Pod, counts *Counts) (*conformance.Evaluation, []string) {
	got, err := ours.Evaluate(pod)
	want, judgeErr := judge.Evaluate(pod)
	if (err == nil) != (judgeErr == nil) {
		return nil, []string{fmt.Sprintf("error %v, kube-scheduler: %v", err, judgeErr)}
	}
	counts.Questions++
	if err != nil {
		return nil, nil
	}
	if lines := got.Diff(want); len(lines) > 0 {
		return want, lines
	}
	counts.Verdicts += len(want.Refusals) + len(want.Totals)
	for _, scores := range want.Scores {
		counts.Scores += len(scores)
	}
	if len(want.Totals) > 0 {
		return want, nil
	}
	return want, comparePreemption(ours, judge, pod, counts)
}

func comparePreemption(ours, judge conformance.Scheduler, pod *v1.Pod, counts *Counts) []string {
	got, err := ours.Preempt(pod)
	want, judgeErr := judge.Preempt(pod)
	if err != nil || judgeErr != nil {
		return []string{fmt.Sprintf("preemption: error %v, kube-scheduler: %v", err, judgeErr)}
	}
	if len(want.Candidates) > 0 {
		counts.Preemptions++
		counts.Candidates += len(want.Candidates)
	}
	return got.Diff(want)
}
