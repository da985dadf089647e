package affinity

// SetFollow forces how keys are followed: coarse up to so many domains, by exceptions up to so many domains with counts.
func (g *Graph) SetFollow(coarseMax, exceptionsMax int) {
	g.coarseMax, g.exceptionsMax = coarseMax, exceptionsMax
}
