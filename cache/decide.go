package cache

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Decide decides on one pod and commits the decision as an assumed pod, on the latest state. As long as the node that decide returns
// turns out to conflict with what others did meanwhile, decide is called again; after some times, with the commits of other replicas stopped, so
// that it must not commit to the same cache through another. Its error is returned as it is, and those of
// Begin and Commit may come. O(1) besides decide and affinity.Graph.Bind, if nobody else is at work.
func (r *Replica) Decide(pod *berth.Pod, decide func(*berth.Pod) (node string, err error)) (node string, err error) {
	if err := r.Sync(); err != nil {
		return "", err
	}
	if r.plain() {
		node, err := decide(pod)
		if err != nil {
			return "", err
		}
		w, err := r.prepare(pod)
		if err != nil {
			return "", err
		}
		if done, err := r.placeAlone(&w, node); err != nil {
			return "", err
		} else if done {
			return node, nil
		}
	}
	return r.decideAmongOthers(pod, decide)
}

// DecidePrepared is Decide for a prepared pod.
func (r *Replica) DecidePrepared(w *Prepared, decide func(*affinity.Prepared) (node string, err error)) (node string, err error) {
	if err := r.Sync(); err != nil {
		return "", err
	}
	if r.plain() {
		node, err := decide(&w.Prepared)
		if err != nil {
			return "", err
		}
		if w.replica != r || w.placement == nil {
			if err := r.take(w); err != nil {
				return "", err
			}
		}
		if done, err := r.placeAlone(w, node); err != nil {
			return "", err
		} else if done {
			return node, nil
		}
	}
	return r.decideAmongOthers(w.Pod(), func(*berth.Pod) (string, error) { return decide(&w.Prepared) })
}

// plain reports whether a placement is all that a commit has to see to.
func (r *Replica) plain() bool {
	return len(r.promises) == 0 && len(r.hidden) == 0 && !r.cache.cfg.ProfilerLabels
}

// decideAmongOthers decides in a transaction, again and again as long as others change the cache meanwhile so that it can't be committed.
func (r *Replica) decideAmongOthers(pod *berth.Pod, decide func(*berth.Pod) (node string, err error)) (node string, err error) {
	t, err := r.Begin()
	if err != nil {
		return "", err
	}
	for conflicts := 0; ; conflicts++ {
		if conflicts == patience { // the others wait until this is done
			r.cache.turn.Lock()
			r.turn = true
			defer func() { r.turn = false; r.cache.turn.Unlock() }()
		}
		if err = t.Decide(pod, decide); err != nil {
			break
		}
		node = t.ops[0].Pod.NodeName
		if err = t.Commit(); err == nil {
			return node, nil
		}
		if _, ok := err.(*ConflictError); !ok {
			break
		}
	}
	if undo := t.Rollback(); undo != nil {
		return "", fmt.Errorf("%w (and it stays: %w)", err, undo)
	}
	return "", err
}

// placeAlone binds and commits if nobody has changed the cache meanwhile; otherwise it reports false, and nothing is changed. It is the
// same as the general way, without what a transaction needs to be undone and to be made again: a scheduler that decides now and then
// finds none of the code in the CPU's caches, so that every line that it does not run is time saved.
func (r *Replica) placeAlone(w *Prepared, node string) (done bool, err error) {
	if err := r.graph.BindPrepared(&w.Prepared, node); err != nil {
		return false, fromGraph(err)
	}
	p := w.placement
	p.pod.NodeName = node
	if p.pod.GPU.Count > 0 {
		p.pod.GPU.Devices = r.graph.Devices(p.entry.key)
	}
	if done, err = r.enter(w); done {
		return true, nil
	}
	if undo := r.graph.Release(p.entry.key); undo != nil { // it was bound just now
		r.broken = true
		return false, undo
	}
	return false, err
}

// enter makes a placement in the cache that the graph has made, unless the cache has changed; then it reports false. The locks
// are those of any commit, in the same order.
func (r *Replica) enter(w *Prepared) (done bool, err error) {
	c, n := r.cache, r.entry(w.placement.pod.NodeName)
	st := c.stripeOf(w.hash)
	c.turn.RLock()
	st.Lock()
	s := n.shard.Load()
	s.Lock()
	c.journal.mu.Lock()
	switch {
	case n.dead || n.shard.Load() != s: // the node went, or moved
		clear(r.entries)
	case c.Version() == r.version:
		// So the cache knows no such pod and no promise to it, for the replica does not.
		done, err = r.enterLocked(w, st, n)
	}
	c.journal.mu.Unlock()
	s.Unlock()
	st.Unlock()
	c.turn.RUnlock()
	return done, err
}

func (r *Replica) enterLocked(w *Prepared, st *stripe, n *nodeEntry) (bool, error) {
	pod, e := &w.placement.pod, &w.placement.entry
	devices, err := n.admit(pod)
	if err != nil {
		r.broken = true
		return false, disagreement(err)
	}
	if devices != 0 {
		pod = holding(pod, devices)
	}
	n.charge(pod, devices, +1)
	e.spec, e.devices, e.assumed = pod, devices, true
	st.pods.Add(w.hash, e)
	n.attach(e)
	event := r.cache.journal.next()
	event.Kind, event.Pod = PodAssumed, pod
	r.cache.journal.publish(event)
	w.placement = nil // it is the cache's now
	r.version++
	return true, nil
}

// take makes w ready for r, if it was prepared by another replica or was placed before.
func (r *Replica) take(w *Prepared) (err error) {
	if w.replica != r {
		*w, err = r.prepare(w.Pod())
	} else if w.placement == nil {
		w.placement = newPlacement(w.Pod())
	}
	return err
}

// entry returns the cache's entry of a node. The entries of nodes that the graph has are at hand by their ids: a map of names is a
// dozen cache lines away.
func (r *Replica) entry(name string) *nodeEntry {
	id, ok := r.graph.Lookup(name)
	if !ok {
		return r.cache.findOrMake(name)
	}
	if r.entries[id] == nil { // a node that a transaction has added, or that was changed meanwhile
		r.entries[id] = r.cache.findOrMake(name)
	}
	return r.entries[id]
}

// Sync brings the replica up to date. The error is ErrOpen while a transaction is open. O(changes), or O(nodes + pods) if
// more have been made than the history keeps.
func (r *Replica) Sync() error {
	if !r.txn.over {
		return ErrOpen
	}
	if r.version == r.cache.Version() && !r.broken {
		return nil
	}
	return r.follow()
}
