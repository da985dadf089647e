package score

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Source is a signal that may take its time: a metrics store, a price list, a model elsewhere. It knows pod and nodes by name
// only, since it may still be at work when the graph has moved on.
type Source interface {
	// Name tells the signals of a pipeline apart; what the source refuses is counted under it.
	Name() string
	// Fetch answers the query in q.Scores and q.Refused, which are its own until it returns. It runs on a goroutine of its
	// own while the decision goes on, and must return soon after ctx is done. One that does not is left behind: its answer
	// is dropped, its goroutine lives until it returns, and until then the source is not asked again but counts as late at
	// once. So there is one such goroutine a source at most. An error, or a panic, means that there is no answer.
	Fetch(ctx context.Context, q *Query) error
}

// Query is what a Source is asked.
type Query struct {
	// Pod is a copy of the pod to place. What it points to must not be changed, nor may the caller of the decision as long
	// as a source that was late is at work.
	Pod *berth.Pod
	// Nodes are the names of the feasible nodes. They must not be changed.
	Nodes []string
	// Scores are the scores of Nodes, within -MaxScore..MaxScore, and Refused whether the pod must not run there. They
	// are as long as Nodes, and zero at first.
	Scores  []int64
	Refused []bool
}

// Fallback is what takes the place of a signal without answer.
type Fallback uint8

const (
	// Skip lets the signal count nothing: 0 for each node, and none is refused.
	Skip Fallback = iota
	// Evaluate scores the nodes by Signal.Local.
	Evaluate
	// Refuse ends the decision with an error.
	Refuse
)

// Signal is a Source with a deadline and with what is done if it is late or fails.
type Signal struct {
	Source Source
	// Weight multiplies the score, in 1..2^20. 0 means 1.
	Weight int64
	// Deadline is how long the decision waits for the answer, from when it asks, after the rules and the filters. 0 means
	// as long as the decision's context lasts.
	Deadline time.Duration
	// Retry is for errors within the deadline.
	Retry    Retry
	Fallback Fallback
	// Local is for Evaluate alone. It is asked while the decision waits, once there is nothing else to do, so that the
	// decision need not wait for it afterwards.
	Local Scorer
}

// Outcome is what became of a signal in a decision.
type Outcome struct {
	Signal string
	// Score is the score of the chosen node before its weight, the fallback's if Err is not nil.
	Score int64
	// Err is why there was no answer: it wraps ErrLate if there was none in time, or is what Fetch returned last.
	Err error
}

// Late returns the names of the signals that did not answer in time.
func (d *Decision) Late() []string {
	var names []string
	for _, o := range d.Signals {
		if errors.Is(o.Err, ErrLate) {
			names = append(names, o.Signal)
		}
	}
	return names
}

// grace is how long a decision waits for a source that was told to stop. One that heeds its context needs no longer, so that
// when the decision is back, its goroutine is gone.
const grace = time.Millisecond

// signals are the signals of a pipeline.
type signals struct {
	all     []Signal
	busy    []atomic.Bool // by signal: whether a goroutine is in Fetch
	columns [][]int64     // by signal, of the decision
	local   []*scorer     // by signal: Signal.Local
	// fallback scores for those with Evaluate that had no answer when the rest was done; of says which signals these are.
	fallback pass
	of       []int
	scorers  []*scorer
}

// fetch is one query and its answer.
type fetch struct {
	ctx    context.Context
	cancel context.CancelFunc
	query  Query
	answer chan error // of one element, so that nobody has to wait for it to be read
	known  bool       // whether err is the answer
	err    error
}

func (s *signals) init(p *Pipeline, all []Signal) error {
	names := make(map[string]bool)
	for i := range all {
		g := all[i]
		if g.Source == nil {
			return fmt.Errorf("%w: Signals[%d].Source is nil", ErrConfig, i)
		}
		at := fmt.Sprintf("Signals[%d] (%s)", i, g.Source.Name())
		switch {
		case names[g.Source.Name()]:
			return fmt.Errorf("%w: %s: the name is taken", ErrConfig, at)
		case g.Weight < 0 || g.Weight > maxWeight:
			return fmt.Errorf("%w: %s: weight %d is not in 0..%d", ErrConfig, at, g.Weight, maxWeight)
		case g.Deadline < 0:
			return fmt.Errorf("%w: %s: Deadline is %v", ErrConfig, at, g.Deadline)
		case g.Fallback > Refuse:
			return fmt.Errorf("%w: %s: Fallback is %d", ErrConfig, at, g.Fallback)
		case (g.Fallback == Evaluate) != (g.Local != nil):
			return fmt.Errorf("%w: %s: Local and the fallback Evaluate need each other", ErrConfig, at)
		}
		if err := g.Retry.check(); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrConfig, at, err)
		}
		names[g.Source.Name()] = true
		g.Weight = max(g.Weight, 1)
		s.all = append(s.all, g)
		var local *scorer
		if g.Local != nil {
			local = newScorer(Weighted{g.Local, g.Weight})
			local.column = "fallback of " + g.Source.Name() // its columns are not those of a scorer of the same name
		}
		s.local = append(s.local, local)
	}
	s.busy, s.columns = make([]atomic.Bool, len(all)), make([][]int64, len(all))
	s.fallback.init(p)
	return nil
}

// Stragglers returns how many sources are still at work for a decision that did not wait for them. It may be called at any
// time from any goroutine.
func (p *Pipeline) Stragglers() int {
	n := 0
	for i := range p.signals.busy {
		if p.signals.busy[i].Load() {
			n++
		}
	}
	return n
}

// start asks all sources.
func (s *signals) start(p *Pipeline) []*fetch {
	pod := *p.in.Pod
	names := make([]string, len(p.nodes))
	for i, n := range p.nodes {
		names[i] = p.graph.Topology().Name(n)
	}
	fetches := make([]*fetch, len(s.all))
	for i := range s.all {
		f := &fetch{answer: make(chan error, 1)}
		fetches[i] = f
		if d := s.all[i].Deadline; d > 0 {
			f.ctx, f.cancel = context.WithTimeout(p.in.Context(), d)
		} else {
			f.ctx, f.cancel = context.WithCancel(p.in.Context())
		}
		waits := s.all[i].Retry.waits()
		if !s.busy[i].CompareAndSwap(false, true) {
			f.answer <- fmt.Errorf("%w: it is still at an earlier query", ErrLate)
			continue
		}
		f.query = Query{Pod: &pod, Nodes: names, Scores: make([]int64, len(names)), Refused: make([]bool, len(names))}
		go f.run(s.all[i].Source, waits, &s.busy[i])
	}
	return fetches
}

// run asks a source, on a goroutine of its own.
func (f *fetch) run(source Source, waits []time.Duration, busy *atomic.Bool) {
	err := fmt.Errorf("%w: it ended its goroutine", ErrPlugin)
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
		busy.Store(false)
		f.answer <- err
	}()
	answer := attempt(f.ctx, waits, func() error {
		clear(f.query.Scores)
		clear(f.query.Refused)
		return source.Fetch(f.ctx, &f.query)
	})
	if f.ctx.Err() != nil {
		answer = ErrLate
	}
	err = answer
}

// poll looks whether there is an answer.
func (f *fetch) poll() {
	if f.known {
		return
	}
	select {
	case f.err = <-f.answer:
		f.known = true
	default:
	}
}

// wait waits for an answer until the deadline.
func (f *fetch) wait() {
	if f.poll(); f.known {
		return
	}
	select {
	case f.err = <-f.answer:
	case <-f.ctx.Done():
		f.err = ErrLate
		return // known stays false: the source is still at work
	}
	f.known = true
}

// stop tells the sources to stop that are at work, and gives them a moment to do so.
func stop(fetches []*fetch) {
	for _, f := range fetches {
		f.cancel()
	}
	var timer *time.Timer
	for _, f := range fetches {
		if f.known {
			continue
		}
		if timer == nil {
			timer = time.NewTimer(grace)
			defer timer.Stop()
		}
		select {
		case <-f.answer:
		case <-timer.C:
			return
		}
	}
}

// prepare asks the fallbacks of those that have not answered.
func (s *signals) prepare(ctx context.Context, fetches []*fetch) error {
	s.scorers, s.of = s.scorers[:0], s.of[:0]
	for i, f := range fetches {
		f.poll()
		if s.all[i].Fallback == Evaluate && !(f.known && f.err == nil) {
			s.scorers = append(s.scorers, s.local[i])
			s.of = append(s.of, i)
		}
	}
	if len(s.scorers) == 0 {
		return nil
	}
	_, err := s.fallback.score(ctx, s.scorers, false)
	return err
}

// collect waits for the answers, takes the nodes out that they refuse, and returns what became of each signal.
func (s *signals) collect(p *Pipeline, fetches []*fetch) ([]Outcome, error) {
	outcomes := make([]Outcome, len(fetches))
	for i, f := range fetches {
		f.wait()
		name := s.all[i].Source.Name()
		if f.err == nil {
			f.err = inRange(f.query.Scores)
		}
		outcomes[i] = Outcome{Signal: name, Err: f.err}
		if err := p.in.Context().Err(); err != nil {
			return nil, interrupted(err)
		}
		if f.err != nil && s.all[i].Fallback == Refuse {
			return nil, &pluginError{name, f.err}
		}
	}
	for i, f := range fetches {
		s.columns[i] = sized(s.columns[i], p.graph.Topology().Cap())
		refused := 0
		for k, n := range p.nodes {
			switch {
			case f.err != nil:
				s.columns[i][n] = 0
			case f.query.Refused[k]:
				if p.feasible.Has(n) {
					p.feasible.Remove(n)
					refused++
				}
			default:
				s.columns[i][n] = f.query.Scores[k]
			}
		}
		if refused > 0 {
			p.refused = append(p.refused, FilterCount{s.all[i].Source.Name(), refused})
		}
	}
	p.nodes = p.feasible.AppendTo(p.nodes[:0])
	return outcomes, s.fallBack(p, fetches)
}

func inRange(scores []int64) error {
	for i, v := range scores {
		if v < -MaxScore || v > MaxScore {
			return fmt.Errorf("%w: Scores[%d] is %d", ErrPlugin, i, v)
		}
	}
	return nil
}

// fallBack puts the columns of the fallbacks in the place of those that are missing.
func (s *signals) fallBack(p *Pipeline, fetches []*fetch) error {
	if len(p.nodes) == 0 || len(s.scorers) == 0 {
		return nil
	}
	if err := s.fallback.normalise(); err != nil {
		return err
	}
	for k, i := range s.of {
		if fetches[i].err != nil {
			for _, n := range p.nodes {
				s.columns[i][n] = s.fallback.columns[k][n]
			}
		}
	}
	return nil
}

// add adds the columns times their weights to a part of total.
func (s *signals) add(total []int64, chunk []topology.NodeID) {
	for i := range s.all {
		c, weight := s.columns[i], s.all[i].Weight
		for _, n := range chunk {
			total[n] += weight * c[n]
		}
	}
}
