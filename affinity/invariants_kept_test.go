package affinity

import (
	"fmt"

	"github.com/berth-go/berth/topology"
)

// CheckNothingKept drops all plans, columns and idle classes of a graph without nodes, and reports what is still held.
func (g *Graph) CheckNothingKept() error {
	for g.plansLRU.next != &g.plansLRU {
		g.plansLRU.next.drop()
	}
	for g.columnsLRU.next != &g.columnsLRU {
		g.columnsLRU.next.drop()
	}
	for g.idle.idleNext != &g.idle {
		c := g.idle.idleNext
		g.revive(c)
		g.drop(c)
	}
	w := &walker{g: g}
	for what, n := range map[string]int{
		"classes": g.classByKey.Len(), "classes by label": len(g.classesByLabel), "matchers": len(g.matchers),
		"matchers by label": len(g.matchersByLabel), "matchers of all": len(g.matchersOfAll), "node matchers": len(g.nodeMatchers),
		"tolerators": len(g.tolerators), "eligibilities": len(g.eligibilities), "spread domains": len(g.domains),
		"taint sets": len(g.taintByKey), "nominations": len(g.nominations), "bytes of columns": g.columnBytes,
		"GPUs": len(g.gpuHeld),
	} {
		w.equal(what+" left over", n, 0)
	}
	end := g.x.Key("a key that nobody used")
	for k := range end {
		if g.x.Column(k) != nil {
			w.fault("the column of %q is kept", g.x.KeyName(k))
		}
		w.values(k)
	}
	if len(w.faults) > 0 {
		return fmt.Errorf("%d faults, the first: %w", len(w.faults), w.faults[0])
	}
	return nil
}

// values checks that all values of a key are free but the one that is held for good: as many new ones get the ids.
func (w *walker) values(k topology.KeyID) {
	x := &w.g.x
	before := x.ValueCap(k)
	free := before
	if _, ok := w.g.empty[k]; ok {
		free--
	}
	for i := range free {
		x.Acquire(k, fmt.Sprint("value ", i))
	}
	if after := x.ValueCap(k); after != before {
		w.fault("%d of %d values of %q are kept", after-before, before, x.KeyName(k))
	}
}
