package affinity

import "github.com/berth-go/berth/topology"

// counts is a number for each domain of a key. It is a map while few domains have one, so that a counter over a million
// hosts costs what its pods cost, and a slice once that is smaller.
type counts struct {
	sparse map[topology.ValueID]int32
	dense  []int32
	// used is the number of domains with a number other than 0.
	used int
}

// denseFraction: a map entry takes about this many times the memory of a slice element.
const denseFraction = 6

// smallBound is the number of domains up to which counts are always a slice.
const smallBound = 64

func (c *counts) at(v topology.ValueID) int32 {
	if c.dense != nil {
		if int(v) < len(c.dense) {
			return c.dense[v]
		}
		return 0
	}
	return c.sparse[v]
}

func (c *counts) toDense(bound int) {
	c.dense = make([]int32, max(bound, 1))
	for v, k := range c.sparse {
		if int(v) >= len(c.dense) {
			c.dense = append(c.dense, make([]int32, int(v)+1-len(c.dense))...)
		}
		c.dense[v] = k
	}
	c.sparse = nil
}

func (c *counts) toSparse() {
	c.sparse = make(map[topology.ValueID]int32, 2*c.used)
	for v, k := range c.dense {
		if k != 0 {
			c.sparse[topology.ValueID(v)] = k
		}
	}
	c.dense = nil
}

// each calls f for each domain with a number other than 0, in no particular order. f must not change the counts.
func (c *counts) each(f func(topology.ValueID)) {
	for v := range c.sparse {
		f(v)
	}
	for v, k := range c.dense {
		if k != 0 {
			f(topology.ValueID(v))
		}
	}
}
