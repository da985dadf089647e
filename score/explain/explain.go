package explain

import (
	"context"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Options says how much an explanation is to tell. The zero value tells everything about refusals and the scores of the
// best five nodes.
type Options struct {
	// Top is the number of best nodes to list with their scores. 0 means 5; negative means none.
	Top int
	// Refusals is the number of refused nodes to look at more closely, in the order of NodeID; the others are only counted.
	// 0 means all; negative means none.
	Refusals int
	// Pods is how many of the pods in the way are named for each obstacle; the others are only counted. 0 means 5;
	// negative means none.
	Pods int
	// NoSuggestions leaves out what would make refused nodes feasible, which costs more than all the rest.
	NoSuggestions bool
}

// Explanation is a decision and what it rests on.
type Explanation struct {
	Pod berth.PodKey `json:"pod"`
	// Evaluated is the number of nodes: Feasible and those of Refused, together.
	Evaluated int `json:"evaluated"`
	Feasible  int `json:"feasible"`
	// Refused is how many nodes each rule refused first: the built-in ones in their order, then the pipeline's own filters and
	// signals.
	Refused []Count `json:"refused,omitempty"`
	// Reasons is how many nodes each reason was given for, in the words of kube-scheduler and sorted as it sorts them. A
	// node that lacks two resources has two reasons.
	Reasons []Reason `json:"reasons,omitempty"`
	// Top are the best nodes, the chosen one first.
	Top []Candidate `json:"top,omitempty"`
	// RunnerUp compares the chosen node with the second best; nil if there is no other.
	RunnerUp *Comparison `json:"runnerUp,omitempty"`
	// Refusals are the refused nodes, in the order of NodeID.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Omitted is the number of refused nodes that are not among Refusals.
	Omitted int `json:"omitted,omitempty"`
}

// Count is the number of nodes that a rule refused before any other.
type Count struct {
	// Rule is the name of a built-in rule (affinity.Rule), or of a filter or signal of the pipeline's own.
	Rule string `json:"rule"`
	// Own is true for a filter or signal of the pipeline's own.
	Own   bool `json:"own,omitempty"`
	Nodes int  `json:"nodes"`
	// Resolvable is how many of them might become feasible if pods were removed.
	Resolvable int `json:"resolvable,omitempty"`
}

// Reason is the number of nodes that a reason was given for.
type Reason struct {
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// Explain decides on a pod, as Pipeline.DecideContext does, and explains the decision; nothing is changed. That no node
// is feasible is not an error; other errors are those of the decision.
//
// It takes O(nodes * rules + feasible nodes * log), and for each refused node that is looked at more closely O(pods of the
// classes that the refusing terms concern); with a suggestion O(rules) for each of those pods and of the pods of the node.
func Explain(ctx context.Context, p *score.Pipeline, pod *berth.Pod, opts Options) (*Explanation, error) {
	ev, err := evaluate(ctx, p, pod)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Pod: pod.Key(), Evaluated: p.Graph().Topology().Len(), Feasible: len(ev.ranked)}
	e.Refused = ev.counts()
	if e.Refusals, err = ev.refusals(opts); err != nil {
		return nil, err
	}
	if e.Reasons, err = ev.reasons(); err != nil {
		return nil, err
	}
	e.Omitted = e.Evaluated - e.Feasible - len(e.Refusals)
	for i, n := range ev.ranked[:min(limit(opts.Top, 5), len(ev.ranked))] {
		e.Top = append(e.Top, ev.candidate(i, n))
	}
	if len(ev.ranked) > 1 {
		e.RunnerUp = ev.compare(ev.ranked[0], ev.ranked[1])
	}
	return e, nil
}

// limit resolves a limit that is standard if it is 0 and 0 if it is negative.
func limit(given, standard int) int {
	if given == 0 {
		return standard
	}
	return max(given, 0)
}

// Chosen returns the node that the pod goes to, "" if no node is feasible or Options.Top left it out.
func (e *Explanation) Chosen() string {
	if len(e.Top) == 0 {
		return ""
	}
	return e.Top[0].Node
}

// Placement is what would have come of placing a pod on a certain node.
type Placement struct {
	Pod  berth.PodKey `json:"pod"`
	Node string       `json:"node"`
	// Feasible is the number of feasible nodes.
	Feasible int `json:"feasible"`
	// Refusal is why the node is not feasible; nil if it is.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Candidate is the node's rank and score; nil if it is not feasible.
	Candidate *Candidate `json:"candidate,omitempty"`
	// Chosen compares the node that the pipeline chooses with this one; nil if it is the same, or is not feasible.
	Chosen *Comparison `json:"chosen,omitempty"`
}

// WhatIf says what if the pod had been placed on the node: its verdict, or its rank, its score and what it has less than
// the node chosen. Errors and cost are those of Explain for one refused node, and affinity.ErrUnknownNode.
func WhatIf(ctx context.Context, p *score.Pipeline, pod *berth.Pod, node string, opts Options) (*Placement, error) {
	n, ok := p.Graph().Topology().Lookup(node)
	if !ok {
		_, err := p.Profile().Verdict(pod, node, nil)
		return nil, err
	}
	ev, err := evaluate(ctx, p, pod)
	if err != nil {
		return nil, err
	}
	out := &Placement{Pod: pod.Key(), Node: node, Feasible: len(ev.ranked)}
	rank, ok := ev.rank(n)
	if !ok {
		out.Refusal, err = ev.refusal(n, opts)
		return out, err
	}
	c := ev.candidate(rank, n)
	out.Candidate = &c
	if rank > 0 {
		out.Chosen = ev.compare(ev.ranked[0], n)
	}
	return out, nil
}

// counts counts the refused nodes by rule.
func (ev *evaluation) counts() []Count {
	var byRule [affinity.Rules]Count
	for n, v := range ev.verdicts {
		if v.Rule == affinity.Feasible || !ev.graph.Topology().Live().Has(topology.NodeID(n)) {
			continue
		}
		byRule[v.Rule].Nodes++
		if v.Resolvable {
			byRule[v.Rule].Resolvable++
		}
	}
	var counts []Count
	for r, c := range byRule {
		if c.Rule = affinity.Rule(r).String(); c.Nodes > 0 {
			counts = append(counts, c)
		}
	}
	for i := range ev.Inspection.Refused {
		r := &ev.Inspection.Refused[i]
		counts = append(counts, Count{Rule: r.Name, Own: true, Nodes: r.Nodes.Len()})
	}
	return counts
}
