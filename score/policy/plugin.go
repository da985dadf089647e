package policy

import (
	"fmt"
	"sync"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Filter is an expression of type BoolType as a filter: it refuses the nodes for which the expression is false. Make one
// with NewFilter. It keeps sets for the graph that it was used on last, and belongs to that graph's owner: calls must not
// overlap with each other or with updates of the graph.
type Filter struct {
	name string
	root term
	run  *run
}

// NewFilter returns the filter of an expression, of which there may be several. The error wraps ErrType.
func NewFilter(name string, e *Expr) (*Filter, error) {
	if e.Type() != BoolType {
		return nil, fmt.Errorf("%w: filter %q is a %v, want a bool: %v", ErrType, name, e.Type(), e)
	}
	c := newCompiler(true)
	root := c.root(e.root)
	return &Filter{name: name, root: root, run: c.program.newRun()}, nil
}

// Name returns the name that the filter was made with.
func (f *Filter) Name() string { return f.name }

// Filter takes out of feasible the nodes for which the expression is false. The error is that of a context that is done.
//
// For a pod whose values, as far as the expression looks at them, were among the last ones, the cost is O(capacity/64) and an
// evaluation for each node that changed since, and nothing is allocated; the package's documentation says what is to be added
// for others.
func (f *Filter) Filter(in *score.Input, feasible *topology.NodeSet) error {
	f.run.begin(in)
	defer f.run.end()
	if f.run.err == nil {
		f.root.narrow(f.run, feasible)
	}
	return f.run.err
}

// scorer is an expression of type NumberType as a score.
type scorer struct {
	name   string
	number numberOf
	*program

	mu   sync.Mutex
	free []*run // that no call uses
}

// localScorer is a scorer whose expression looks at the pod's class and the node alone.
type localScorer struct{ *scorer }

// Local promises that a score depends on pod class and node alone.
func (localScorer) Local() {}

// Concurrent promises that nodes may be asked for by several goroutines. What reads the cluster is better asked for once
// than once for each part of the nodes.
func (localScorer) Concurrent() {}

// NewScorer returns the score of an expression of type NumberType: its whole part, within ±score.MaxScore, or 0 if it is
// missing. If the expression does not read the state of the cluster, the scorer is a score.Local, whose columns are kept, and
// score.Concurrent. The error wraps ErrType.
//
// Score takes O(nodes * size of the expression), and, other than in a filter, count takes O(all nodes) each time. The error is
// that of a context that is done.
func NewScorer(name string, e *Expr) (score.Scorer, error) {
	if e.Type() != NumberType {
		return nil, fmt.Errorf("%w: score %q is a %v, want a number: %v", ErrType, name, e.Type(), e)
	}
	c := newCompiler(false)
	s := &scorer{name: name, number: c.number(e.root), program: c.program}
	if e.root.reads&ReadsCluster == 0 {
		return localScorer{s}, nil
	}
	return s, nil
}

func (s *scorer) Name() string { return s.name }

func (s *scorer) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	r := s.take()
	defer s.give(r)
	r.begin(in)
	for _, n := range nodes {
		if r.stopped() {
			break
		}
		column[n] = 0
		if x, ok := s.number(r, n); ok {
			column[n] = min(max(x.whole(), -score.MaxScore), score.MaxScore)
		}
	}
	return r.err
}

func (s *scorer) take() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := len(s.free); k > 0 {
		r := s.free[k-1]
		s.free = s.free[:k-1]
		return r
	}
	return s.newRun()
}

func (s *scorer) give(r *run) {
	r.end()
	s.mu.Lock()
	s.free = append(s.free, r)
	s.mu.Unlock()
}
