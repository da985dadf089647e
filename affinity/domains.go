package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// domains are the domains of a key that have an eligible node, with the counters that spread over them.
type domains struct {
	key      topology.KeyID
	eligible *eligibility
	nodes    []int32 // eligible nodes by domain
	n        int     // domains with some
	counters []*counter
}

// domainStats keeps the smallest count of a counter over its domains, by a histogram: a change by one costs O(1)
// amortised.
type domainStats struct {
	*domains
	hist []int32 // domains by count
	min  int32   // if there are domains
}

// acquireDomains returns statistics for a new counter, whose counts are 0 everywhere. O(nodes) for the first counter of
// the key and eligibility, O(1) for others.
func (g *Graph) acquireDomains(c *counter) *domainStats {
	i := slices.IndexFunc(g.domains, func(d *domains) bool { return d.key == c.key && d.eligible == c.eligible })
	if i < 0 {
		d := &domains{key: c.key, eligible: c.eligible}
		for n := range g.x.Live().All() {
			d.enter(g, n)
		}
		i = len(g.domains)
		g.domains = append(g.domains, d)
	}
	d := g.domains[i]
	d.counters = append(d.counters, c)
	return &domainStats{domains: d, hist: []int32{int32(d.n)}}
}

func (g *Graph) releaseDomains(c *counter) {
	d := c.stats.domains
	d.counters = slices.DeleteFunc(d.counters, func(o *counter) bool { return o == c })
	if len(d.counters) == 0 {
		g.domains = slices.DeleteFunc(g.domains, func(o *domains) bool { return o == d })
	}
}

// enter and leave follow eligible nodes as they come and go.
func (d *domains) enter(g *Graph, n topology.NodeID) {
	v, ok := d.of(g, n)
	if !ok {
		return
	}
	if int(v) >= len(d.nodes) {
		d.nodes = append(d.nodes, make([]int32, int(v)+1-len(d.nodes))...)
	}
	if d.nodes[v]++; d.nodes[v] > 1 {
		return
	}
	d.n++
	for _, c := range d.counters {
		c.stats.born(c.counts.at(v))
	}
}

func (d *domains) leave(g *Graph, n topology.NodeID) {
	v, ok := d.of(g, n)
	if !ok {
		return
	}
	if d.nodes[v]--; d.nodes[v] > 0 {
		return
	}
	d.n--
	for _, c := range d.counters {
		c.stats.died(c.counts.at(v))
	}
}

func (d *domains) of(g *Graph, n topology.NodeID) (topology.ValueID, bool) {
	if d.eligible != nil && !d.eligible.set.Has(n) {
		return topology.NoValue, false
	}
	v := g.x.Value(n, d.key)
	return v, v != topology.NoValue
}

func (s *domainStats) born(count int32) {
	s.bump(count, +1)
	if s.n == 1 || count < s.min {
		s.min = count
	}
}

func (s *domainStats) died(count int32) {
	s.bump(count, -1)
	s.raise()
}

// move follows a count from one number to another.
func (s *domainStats) move(v topology.ValueID, from, to int32) {
	if int(v) >= len(s.nodes) || s.nodes[v] == 0 {
		return
	}
	s.bump(from, -1)
	s.bump(to, +1)
	if to < s.min {
		s.min = to
	} else {
		s.raise()
	}
}

func (s *domainStats) bump(count, by int32) {
	if int(count) >= len(s.hist) {
		s.hist = append(s.hist, make([]int32, int(count)+1-len(s.hist))...)
	}
	s.hist[count] += by
}

func (s *domainStats) raise() {
	for s.n > 0 && s.hist[s.min] == 0 {
		s.min++
	}
}

// smallest returns the smallest count, which is 0 with fewer than minDomains domains
// (plugins/podtopologyspread/filtering.go, minMatchNum).
func (s *domainStats) smallest(minDomains int32) int32 {
	if s.n < int(minDomains) {
		return 0
	}
	return s.min
}

// smallestShifted is smallest if count, that of one domain, were more by shift.
func (s *domainStats) smallestShifted(minDomains, count, shift int32) int32 {
	least := s.smallest(minDomains)
	switch {
	case shift == 0, s.n < int(minDomains):
		return least
	case count+shift <= least:
		return count + shift
	case count > least || s.hist[count] > 1:
		return least
	}
	for next := int(count) + 1; next < len(s.hist) && next < int(count+shift); next++ {
		if s.hist[next] > 0 {
			return int32(next)
		}
	}
	return count + shift
}
