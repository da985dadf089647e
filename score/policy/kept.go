package policy

import "github.com/berth-go/berth/topology"

// keptTerm is a term that depends on nothing but the node. Its set is made once, by postings as far as possible, and
// repaired for the nodes that changed since.
type keptTerm struct {
	made  term
	holds truthOf

	set   topology.NodeSet
	epoch int   // in which set was made
	seen  int64 // position among the changes of the graph
}

func (c *compiler) kept(n *node) term {
	inner := compiler{program: c.program}
	return &keptTerm{made: inner.set(n), holds: inner.truth(n)}
}

func (k *keptTerm) narrow(r *run, s *topology.NodeSet) {
	k.refresh(r)
	s.Intersect(&k.set)
}

func (k *keptTerm) union(r *run, s *topology.NodeSet) {
	k.refresh(r)
	s.Union(&k.set)
}

// refresh brings the set up to date. Where it stands moves on only when all is done, so that a function of the user's that
// panics, or a context that is done, leaves nothing half done.
func (k *keptTerm) refresh(r *run) {
	changed, now, ok := r.graph.Changes(k.seen)
	live := r.index.Live()
	// Making the set costs a node a small part of what repairing it does.
	if k.epoch != r.epoch || !ok || len(changed) > r.index.Len()/8+8 {
		k.set.CopyFrom(live)
		k.made.narrow(r, &k.set)
	} else {
		for _, n := range changed {
			if r.stopped() {
				return
			}
			k.set.Set(n, live.Has(n) && k.holds(r, n))
		}
	}
	if r.err == nil {
		k.epoch, k.seen = r.epoch, now
	}
}
