package affinity

import "github.com/berth-go/berth/topology"

// counts is a number for each domain of a key. It is a map while few domains have one, so that a counter over a million
// hosts costs what its pods cost, and a slice once that is smaller.
type counts struct {
	sparse map[topology.ValueID]int32
	dense  []int32
}

// denseFraction: a map entry takes about this many times the memory of a slice element.
const denseFraction = 6

func (c *counts) at(v topology.ValueID) int32 {
	if c.dense != nil {
		if int(v) < len(c.dense) {
			return c.dense[v]
		}
		return 0
	}
	return c.sparse[v]
}

// add adds d to the number of v, of a key with the given bound on values, and returns the new number.
func (c *counts) add(v topology.ValueID, d int32, bound int) int32 {
	if c.dense == nil && (c.sparse == nil && bound <= 64 || len(c.sparse)*denseFraction >= bound) {
		c.toDense(bound)
	}
	if c.dense != nil {
		if int(v) >= len(c.dense) {
			c.dense = append(c.dense, make([]int32, max(bound, int(v)+1)-len(c.dense))...)
		}
		c.dense[v] += d
		return c.dense[v]
	}
	if c.sparse == nil {
		c.sparse = make(map[topology.ValueID]int32)
	}
	k := c.sparse[v] + d
	if k == 0 {
		delete(c.sparse, v)
	} else {
		c.sparse[v] = k
	}
	return k
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
