package affinity

import "github.com/berth-go/berth/topology"

// occupy adds the pods of class c, d of them, to what is used on node n and to the counters. It is all that a rule sees
// of a placed pod but for its identity and its GPUs.
func (g *Graph) occupy(c *class, n topology.NodeID, d int64) {
	s, need := &g.nodes[n], &c.need
	s.podCount += d
	s.used.cpu += d * need.request.cpu
	s.used.memory += d * need.request.memory
	s.used.ephemeral += d * need.request.ephemeral
	s.scored.MilliCPU += d * need.scored.MilliCPU
	s.scored.Memory += d * need.scored.Memory
	for _, r := range need.scalars {
		s.addScalar(r.id).used += d * r.amount
	}
	for _, port := range need.ports {
		s.usePort(port, int32(d))
	}
	g.contribute(c, n, int32(d))
}

// contribute counts d pods of c on node n: the counters of the terms that match them, and their own terms. Its cost does
// not depend on the number of nodes or pods.
func (g *Graph) contribute(c *class, n topology.NodeID, d int32) {
	for _, l := range c.matchers {
		for _, ctr := range l.matcher.counters {
			ctr.add(g, n, d)
		}
	}
	for i := range c.owned {
		t := &c.owned[i]
		o := t.owners
		v := g.x.Value(n, o.key)
		if v == topology.NoValue {
			continue
		}
		bound := g.x.ValueCap(o.key)
		switch t.kind {
		case antiTerm:
			o.anti.add(v, d, bound)
			o.antiPods += int(d)
		case hardTerm:
			o.hard.add(v, d, bound)
		case softTerm:
			o.soft.add(v, d*t.weight, bound)
		}
		g.touchDomain(topology.Domain{Key: o.key, Value: v})
	}
}

// add counts d more pods on node n.
func (c *counter) add(g *Graph, n topology.NodeID, d int32) {
	if c.eligible != nil && !c.eligible.set.Has(n) {
		return
	}
	v := c.domain(g, n)
	if v == topology.NoValue {
		return
	}
	now := c.counts.add(v, d, c.bound(g))
	c.total += int(d)
	if c.stats != nil {
		c.stats.move(v, now-d, now)
	}
	if c.key == perNode {
		g.touch(n)
	} else {
		g.touchDomain(topology.Domain{Key: c.key, Value: v})
	}
}

// domain returns the domain in which pods on node n count, NoValue if in none.
func (c *counter) domain(g *Graph, n topology.NodeID) topology.ValueID {
	if c.key == perNode {
		return topology.ValueID(n)
	}
	v := g.x.Value(n, c.key)
	if v == topology.NoValue {
		return c.missing
	}
	return v
}

func (c *counter) bound(g *Graph) int {
	if c.key == perNode {
		return g.x.Cap()
	}
	return g.x.ValueCap(c.key)
}

// add adds d to the number of v, of a key with the given bound on values, and returns the new number.
func (c *counts) add(v topology.ValueID, d int32, bound int) int32 {
	if c.dense == nil && (c.sparse == nil && bound <= smallBound || len(c.sparse)*denseFraction > bound) {
		c.toDense(bound)
	}
	var was int32
	if c.dense != nil {
		if int(v) >= len(c.dense) {
			c.dense = append(c.dense, make([]int32, max(bound, int(v)+1)-len(c.dense))...)
		}
		was = c.dense[v]
		c.dense[v] = was + d
	} else {
		if c.sparse == nil {
			c.sparse = make(map[topology.ValueID]int32)
		}
		was = c.sparse[v]
		if was+d == 0 {
			delete(c.sparse, v)
		} else {
			c.sparse[v] = was + d
		}
	}
	if was == 0 && d != 0 {
		c.used++
	} else if was != 0 && was+d == 0 {
		c.used--
		if len(c.dense) > smallBound && c.used*denseFraction*4 < len(c.dense) {
			c.toSparse()
		}
	}
	return was + d
}
