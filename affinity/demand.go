package affinity

import (
	"slices"

	"github.com/berth-go/berth/topology"
)

// demand is what the plans have in common that ask the same of a node by itself (static). They share columns, whose groups tell the
// nodes apart by the keys of all of them, as long as that makes few groups: a node that changed is then looked at once, not once for each
// combination of keys.
type demand struct {
	key  string
	refs int
	// The keys of all plans; they only become more.
	coarse  []topology.KeyID
	fine    []topology.KeyID
	columns *columns // dropped, or nil, if there are none
}

const (
	// A key of more domains is shared only with plans that follow it too.
	fewDomains = 4
	// fewGroups is how many groups the shared keys may make.
	fewGroups = 16
)

// demandOf returns the demand of a plan whose layout has the keys that it needs, with a reference for the caller.
func (p *Profile) demandOf(pl *plan) *demand {
	g, l := p.g, &pl.layout
	e := &g.enc
	e.reset()
	e.static(&pl.r.static)
	for _, k := range l.coarse {
		if g.x.Domains(k) > fewDomains {
			e.int(int64(k))
		}
	}
	d := p.demands[string(e.buf)]
	if d != nil && !d.admits(g, l) {
		for _, keys := range [][]topology.KeyID{l.coarse, l.fine} { // a demand for these keys alone
			e.int(-1 - int64(len(keys)))
			for _, k := range keys {
				e.int(int64(k))
			}
		}
		d = p.demands[string(e.buf)]
	}
	if d == nil {
		d = &demand{key: string(e.buf)}
		p.demands[d.key] = d
	}
	d.refs++
	d.add(l)
	return d
}

// admits reports whether the keys of a layout, together with those that are there, make few groups, not counting those by keys that all
// the plans follow because they have many domains.
func (d *demand) admits(g *Graph, l *layout) bool {
	groups := 1
	for _, k := range union(d.coarse, l.coarse) {
		if n := g.x.Domains(k); n <= fewDomains || !slices.Contains(l.coarse, k) {
			if groups *= max(n, 1); groups > fewGroups {
				return false
			}
		}
	}
	return len(union(d.fine, l.fine)) <= fineMax
}

// union returns the keys of a, and then those that only b has.
func union(a, b []topology.KeyID) []topology.KeyID {
	keys := slices.Clone(a)
	for _, k := range b {
		if !slices.Contains(a, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// add adds the keys of a layout. If there are new ones, the columns are dropped.
func (d *demand) add(l *layout) {
	before := len(d.coarse) + len(d.fine)
	d.coarse, d.fine = union(d.coarse, l.coarse), union(d.fine, l.fine)
	if len(d.coarse)+len(d.fine) > before {
		d.dropColumns()
	}
}

func (d *demand) dropColumns() {
	if d.columns != nil && !d.columns.dropped {
		d.columns.drop()
	}
	d.columns = nil
}

func (p *Profile) releaseDemand(d *demand) {
	if d == nil {
		return
	}
	if d.refs--; d.refs == 0 {
		d.dropColumns()
		delete(p.demands, d.key)
	}
}
