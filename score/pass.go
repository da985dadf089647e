package score

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth/topology"
)

// scorer is a Scorer with what it promised.
type scorer struct {
	Scorer
	weight            int64
	column            string // under which its columns are kept
	local, concurrent bool
	preparer          Preparer
	normalizer        Normalizer
}

func newScorer(w Weighted) *scorer {
	s := &scorer{Scorer: w.Scorer, weight: w.Weight, column: w.Scorer.Name()}
	_, s.local = w.Scorer.(Local)
	_, s.concurrent = w.Scorer.(Concurrent)
	s.preparer, _ = w.Scorer.(Preparer)
	s.normalizer, _ = w.Scorer.(Normalizer)
	return s
}

// pass scores the nodes of a decision part by part: all scorers that allow it write a part of their columns, and it is added
// up and its best node found while it is in the cache. What goes on in different parts is independent, so that they can
// be done by several goroutines.
//
// A scorer that is neither Local nor Concurrent has its column before, from one call. Columns that are normalised, and with
// them the sums, have to wait for all parts: then a second round over the parts adds up.
type pass struct {
	pipeline *Pipeline
	ctx      context.Context
	scorers  []*scorer
	// columns, by scorer, are those of this decision, before normalising; fresh and scaled are memory for them.
	columns, fresh, scaled [][]int64
	// stale, by scorer, are the nodes to score in ascending order; for those with a column that is kept, kept says which it is
	// and news is stale as a set.
	stale [][]topology.NodeID
	kept  []*column
	news  []topology.NodeSet
	ask   []bool // by scorer: whether its Score is asked part by part in this round
	sum   bool   // whether this round adds up
	total []int64
	best  []topology.NodeID // by worker

	round func(worker int, chunk []topology.NodeID) error // p.part, bound once: a closure for each decision would be allocated
}

func (p *pass) init(pipeline *Pipeline) { p.pipeline, p.round = pipeline, p.part }

// score has the scorers write their columns for the pipeline's nodes. If it may choose at once, and no column is to be
// normalised, it adds up too, and returns true: then winner is known.
func (p *pass) score(ctx context.Context, scorers []*scorer, choose bool) (chosen bool, err error) {
	p.begin(ctx, scorers)
	in, nodes, workers := &p.pipeline.in, p.pipeline.nodes, max(p.pipeline.workers, 1)
	alone := false
	for i, s := range scorers {
		if s.preparer != nil {
			if err := p.guard(s, func() error { return s.preparer.Prepare(in, nodes) }); err != nil {
				return false, err
			}
		}
		choose = choose && s.normalizer == nil
		switch {
		case s.concurrent || s.local && workers == 1:
			p.ask[i] = true
		case s.local:
			p.ask[i], alone = true, true
		default:
			if err := p.guard(s, func() error { return s.Score(in, nodes, p.columns[i]) }); err != nil {
				return false, err
			}
		}
	}
	if alone {
		if err := p.localAlone(); err != nil {
			return false, err
		}
	}
	if choose {
		p.adding()
	}
	if err := chunks(ctx, p.useful(), nodes, p.round); err != nil {
		return false, named(err)
	}
	p.settle()
	return choose, nil
}

// choose normalises and adds up what score has brought, over the nodes that are left.
func (p *pass) choose() error {
	if err := p.normalise(); err != nil {
		return err
	}
	p.adding()
	if err := chunks(p.ctx, p.useful(), p.pipeline.nodes, p.round); err != nil {
		return named(err)
	}
	return nil
}

// begin sizes the memory and finds out what there is to score.
func (p *pass) begin(ctx context.Context, scorers []*scorer) {
	n, size := len(scorers), p.pipeline.graph.Topology().Cap()
	p.ctx, p.scorers = ctx, scorers // the pipeline takes the context away again
	p.columns, p.fresh, p.scaled = resized(p.columns, n), resized(p.fresh, n), resized(p.scaled, n)
	p.stale, p.kept, p.news, p.ask = resized(p.stale, n), resized(p.kept, n), resized(p.news, n), resized(p.ask, n)
	p.sum = false
	for i, s := range scorers {
		p.ask[i], p.kept[i] = false, nil
		if s.local {
			c := p.pipeline.columns.of(s.column, p.pipeline.in.Class, p.pipeline.graph)
			p.kept[i], p.columns[i] = c, c.scores
			p.news[i].CopyFrom(&p.pipeline.feasible)
			p.news[i].Subtract(&c.valid)
			p.stale[i] = p.news[i].AppendTo(p.stale[i][:0])
		} else {
			p.fresh[i] = sized(p.fresh[i], size)
			p.columns[i] = p.fresh[i]
		}
		if s.normalizer != nil {
			p.scaled[i] = sized(p.scaled[i], size)
		}
	}
}

// useful returns how many workers the round is worth. To add a column up costs about an eighth of what it costs to score it.
func (p *pass) useful() int {
	work := 0
	for i := range p.scorers {
		switch {
		case p.ask[i] && p.kept[i] != nil:
			work += len(p.stale[i])
		case p.ask[i]:
			work += len(p.pipeline.nodes)
		}
		if p.sum {
			work += len(p.pipeline.nodes) / 8
		}
	}
	return worthwhile(p.pipeline.workers, work)
}

// adding lets the next round add up.
func (p *pass) adding() {
	p.sum = true
	p.total = sized(p.total, p.pipeline.graph.Topology().Cap())
	p.best = resized(p.best, max(p.pipeline.workers, 1))
	for w := range p.best {
		p.best[w] = topology.None
	}
}

// localAlone scores for Local scorers that are not Concurrent, on this goroutine.
func (p *pass) localAlone() error {
	concurrent := slices.Clone(p.ask)
	for i, s := range p.scorers {
		p.ask[i] = p.ask[i] && !s.concurrent
		concurrent[i] = concurrent[i] && s.concurrent
	}
	if err := chunks(p.ctx, 1, p.pipeline.nodes, p.round); err != nil {
		return named(err)
	}
	copy(p.ask, concurrent)
	return nil
}

// part is a round's work on a part of the nodes.
func (p *pass) part(worker int, chunk []topology.NodeID) error {
	for i, s := range p.scorers {
		if !p.ask[i] {
			continue
		}
		if err := p.scorePart(i, s, chunk); err != nil {
			return err
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	if p.sum {
		p.add(chunk)
		p.best[worker] = p.pipeline.better(p.total, p.best[worker], chunk)
	}
	return nil
}

func (p *pass) scorePart(i int, s *scorer, chunk []topology.NodeID) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fail(s, panicked(r))
		}
	}()
	nodes := chunk
	if p.kept[i] != nil && len(p.stale[i]) != len(p.pipeline.nodes) {
		if nodes = within(p.stale[i], chunk); len(nodes) == 0 {
			return nil
		}
	}
	if err := s.Score(&p.pipeline.in, nodes, p.columns[i]); err != nil {
		return fail(s, err)
	}
	return nil
}

// within returns the part of nodes that lies between the first and the last of chunk. Both ascend.
func within(nodes, chunk []topology.NodeID) []topology.NodeID {
	if len(nodes) == 0 {
		return nil
	}
	from, _ := slices.BinarySearch(nodes, chunk[0])
	to, found := slices.BinarySearch(nodes, chunk[len(chunk)-1])
	if found {
		to++
	}
	return nodes[from:to]
}

// add makes total the sum of the built-in scores and the columns, times their weights.
func (p *pass) add(chunk []topology.NodeID) {
	total := p.total
	if builtin := p.pipeline.builtin(); builtin != nil {
		for _, n := range chunk {
			total[n] = builtin[n]
		}
	} else {
		for _, n := range chunk {
			total[n] = 0
		}
	}
	for i, s := range p.scorers {
		c, weight := p.columns[i], s.weight
		for _, n := range chunk {
			total[n] += weight * c[n]
		}
	}
	p.pipeline.signals.add(total, chunk)
}

// settle takes what was scored for up to date. Until then nothing of it is: a pass that fails leaves the columns that are
// kept as if it had not been.
func (p *pass) settle() {
	for i := range p.scorers {
		p.ask[i] = false
		if p.kept[i] != nil && len(p.stale[i]) > 0 {
			p.kept[i].valid.Union(&p.news[i])
		}
	}
}

// normalise replaces the columns of Normalizers by rescaled copies.
func (p *pass) normalise() error {
	nodes := p.pipeline.nodes
	for i, s := range p.scorers {
		if s.normalizer == nil {
			continue
		}
		if err := p.ctx.Err(); err != nil {
			return interrupted(err)
		}
		for _, n := range nodes {
			p.scaled[i][n] = p.columns[i][n]
		}
		p.columns[i] = p.scaled[i]
		if err := p.guard(s, func() error { return s.normalizer.Normalize(&p.pipeline.in, nodes, p.scaled[i]) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) winner() topology.NodeID {
	best := topology.None
	for _, n := range p.best {
		if n != topology.None {
			best = p.pipeline.better(p.total, best, []topology.NodeID{n})
		}
	}
	return best
}

// guard calls a plugin on this goroutine and names its error.
func (p *pass) guard(s *scorer, call func() error) (err error) {
	if err := p.ctx.Err(); err != nil {
		return interrupted(err)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fail(s, panicked(r))
		}
	}()
	if err := call(); err != nil {
		return fail(s, err)
	}
	return nil
}

// pluginError is an error with the name of the plugin.
type pluginError struct {
	plugin string
	err    error
}

func (e *pluginError) Error() string { return "score: " + e.plugin + ": " + e.err.Error() }

func (e *pluginError) Unwrap() error  { return e.err }
func fail(s *scorer, err error) error { return &pluginError{s.Name(), err} }

// named returns the error of Chunks with a name: a plugin's, which has one, or the context's.
func named(err error) error {
	if _, ok := err.(*pluginError); ok {
		return err
	}
	if errors.Is(err, ErrPlugin) {
		return fmt.Errorf("score: %w", err)
	}
	return interrupted(err)
}

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

func sized(c []int64, n int) []int64 {
	if cap(c) < n {
		return make([]int64, n, n+n/8)
	}
	return c[:n]
}
