package cache

import (
	"maps"
	"sync"
	"sync/atomic"
)

// publisher keeps the state that snapshots are taken of. One publishes at a time.
type publisher struct {
	mu    sync.Mutex
	state state
	// digests is set once someone has asked for the digest of a snapshot: from then on the state keeps it.
	digests atomic.Bool
}

// Snapshot returns the snapshot that was published last, the empty state if none was. It takes no lock.
func (c *Cache) Snapshot() *Snapshot { return c.snapshot.Load() }

// Publish brings the snapshot up to date and returns it: it holds every change whose call returned before Publish was called.
// Writers are not held up. O(changes * log pods), however large the state is, unless more changes have been made since the
// last time than the history keeps; then O(nodes + pods).
func (c *Cache) Publish() *Snapshot {
	p := &c.publisher
	p.mu.Lock()
	defer p.mu.Unlock()
	last := c.snapshot.Load()
	events, ok := c.journal.since(p.state.version)
	if ok && len(events) == 0 {
		return last
	}
	defer c.labelled("publish")()
	if ok {
		p.fold(events)
	} else {
		p.state = c.collect()
	}
	s := &Snapshot{cfg: c.cfg.Graph, state: p.state.clone(), asked: &p.digests}
	c.snapshot.Store(s)
	return s
}

func (p *publisher) fold(events []Event) {
	if p.digests.Load() && !p.state.digests {
		p.state.digest, p.state.digests = p.state.sum(), true
	}
	for i := range events {
		p.state.apply(&events[i])
	}
}

// collect builds the state from the entries, all of which are locked meanwhile.
func (c *Cache) collect() state {
	locks := c.lockAll()
	defer locks.unlock()
	c.namespaces.Lock()
	defer c.namespaces.Unlock()
	s := newState()
	c.directory.Range(func(_, v any) bool {
		if n := v.(*nodeEntry); n.spec != nil {
			s.nodes.ReplaceOrInsert(n.spec)
		}
		return true
	})
	for i := range c.stripes {
		for _, place := range c.stripes[i].pods.Entries {
			e := place.Item
			if e == nil {
				continue
			}
			r := &podRecord{PodState{e.spec, e.assumed, e.deadline(), e.node.spec == nil}, e.key}
			s.pods.ReplaceOrInsert(r)
			s.byNode.ReplaceOrInsert(r)
		}
		for _, p := range c.stripes[i].promises {
			if p.kept {
				s.nominations.ReplaceOrInsert(Nomination{Pod: p.pod, Node: p.node.name})
			}
		}
	}
	s.namespaces = maps.Clone(c.namespaces.byName)
	s.version = c.journal.version.Load()
	return s
}

// lockAll locks all that there is. A shard that is made afterwards stays empty until it is unlocked, for a node gets into a
// shard only from another.
func (c *Cache) lockAll() *lockset {
	for {
		var locks lockset
		for i := range c.stripes {
			locks.add(&c.stripes[i].lock)
		}
		shards := c.shards.all()
		for _, s := range shards {
			locks.add(&s.lock)
		}
		locks.lock()
		if len(c.shards.all()) == len(shards) {
			return &locks
		}
		locks.unlock()
	}
}
