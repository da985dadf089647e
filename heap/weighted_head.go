package heap

import "time"

// scale turns what the trees are ordered by into priorities at one moment. It never decreases, rounding included, so items of
// equal priority stand side by side in their tree.
type scale struct {
	growth, factor float64
	limits         Limits
}

func (s scale) of(aged float64) float64 {
	return min(s.limits.Cap, max(s.limits.Floor, (aged+s.growth)*s.factor))
}

func (w *Weighted[K, G, V]) scale(g *group[G], now time.Time) scale {
	return scale{growth: w.config.Ageing * w.seconds(now), factor: g.factor, limits: w.limits}
}

// head finds the first item of a group that is not empty. The top of the tree has the highest priority; whatever shares that
// priority, at a limit or by rounding, is told apart by arrival.
func (w *Weighted[K, G, V]) head(g *group[G], now time.Time) head {
	s := w.scale(g, now)
	priority := s.of(w.forest.nodes[w.forest.top(g.root)].aged)
	n := w.forest.earliest(g.root, func(aged float64) bool { return s.of(aged) >= priority })
	return head{priority: priority, arrival: w.forest.nodes[n].arrival, node: n}
}

// first finds the item to leave first.
func (w *Weighted[K, G, V]) first(now time.Time) (best head, ok bool) {
	w.refresh(now)
	if w.config.Ageing == 0 {
		_, best, ok = w.heads.Peek()
		return best, ok
	}
	// The heads are lines over time whose slopes differ, so their order does not keep: look at each. No two heads are equal,
	// so it does not matter in which order.
	for _, g := range w.groups {
		if g.root == 0 {
			continue
		}
		if h := w.head(g, now); !ok || h.before(best) {
			best, ok = h, true
		}
	}
	return best, ok
}

// refresh does what is due for the groups that were touched.
func (w *Weighted[K, G, V]) refresh(now time.Time) {
	for i, g := range w.stale {
		w.stale[i], g.stale = nil, false
		switch {
		case g.root == 0:
			w.heads.Remove(g.name)
			if g.factor == 1 { // of an empty group only a factor is worth remembering
				delete(w.groups, g.name)
				w.spare = append(w.spare, g)
			}
		case w.config.Ageing == 0:
			if h := w.head(g, now); !w.heads.Update(g.name, h) {
				_ = w.heads.Push(g.name, h) // it does not exist, as Update just said
			}
		}
	}
	w.stale = w.stale[:0]
}
