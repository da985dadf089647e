package explain

import (
	"cmp"
	"slices"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Candidate is a feasible node and its score.
type Candidate struct {
	// Rank is the node's place, from 1.
	Rank int    `json:"rank"`
	Node string `json:"node"`
	// Total is the sum of the points of Terms.
	Total int64  `json:"total"`
	Terms []Term `json:"terms"`
}

// Term is what one plugin gives a node: Points = Score * Weight. Plugins of weight 0 are left out.
type Term struct {
	Plugin string `json:"plugin"`
	// Own is true for a scorer or signal of the pipeline's own.
	Own bool `json:"own,omitempty"`
	// Late is true for a signal without answer, whose score is that of its fallback.
	Late bool `json:"late,omitempty"`
	// Score is normalised, if the plugin does that, and before its weight.
	Score  int64 `json:"score"`
	Weight int64 `json:"weight"`
	Points int64 `json:"points"`
}

// Comparison is what tips the balance between two nodes.
type Comparison struct {
	Winner string `json:"winner"`
	Loser  string `json:"loser"`
	// Margin is how many points the winner has more: the sum of the points of Differences. With 0 the graph's order of
	// names decides.
	Margin int64 `json:"margin"`
	// Differences are the plugins that give the two nodes different points, those that speak most for the winner first,
	// those against it last.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is by how much one plugin prefers one node to another: Points = (Winner - Loser) * Weight.
type Difference struct {
	Plugin string `json:"plugin"`
	Own    bool   `json:"own,omitempty"`
	Winner int64  `json:"winner"`
	Loser  int64  `json:"loser"`
	Weight int64  `json:"weight"`
	Points int64  `json:"points"`
}

func (ev *evaluation) candidate(rank int, n topology.NodeID) Candidate {
	return Candidate{Rank: rank + 1, Node: ev.name(n), Total: ev.Total[n], Terms: ev.terms(n)}
}

func (ev *evaluation) terms(n topology.NodeID) []Term {
	var terms []Term
	for s, w := range ev.weights {
		if w > 0 {
			v := ev.Builtin.Scores[s][n]
			terms = append(terms, Term{Plugin: affinity.Scorer(s).String(), Score: v, Weight: w, Points: v * w})
		}
	}
	for i := range ev.Columns {
		c := &ev.Columns[i]
		v := c.Scores[n]
		terms = append(terms, Term{Plugin: c.Name, Own: true, Late: c.Late, Score: v, Weight: c.Weight, Points: v * c.Weight})
	}
	return terms
}

func (ev *evaluation) compare(winner, loser topology.NodeID) *Comparison {
	c := &Comparison{Winner: ev.name(winner), Loser: ev.name(loser), Margin: ev.Total[winner] - ev.Total[loser]}
	losers := ev.terms(loser)
	for i, t := range ev.terms(winner) {
		d := Difference{Plugin: t.Plugin, Own: t.Own, Winner: t.Score, Loser: losers[i].Score, Weight: t.Weight}
		if d.Points = t.Points - losers[i].Points; d.Points != 0 {
			c.Differences = append(c.Differences, d)
		}
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return cmp.Compare(b.Points, a.Points) })
	return c
}
