package cache

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth"
)

// Cache is the observed state of a cluster. Make one with New.
type Cache struct {
	cfg    Config
	seed   maphash.Seed // of where things lie, which is never seen outside
	shards shardTable
	// directory finds the nodeEntry of a name. Entries are put in without a lock; they are taken out, and all that is in
	// them is read and written, under the lock of their shard.
	directory sync.Map

	namespaces struct {
		sync.Mutex
		byName map[string]*berth.Namespace
	}
	// turn is held for reading while a commit makes its changes, and for writing by a scheduler that was overtaken too often,
	// while it decides and commits. It is taken before all other locks.
	turn      sync.RWMutex
	journal   journal
	wheel     wheel
	publisher publisher
	snapshot  atomic.Pointer[Snapshot]
	stripes   [stripes]stripe // last, for they are kilobytes
}

// New returns an empty cache. The error wraps ErrConfig or affinity.ErrConfig.
func New(cfg Config) (*Cache, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cache{cfg: cfg, seed: maphash.MakeSeed()}
	for i := range c.stripes {
		c.stripes[i] = stripe{lock: lock{place: i}, promises: make(map[berth.PodKey]*promise)}
	}
	none := &shard{lock: lock{place: stripes}}
	c.shards = shardTable{max: cfg.MaxShards, seed: c.seed, values: make(map[string]*shard), none: none, shards: []*shard{none}}
	c.namespaces.byName = make(map[string]*berth.Namespace)
	c.journal.limit = cfg.History
	c.publisher.state = newState()
	c.snapshot.Store(&Snapshot{cfg: cfg.Graph, state: newState()})
	return c, nil
}

// Version grows by one with every change. It may be read at any time, without a lock.
func (c *Cache) Version() uint64 { return c.journal.version.Load() }

// Metrics returns the sums over the pods of a node, which stay current until the node is removed. O(1).
func (c *Cache) Metrics(node string) (*Metrics, bool) {
	var m *Metrics
	c.read(node, func(n *nodeEntry) { m = &n.Metrics })
	return m, m != nil
}

// Node returns the spec of a node as it is now.
func (c *Cache) Node(name string) (*berth.Node, bool) {
	var spec *berth.Node
	c.read(name, func(n *nodeEntry) { spec = n.spec })
	return spec, spec != nil
}

// Pod returns a placed pod as it is now.
func (c *Cache) Pod(key berth.PodKey) (PodState, bool) {
	hash := c.hash(&key)
	st := c.stripeOf(hash)
	st.RLock()
	defer st.RUnlock()
	e := st.find(hash, &key)
	if e == nil {
		return PodState{}, false
	}
	n := e.node // stays: it changes under the stripe's lock only
	for {
		s := n.shard.Load()
		s.RLock()
		if n.shard.Load() == s {
			p := PodState{Spec: e.spec, Assumed: e.assumed, Deadline: e.deadline(), Hidden: n.spec == nil}
			s.RUnlock()
			return p, true
		}
		s.RUnlock()
	}
}

// read calls f with a known node, whose shard is locked for reading.
func (c *Cache) read(name string, f func(*nodeEntry)) {
	for n := c.find(name); n != nil; n = c.find(name) {
		s := n.shard.Load()
		s.RLock()
		if n.shard.Load() == s && !n.dead {
			if n.spec != nil {
				f(n)
			}
			s.RUnlock()
			return
		}
		s.RUnlock()
	}
}

// find returns the entry of a node, nil if there is none.
func (c *Cache) find(name string) *nodeEntry {
	v, ok := c.directory.Load(name)
	if !ok {
		return nil
	}
	return v.(*nodeEntry)
}

// findOrMake returns the entry of a node, a new one without a spec if there is none.
func (c *Cache) findOrMake(name string) *nodeEntry {
	if n := c.find(name); n != nil {
		return n
	}
	n := &nodeEntry{name: strings.Clone(name)}
	n.shard.Store(c.shards.none)
	v, _ := c.directory.LoadOrStore(n.name, n)
	return v.(*nodeEntry)
}

// drop takes an entry out of the directory that stands for nothing any more. Its shard is locked.
func (c *Cache) drop(n *nodeEntry) {
	if n.spec == nil && len(n.pods) == 0 && !n.dead {
		n.dead = true
		c.directory.CompareAndDelete(n.name, n)
	}
}

// SetNamespace enters a namespace or replaces its labels. The error is a *berth.Fault.
func (c *Cache) SetNamespace(ns *berth.Namespace) error {
	if err := berth.ValidateNamespace(ns).Err(); err != nil {
		return err
	}
	c.namespaces.Lock()
	defer c.namespaces.Unlock()
	c.namespaces.byName[ns.Name] = ns
	c.journal.append(Event{Kind: NamespaceSet, Namespace: ns})
	return nil
}

// RemoveNamespace forgets a namespace, if it is known; its pods stay.
func (c *Cache) RemoveNamespace(name string) {
	c.namespaces.Lock()
	defer c.namespaces.Unlock()
	if c.namespaces.byName[name] != nil {
		delete(c.namespaces.byName, name)
		c.journal.append(Event{Kind: NamespaceRemoved, Name: name})
	}
}

// sortedNames returns the keys of a map in order.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
