package explain

import (
	"cmp"
	"context"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// evaluation is a decision laid open, and the verdict on every node.
type evaluation struct {
	*score.Inspection
	graph    *affinity.Graph
	profile  *affinity.Profile
	pod      *berth.Pod
	verdicts []affinity.Verdict // by NodeID
	weights  affinity.Weights
	ranked   []topology.NodeID // the feasible nodes, the best first
}

func evaluate(ctx context.Context, p *score.Pipeline, pod *berth.Pod) (*evaluation, error) {
	ev := &evaluation{graph: p.Graph(), profile: p.Profile(), pod: pod, weights: p.Profile().Weights()}
	var err error
	if ev.Inspection, err = p.Inspect(ctx, pod); err != nil {
		return nil, err
	}
	ev.verdicts = make([]affinity.Verdict, ev.graph.Topology().Cap())
	err = ev.profile.Verdicts(pod, func(n topology.NodeID, v affinity.Verdict) { ev.verdicts[n] = v })
	if err != nil {
		return nil, err
	}
	ev.ranked = ev.Feasible.AppendTo(nil)
	slices.SortFunc(ev.ranked, func(a, b topology.NodeID) int {
		switch {
		case ev.Total[a] != ev.Total[b]:
			return cmp.Compare(ev.Total[b], ev.Total[a])
		case a == b:
			return 0
		case ev.graph.Before(a, b):
			return -1
		}
		return 1
	})
	return ev, nil
}

// rank returns the place of a feasible node, from 0.
func (ev *evaluation) rank(n topology.NodeID) (int, bool) {
	i := slices.Index(ev.ranked, n)
	return i, i >= 0
}

func (ev *evaluation) name(n topology.NodeID) string { return ev.graph.Topology().Name(n) }
