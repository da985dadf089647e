package score

import "fmt"

// filter asks the filters in turn, until they leave no node, and counts what each refuses.
func (p *Pipeline) filter() error {
	p.refused = p.refused[:0]
	left := p.feasible.Len()
	for _, f := range p.with.filters {
		if left == 0 {
			return nil
		}
		if err := p.in.Context().Err(); err != nil {
			return interrupted(err)
		}
		p.before.CopyFrom(&p.feasible)
		if err := p.ask(f); err != nil {
			return fmt.Errorf("score: %s: %w", f.Name(), err)
		}
		had := left
		left = p.feasible.Len()
		if left < had {
			p.refused = append(p.refused, FilterCount{f.Name(), had - left})
		}
		p.feasible.Intersect(&p.before)
		if added := left - p.feasible.Len(); added > 0 {
			return fmt.Errorf("score: %s: %w: the filter added %d nodes", f.Name(), ErrPlugin, added)
		}
	}
	return nil
}

func (p *Pipeline) ask(f Filter) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	return f.Filter(&p.in, &p.feasible)
}
