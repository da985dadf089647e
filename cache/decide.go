package cache

import (
	"fmt"
	"time"

	"github.com/berth-go/berth"
)

// Decide decides on one pod and commits the decision as an assumed pod, on the latest state. As long as the node that decide returns
// turns out to conflict with what others did meanwhile, decide is called again; after some times, with the commits of other replicas stopped, so
// that it must not commit to the same cache through another. Its error is returned as it is, and those of
// Begin and Commit may come. O(1) besides decide and affinity.Graph.Bind, if nobody else is at work.
func (r *Replica) Decide(pod *berth.Pod, decide func(*berth.Pod) (node string, err error)) (node string, err error) {
	if err := r.Sync(); err != nil {
		return "", err
	}
	if len(r.promises) == 0 && len(r.hidden) == 0 && !r.cache.cfg.ProfilerLabels {
		if node, done, err := r.decideAlone(pod, decide); done {
			return node, err
		}
	}
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

// decideAlone decides and commits if nobody changes the cache meanwhile; otherwise it reports false, and nothing is changed. It is the
// same as the general way, without what a transaction needs to be undone and to be made again: a scheduler that decides now and then
// finds none of the code in the CPU's caches, so that every line that it does not run is time saved.
func (r *Replica) decideAlone(pod *berth.Pod, decide func(*berth.Pod) (node string, err error)) (node string, done bool, err error) {
	if node, err = decide(pod); err != nil {
		return "", true, err
	}
	if err := r.graph.Bind(pod, node); err != nil {
		return "", true, fromGraph(err)
	}
	p := &placement{pod: *pod}
	p.pod.NodeName = node
	if pod.GPU.Count > 0 {
		p.pod.GPU.Devices = r.graph.Devices(pod.Key())
	}
	if done, err = r.enter(p); done {
		return node, true, nil
	}
	if undo := r.graph.Release(pod.Key()); undo != nil { // it was bound just now
		r.broken = true
		return "", true, undo
	}
	return "", err != nil, err
}

// placement is a pod that was placed by a decision and its entry, in one piece of memory.
type placement struct {
	pod   berth.Pod
	entry podEntry
}

// enter makes a placement in the cache that the graph has made, unless the cache has changed; then it reports false. The locks
// are those of any commit, in the same order.
func (r *Replica) enter(p *placement) (bool, error) {
	c, n := r.cache, r.entry(p.pod.NodeName)
	w := podWork{c: c, key: p.pod.Key(), node: n, fresh: &p.entry}
	w.hash = c.hash(&w.key)
	w.stripe = c.stripeOf(w.hash)
	c.turn.RLock()
	defer c.turn.RUnlock()
	w.stripe.Lock()
	defer w.stripe.Unlock()
	s := n.shard.Load()
	s.Lock()
	defer s.Unlock()
	if n.dead || n.shard.Load() != s {
		clear(r.entries) // the node went, or moved
		return false, nil
	}
	j := &c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.version.Load() != r.version {
		return false, nil
	}
	// As the versions are the same, the cache knows no such pod and no promise to it, for the replica does not.
	e, err := w.assume(&p.pod, time.Time{})
	if err != nil {
		r.broken = true
		return false, disagreement(err)
	}
	j.enter(e)
	r.version++
	return true, nil
}
