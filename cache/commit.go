package cache

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-go/berth"
)

// Commit makes the changes of the transaction in the cache, all or none, and ends the transaction: placements become assumed pods,
// evicted pods are gone. What it takes to carry them out is the caller's business.
//
// If nobody has changed the cache since the replica's version, that is all. Otherwise the replica follows, and the changes are
// checked against the state as it has become: a placement by every rule, an eviction or update by whether the pod is still
// where it was, an update of a node by whether it is still the same. If some can't be made any more, the error is a *ConflictError that lists
// them, nothing is committed, and the transaction stays open without them, on the new state: decide again on what conflicted, and
// commit again. No two commits can take the same room, however many replicas there are.
//
// O(changes), and O(changes of others * what they touch) to follow them.
func (t *Txn) Commit() error { return t.CommitUntil(time.Time{}) }

// CommitUntil is Commit with a deadline for the assumed pods (Cache.AssumeUntil).
func (t *Txn) CommitUntil(deadline time.Time) error {
	if t.over {
		return ErrDone
	}
	c := t.replica.cache
	defer c.labelled("commit")()
	for attempt := 0; ; attempt++ {
		if c.Version() != t.replica.version {
			if err := t.catchUp(); err != nil {
				return err
			}
		}
		enter := t.enter
		if attempt >= patience {
			enter = t.enterAlone
		}
		if done, err := enter(deadline); err != nil || done {
			return err
		}
	}
}

// patience is how often a commit or decision is overtaken by others before it stops them.
const patience = 4

// catchUp rebases and returns the conflicts as an error.
func (t *Txn) catchUp() error {
	conflicts, err := t.rebase()
	if err == nil && len(conflicts) > 0 {
		err = &ConflictError{Version: t.replica.version, Conflicts: conflicts}
	}
	return err
}

// enterAlone keeps everybody from changing the cache while it catches up and makes the changes, so that a slow committer gets
// through. It reports false if the replica is too far behind to catch up from events.
func (t *Txn) enterAlone(deadline time.Time) (bool, error) {
	c := t.replica.cache
	defer t.replica.await()()
	w := commitWork{c: c, locks: c.lockAll(), deadline: deadline}
	defer w.locks.unlock()
	c.namespaces.Lock()
	defer c.namespaces.Unlock()
	if _, ok := c.journal.since(t.replica.version); !ok || t.replica.broken {
		return false, nil
	}
	if err := t.catchUp(); err != nil {
		return false, err
	}
	for i := range t.ops {
		w.entriesOf(&t.ops[i])
	}
	return t.enterLocked(&w)
}

// commitWork is what a commit holds.
type commitWork struct {
	c        *Cache
	locks    *lockset
	nodes    []*nodeEntry
	deadline time.Time
}

// enter locks what the changes concern and makes them, unless the cache has changed; then it reports false.
func (t *Txn) enter(deadline time.Time) (bool, error) {
	c := t.replica.cache
	defer t.replica.await()()
	var stripes, shards lockset
	for i := range t.ops {
		if key, ok := t.ops[i].pod(); ok {
			stripes.add(&c.stripeOf(c.hash(&key)).lock)
		}
	}
	stripes.lock()
	defer stripes.unlock()
	w := commitWork{c: c, locks: &shards, deadline: deadline}
	for i := range t.ops {
		w.entriesOf(&t.ops[i])
	}
	shards.lock()
	defer shards.unlock()
	if !w.stillThere() {
		return false, nil
	}
	return t.enterLocked(&w)
}

// disagreement is the error of a change that the replica made and the cache refuses, on the same state.
func disagreement(err error) error {
	return fmt.Errorf("cache: commit: replica and cache disagree: %w", err)
}

// pod returns the pod that a change concerns, if it is one of a pod.
func (o *op) pod() (berth.PodKey, bool) {
	switch o.Kind {
	case PodAssumed, PodUpdated:
		return o.Pod.Key(), true
	case PodRemoved:
		return o.Key, true
	}
	return berth.PodKey{}, false
}

// entriesOf notes the entries that a change concerns and the locks of their shards. The stripes are locked.
func (w *commitWork) entriesOf(o *op) {
	if key, ok := o.pod(); ok {
		hash := w.c.hash(&key)
		st := w.c.stripeOf(hash)
		if e := st.find(hash, &key); e != nil {
			w.note(e.node)
		}
		if p := st.promises[key]; p != nil {
			w.note(p.node)
		}
	}
	switch o.Kind {
	case PodAssumed, PodUpdated:
		o.entry = w.note(w.c.findOrMake(o.Pod.NodeName))
	case NodeAdded, NodeUpdated:
		o.entry = w.note(w.c.findOrMake(o.Node.Name))
		w.locks.add(&w.c.shardOf(o.Node).lock)
	case NodeRemoved:
		o.entry = w.note(w.c.findOrMake(o.Name))
	}
}

func (w *commitWork) note(n *nodeEntry) *nodeEntry {
	w.nodes = append(w.nodes, n)
	w.locks.add(&n.shard.Load().lock)
	return n
}

// stillThere reports whether what is locked is still where the entries are.
func (w *commitWork) stillThere() bool {
	for _, n := range w.nodes {
		if n.dead || !w.locks.has(&n.shard.Load().lock) {
			return false
		}
	}
	return true
}

// enterLocked makes the changes if the cache is at the replica's version.
func (t *Txn) enterLocked(w *commitWork) (bool, error) {
	r, j := t.replica, &w.c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.version.Load() != r.version {
		return false, nil
	}
	for i := range t.ops {
		e, err := w.make(&t.ops[i])
		if err != nil {
			t.mustUndo(err)
			return false, disagreement(err)
		}
		j.enter(&e)
	}
	for _, n := range w.nodes {
		w.c.drop(n)
	}
	r.version = j.version.Load()
	t.finish()
	return true, nil
}

// make makes one change.
func (w *commitWork) make(o *op) (Event, error) {
	if key, ok := o.pod(); ok {
		hash := w.c.hash(&key)
		st := w.c.stripeOf(hash)
		p := podWork{c: w.c, key: key, hash: hash, stripe: st, old: st.find(hash, &key), promise: st.promises[key]}
		p.node = o.entry
		switch o.Kind {
		case PodAssumed:
			return p.assume(o.Pod, w.deadline)
		case PodUpdated:
			return p.update(o.Pod)
		}
		return p.remove()
	}
	switch o.Kind {
	case NodeAdded:
		return w.c.addNode(o.entry, o.Node)
	case NodeUpdated:
		return w.c.updateNode(o.entry, o.Node)
	}
	return w.c.removeNode(o.entry)
}

// Placement is what became of a pod in Schedule.
type Placement struct {
	Pod *berth.Pod
	// Node is where it was placed; "" if Err says why not.
	Node string
	Err  error
}

// Schedule decides on pods and commits all decisions together, each as an assumed pod. What conflicts with other writers is decided again, and only that, until
// no conflict is left or attempts commits were refused; then the rest is committed, and the Err of the others is a conflict's. decide
// is called with one pod at a time, on the replica's graph with the decisions before it, and returns a node that the rules permit, or an error
// which becomes the pod's. The error of Schedule itself is ErrOpen, or that of a state that can't be followed.
func (r *Replica) Schedule(pods []*berth.Pod, attempts int, decide func(*berth.Pod) (node string, err error)) ([]Placement, error) {
	if err := r.Sync(); err != nil {
		return nil, err
	}
	t, err := r.Begin()
	if err != nil {
		return nil, err
	}
	out := make([]Placement, len(pods))
	index := make(map[berth.PodKey]int, len(pods))
	todo := make([]int, len(pods))
	for i, p := range pods {
		out[i].Pod, todo[i] = p, i
		if _, ok := index[p.Key()]; !ok { // the first is the one that can be placed
			index[p.Key()] = i
		}
	}
	for {
		for _, i := range todo {
			out[i].Node, out[i].Err = t.decideOne(pods[i], decide)
		}
		todo = todo[:0]
		err := t.Commit()
		if err == nil {
			return out, nil
		}
		conflicts, ok := err.(*ConflictError)
		if !ok {
			_ = t.Rollback() // the commit's error says more
			return out, err
		}
		for i := range conflicts.Conflicts {
			c := &conflicts.Conflicts[i]
			p := index[c.Pod.Key()]
			out[p].Node, out[p].Err = "", c.Err
			todo = append(todo, p)
		}
		if attempts--; attempts <= 0 {
			todo = todo[:0]
		}
		slices.Sort(todo)
	}
}

func (t *Txn) decideOne(p *berth.Pod, decide func(*berth.Pod) (string, error)) (string, error) {
	if err := t.Decide(p, decide); err != nil {
		return "", err
	}
	return t.ops[len(t.ops)-1].Pod.NodeName, nil
}
