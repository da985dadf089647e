package cache

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/hashtable"
)

// shard guards the nodes that share a value of the shard key, and the pods on them.
type shard struct {
	lock
	value string // of the first node that it was made for
}

// shardTable finds the shard of a value.
type shardTable struct {
	mu   sync.RWMutex
	max  int
	seed maphash.Seed
	// none is for nodes without the key, and for those of which only pods are known.
	none   *shard
	shards []*shard // none, and those with a value
	values map[string]*shard
}

// of returns the shard of a value, which is made if there is room. Once a value has a shard, it keeps it.
func (t *shardTable) of(value string, has bool) *shard {
	if !has {
		return t.none
	}
	t.mu.RLock()
	s := t.values[value]
	t.mu.RUnlock()
	if s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.values[value]; s != nil {
		return s
	}
	if len(t.shards) <= t.max { // one more than that, for the first
		s = &shard{lock: lock{place: stripes + len(t.shards)}, value: value}
		t.shards = append(t.shards, s)
		t.values[value] = s
		return s
	}
	return t.shards[1+int(maphash.String(t.seed, value)%uint64(t.max))]
}

func (t *shardTable) all() []*shard {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.shards
}

// stripes is the number of parts that the pods' index is divided into by the hash of their keys.
const stripes = 64

// stripe guards the part of the pods' index with the keys of one hash. Who changes a pod or its promise holds the stripe of its key
// and the shards of the nodes that are concerned.
type stripe struct {
	lock
	pods     hashtable.Table[*podEntry]
	promises map[berth.PodKey]*promise
}

// hash is where a pod lies among the stripes and in its stripe.
func (c *Cache) hash(key *berth.PodKey) uint32 {
	return hashtable.Fold(maphash.String(c.seed, key.Name) ^ 0x9e3779b97f4a7c15*maphash.String(c.seed, key.Namespace))
}

func (c *Cache) stripeOf(hash uint32) *stripe { return &c.stripes[hash>>24%stripes] }

// find returns the entry of a placed pod, nil if there is none.
func (s *stripe) find(hash uint32, key *berth.PodKey) *podEntry {
	if i := s.at(hash, key); i >= 0 {
		return s.pods.Entries[i].Item
	}
	return nil
}

func (s *stripe) at(hash uint32, key *berth.PodKey) int {
	if s.pods.Len() == 0 {
		return -1
	}
	for i := s.pods.At(hash); s.pods.Entries[i].Hash != 0; i = s.pods.After(i) {
		if e := &s.pods.Entries[i]; e.Hash == hash && e.Item.key == *key {
			return i
		}
	}
	return -1
}

// nodeEntry is a node, or the memory of one: spec is nil while pods are known for a node that is not.
type nodeEntry struct {
	name string
	// shard guards the rest; it changes only while the old shard and the new one are locked.
	shard atomic.Pointer[shard]
	// dead is true once the entry is out of the directory.
	dead     bool
	spec     *berth.Node
	pods     []*podEntry
	promises []*promise
	account
}

// podEntry is a placed pod; spec.NodeName names its node.
type podEntry struct {
	key     berth.PodKey // never changes; spec does, under the lock of the node's shard alone, when devices are given out
	spec    *berth.Pod   // with its devices, once the node is known
	node    *nodeEntry
	index   int // in the node's pods
	devices uint64
	assumed bool
	timer   *timer
}

func (e *podEntry) deadline() time.Time {
	if e.timer == nil {
		return time.Time{}
	}
	return e.timer.deadline
}

// promise is the room on a node that a pod was promised which is not placed.
type promise struct {
	pod  *berth.Pod
	node *nodeEntry
	// kept is false once the node is gone: the stripe still knows the promise, for it may not be locked then.
	kept bool
	// serial tells which promise was made first.
	serial uint64
}

// fewPods is the number of pods that a node gets room for with the first.
const fewPods = 8

func (n *nodeEntry) attach(e *podEntry) {
	if n.pods == nil {
		n.pods = make([]*podEntry, 0, fewPods)
	}
	e.node, e.index = n, len(n.pods)
	n.pods = append(n.pods, e)
}

func (n *nodeEntry) detach(e *podEntry) {
	last := len(n.pods) - 1
	n.pods[e.index] = n.pods[last]
	n.pods[e.index].index = e.index
	n.pods[last] = nil
	n.pods = n.pods[:last]
}
