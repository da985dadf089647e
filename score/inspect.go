package score

import "slices"

// Filters returns the filters of the pipeline's own, in the order in which they are asked.
func (p *Pipeline) Filters() []Filter { return slices.Clone(p.filters) }

// Scorers returns the scorers of the pipeline's own and their weights, in their order.
func (p *Pipeline) Scorers() []Weighted {
	var ws []Weighted
	for _, s := range p.scorers {
		ws = append(ws, Weighted{Scorer: s.Scorer, Weight: s.weight})
	}
	return ws
}
