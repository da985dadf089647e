package policy

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// column is a number that depends on nothing but the node, by NodeID. It is made once and repaired for the nodes that
// changed since. All parts of an expression that are the same number share it.
type column struct {
	of numberOf

	values  []Number // of whole words of nodes
	missing []uint64 // a bit for each node
	epoch   int
	seen    int64 // position among the changes of the graph
}

// column returns the column of n for a family.
func (c *compiler) column(n *node) *column {
	source := (&Expr{root: n}).String()
	of := c.columns[source]
	if of == nil {
		inner := compiler{program: c.program}
		of = &column{of: inner.number(n)}
		c.columns[source] = of
	}
	if f := c.within; !slices.Contains(f.columns, of) {
		f.columns = append(f.columns, of)
	}
	return of
}

func (c *column) at(n topology.NodeID) (Number, bool) {
	return c.values[n], c.missing[n/wordBits]&(1<<(n%wordBits)) == 0
}

// refresh brings the column up to date.
func (c *column) refresh(r *run) {
	changed, now, ok := r.graph.Changes(c.seen)
	live := r.index.Live()
	if more := (r.index.Cap()+wordBits-1)/wordBits - len(c.missing); more > 0 {
		c.values = append(c.values, make([]Number, more*wordBits)...)
		c.missing = append(c.missing, make([]uint64, more)...)
	}
	if c.epoch != r.epoch || !ok || len(changed) > r.index.Len() {
		for n := range live.All() {
			if r.stopped() {
				return
			}
			c.set(r, n)
		}
	} else {
		for _, n := range changed {
			if r.stopped() {
				return
			}
			if live.Has(n) {
				c.set(r, n)
			}
		}
	}
	c.epoch, c.seen = r.epoch, now
}

func (c *column) set(r *run, n topology.NodeID) {
	x, ok := c.of(r, n)
	c.values[n] = x
	c.missing[n/wordBits] &^= 1 << (n % wordBits)
	if !ok {
		c.missing[n/wordBits] |= 1 << (n % wordBits)
	}
}
