package affinity

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// evaluation is the scratch of one decision over the groups of some columns, reused by the next.
type evaluation struct {
	pl *plan
	c  *columns
	// only, if not None, is the one node that may be chosen.
	only topology.NodeID
	// pod is the one that is decided on: its own nomination does not count.
	pod      *berth.Pod
	feasible []scoredGroup
	mins     []int32 // smallest count of each hard constraint
	weights  []float64
	sizes    []domainSet // of each soft constraint
	// extremes over the feasible groups, for normalising
	maxTaints, maxPrefer   int64
	minInter, maxInter     int64
	minSpread, maxSpread   int64
	feasibleNodes, ignored int

	exceptions exceptions
	zeros      []int64 // the fine part of nodes without counts

	// What feasible and zeros begin with: few decisions need more, and what lies beside the rest is fetched with it.
	feasibleInPlace [4]scoredGroup
	zerosInPlace    [fineCounts + 2]int64
}

// scoredGroup is a feasible group, or a single node of one that is an exception, with its raw scores.
type scoredGroup struct {
	t, fine tuple
	top     standing // the best node
	size    int
	group   int32
	single  bool
	ignored bool
	inter   int64
	spread  int64
}

// Choice is the best node for a pod.
type Choice struct {
	Node topology.NodeID
	// Score is the sum of the normalised scores times their weights.
	Score int64
	// Scores are the node's scores, normalised to 0..100, before their weights. Those of weight 0 are left out (0).
	Scores [Scorers]int64
	// Feasible is the number of feasible nodes.
	Feasible int
}

// Best returns the feasible node of the highest score for p, the one that comes first in the graph's order if there are
// several. It reports false if no node is feasible. Every feasible node is taken into account. The error is a *berth.Fault.
//
// For a class that was seen before: O(spec + groups + changed nodes * log nodes), where groups are the combinations of
// domains and counts that its rules tell apart; it allocates nothing. For a new class: O(nodes).
func (p *Profile) Best(pod *berth.Pod) (choice Choice, ok bool, err error) {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return Choice{Node: topology.None}, false, err
	}
	ok = p.choose(&choice, cl, pod, pod.NodeName)
	return choice, ok, nil
}

// choose finds the best node for a pod of class cl that may run on the node of that name only, if it isn't "".
func (p *Profile) choose(choice *Choice, cl *class, pod *berth.Pod, only string) bool {
	p.evaluate(cl, pod, only).best(choice)
	if choice.Node == topology.None {
		return false
	}
	p.g.chosen, p.g.decided = choice.Node, p.eval.c
	return true
}

// evaluate brings the columns of the class up to date and scores its groups.
func (p *Profile) evaluate(cl *class, pod *berth.Pod, only string) *evaluation {
	e := p.filtered(cl, pod, only)
	e.score()
	return e
}

// filtered brings the columns of the class up to date and finds the feasible groups.
func (p *Profile) filtered(cl *class, pod *berth.Pod, only string) *evaluation {
	e := &p.eval
	e.pl = p.planOf(cl)
	e.c, e.only, e.pod = e.pl.columns(), topology.None, pod
	e.feasible = e.feasible[:0]
	if only != "" {
		n, ok := p.g.x.Lookup(only)
		if !ok {
			return e
		}
		e.only = n
	}
	e.filter()
	return e
}

// classFor returns the class of a prepared pod in g. It is found again if the pod was prepared for another graph or its class was
// dropped meanwhile, because nobody used it.
func (w *Prepared) classFor(g *Graph) (*class, error) {
	if w.graph != g || w.class.dropped {
		c, err := g.validClass(w.pod)
		if err != nil {
			return nil, err
		}
		*w = g.prepared(w.pod, c)
	} else if w.class.idle {
		g.refresh(w.class)
	}
	return w.class, nil
}

// BestPrepared is Best for a prepared pod. It doesn't read the spec.
func (p *Profile) BestPrepared(w *Prepared) (choice Choice, ok bool, err error) {
	cl, err := w.classFor(p.g)
	if err != nil {
		return Choice{Node: topology.None}, false, err
	}
	ok = p.choose(&choice, cl, w.pod, w.node)
	return choice, ok, nil
}
