package affinity

// planOf returns the plan of a class, with its layout up to date. O(1) if it is known and unchanged.
func (p *Profile) planOf(cl *class) *plan {
	if pl := cl.plan; pl != nil && pl.p == p && pl.version == cl.version && pl.labelled == p.g.labelled {
		pl.used = true
		return pl
	}
	return p.makePlan(cl)
}

// makePlan is planOf for a class without a plan, or with one that another profile made or that may be outdated.
func (p *Profile) makePlan(cl *class) *plan {
	g := p.g
	pl := cl.plan
	if pl == nil || pl.p != p {
		for int(cl.id) >= len(p.plans) {
			p.plans = append(p.plans, nil)
		}
		pl = p.plans[cl.id]
	}
	if pl != nil {
		if pl.used, cl.plan = true, pl; pl.outdated() {
			pl.dropOwn()
			pl.newLayout()
		}
		return pl
	}
	pl = &plan{p: p}
	pl.r = &pl.rules
	p.compileInto(pl.r, cl)
	p.plans[cl.id], cl.plan = pl, pl
	g.use(cl)
	g.dropPlans()
	g.planCount++
	pl.enlist()
	pl.newLayout()
	return pl
}

// outdated reports whether the layout must be made anew: for other owners, or because the keys have far more or far fewer
// domains than when it was made.
func (pl *plan) outdated() bool {
	if pl.version != pl.r.class.version {
		return true
	}
	if pl.labelled == pl.p.g.labelled {
		return false
	}
	pl.labelled = pl.p.g.labelled
	d := pl.countDomains()
	return d > 2*pl.domains+coarseMax || 2*d+coarseMax < pl.domains
}

// columns returns the columns to decide by, up to date.
func (pl *plan) columns() *columns {
	used := 0
	for i := range pl.fineRules {
		used += pl.fineRules[i].counts.used
	}
	g := pl.p.g
	changed := int(min(g.log.end()-pl.seen, int64(g.x.Len())))
	pl.seen = g.log.end()
	if pl.own != nil && pl.own.dropped {
		pl.own, pl.rent = nil, 0
	}
	if pl.own != nil {
		if pl.rent = max(0, pl.rent+changeCost*changed-exceptionCost*used); pl.rent <= g.x.Len() && used > g.exceptionsMax/2 {
			pl.own.refresh()
			return pl.own
		}
		pl.dropOwn()
		pl.rent = 0
	} else if used > g.exceptionsMax {
		if pl.rent = max(0, pl.rent+exceptionCost*used-changeCost*changed); pl.rent > g.x.Len() {
			pl.own, pl.rent = pl.p.newColumns(pl, true), 0
			pl.own.refresh()
			return pl.own
		}
	}
	if pl.shared == nil || pl.shared.dropped {
		pl.shared = pl.share()
	}
	pl.shared.refresh()
	return pl.shared
}
