package benchmarks_test

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
)

// store is what a control plane asks of its state.
type store interface {
	change(podChange, *berth.Pod) error
	pod(berth.PodKey) bool
	milliCPU(node string) int64
	// snapshotPod looks a pod up in a snapshot, where there is such a thing; it may be older then.
	snapshotPod(berth.PodKey) bool
	// list returns what all pods request, at one moment and now.
	list() int64
}

// podChange is a kind of event of a pod, which names its node.
type podChange uint8

const (
	added podChange = iota // observed, or confirmed if it was assumed
	assumed
	updated
	removed
)

const rackKey = "example.com/rack"

// stores are package cache, by racks and by its default key, of which there are three values, and what one would write without it. Those check
// specs as the cache does, and whether events contradict the state; they keep no events or versions, and know neither
// GPUs, ports, promises nor nodes that come later.
var stores = []struct {
	name string
	make func([]*berth.Node) (store, error)
}{
	{"shards", newSharded(rackKey)},
	{"shards-by-zone", newSharded(berth.LabelZone)},
	{"mutex", newGlobalMutex},
	{"syncmap", newSyncMaps},
	{"cow", newCopyOnWrite},
}

// sharded is package cache.
type sharded struct{ cache *cache.Cache }

func newSharded(key string) func([]*berth.Node) (store, error) {
	return func(nodes []*berth.Node) (store, error) {
		c, err := cache.New(cache.Config{ShardKey: key})
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if err := c.AddNode(n); err != nil {
				return nil, err
			}
		}
		return sharded{c}, nil
	}
}

func (s sharded) change(what podChange, p *berth.Pod) error {
	switch what {
	case added:
		return s.cache.AddPod(p)
	case assumed:
		return s.cache.Assume(p, p.NodeName)
	case updated:
		return s.cache.UpdatePod(p)
	}
	return s.cache.RemovePod(p.Key())
}

func (s sharded) pod(key berth.PodKey) bool {
	_, ok := s.cache.Pod(key)
	return ok
}

func (s sharded) milliCPU(node string) int64 {
	m, ok := s.cache.Metrics(node)
	if !ok {
		return 0
	}
	return m.MilliCPU()
}

func (s sharded) snapshotPod(key berth.PodKey) bool {
	_, ok := s.cache.Snapshot().Pod(key)
	return ok
}

func (s sharded) list() (milliCPU int64) {
	for p := range s.cache.Publish().AllPods() {
		milliCPU += p.Spec.Requests.MilliCPU
	}
	return milliCPU
}

// plainPod and plainNode are what the other stores keep.
type plainPod struct {
	spec    *berth.Pod
	assumed bool
}

type plainNode struct{ milliCPU, memory, pods int64 }

func (n plainNode) with(p *berth.Pod, sign int64) plainNode {
	return plainNode{n.milliCPU + sign*p.Requests.MilliCPU, n.memory + sign*p.Requests.Memory, n.pods + sign}
}

// permit returns an error for an event that contradicts what is known of its pod.
func permit(what podChange, p *berth.Pod, old plainPod) error {
	ok := old.spec != nil
	switch what {
	case added:
		ok = !ok || old.assumed
	case assumed:
		ok = !ok
	case updated:
		ok = ok && !old.assumed
	}
	if !ok {
		return fmt.Errorf("event %d of pod %v contradicts the state", what, p.Key())
	}
	return nil
}

func validateFor(what podChange, p *berth.Pod) error {
	if what == removed {
		return nil
	}
	return berth.ValidatePod(p).Err()
}

// plain is a state in two maps.
type plain struct {
	nodes map[string]plainNode
	pods  map[berth.PodKey]plainPod
}

func newPlain(nodes []*berth.Node) plain {
	s := plain{make(map[string]plainNode), make(map[berth.PodKey]plainPod)}
	for _, n := range nodes {
		s.nodes[n.Name] = plainNode{}
	}
	return s
}

func (s plain) change(what podChange, p *berth.Pod) error {
	old := s.pods[p.Key()]
	if err := permit(what, p, old); err != nil {
		return err
	}
	if old.spec != nil {
		s.nodes[old.spec.NodeName] = s.nodes[old.spec.NodeName].with(old.spec, -1)
	}
	if what == removed {
		delete(s.pods, p.Key())
		return nil
	}
	s.pods[p.Key()] = plainPod{p, what == assumed}
	s.nodes[p.NodeName] = s.nodes[p.NodeName].with(p, +1)
	return nil
}

func (s plain) pod(key berth.PodKey) bool {
	_, ok := s.pods[key]
	return ok
}

func (s plain) milliCPU(node string) int64 { return s.nodes[node].milliCPU }

func (s plain) list() (milliCPU int64) {
	for _, p := range s.pods {
		milliCPU += p.spec.Requests.MilliCPU
	}
	return milliCPU
}

// globalMutex guards maps by one lock.
type globalMutex struct {
	mu    sync.RWMutex
	state plain
}

func newGlobalMutex(nodes []*berth.Node) (store, error) {
	return &globalMutex{state: newPlain(nodes)}, nil
}

func (s *globalMutex) change(what podChange, p *berth.Pod) error {
	if err := validateFor(what, p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.change(what, p)
}

func (s *globalMutex) pod(key berth.PodKey) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.pod(key)
}

func (s *globalMutex) milliCPU(node string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.milliCPU(node)
}

func (s *globalMutex) snapshotPod(key berth.PodKey) bool { return s.pod(key) }

func (s *globalMutex) list() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.list()
}

// copyOnWrite copies the maps for each change. Readers take no lock.
type copyOnWrite struct {
	writers sync.Mutex
	state   atomic.Pointer[plain]
}

func newCopyOnWrite(nodes []*berth.Node) (store, error) {
	s, c := newPlain(nodes), &copyOnWrite{}
	c.state.Store(&s)
	return c, nil
}

func (s *copyOnWrite) change(what podChange, p *berth.Pod) error {
	if err := validateFor(what, p); err != nil {
		return err
	}
	s.writers.Lock()
	defer s.writers.Unlock()
	old := s.state.Load()
	next := plain{maps.Clone(old.nodes), maps.Clone(old.pods)}
	if err := next.change(what, p); err != nil {
		return err
	}
	s.state.Store(&next)
	return nil
}

func (s *copyOnWrite) pod(key berth.PodKey) bool         { return s.state.Load().pod(key) }
func (s *copyOnWrite) milliCPU(node string) int64        { return s.state.Load().milliCPU(node) }
func (s *copyOnWrite) snapshotPod(key berth.PodKey) bool { return s.pod(key) }
func (s *copyOnWrite) list() int64                       { return s.state.Load().list() }

// syncMaps are two sync.Maps, of plainPods and of atomic sums. What concerns both is not done at one moment, and a list is not of one.
type syncMaps struct{ nodes, pods sync.Map }

type atomicNode struct{ milliCPU, memory, pods atomic.Int64 }

func (n *atomicNode) charge(p *berth.Pod, sign int64) {
	n.milliCPU.Add(sign * p.Requests.MilliCPU)
	n.memory.Add(sign * p.Requests.Memory)
	n.pods.Add(sign)
}

func newSyncMaps(nodes []*berth.Node) (store, error) {
	s := &syncMaps{}
	for _, n := range nodes {
		s.nodes.Store(n.Name, &atomicNode{})
	}
	return s, nil
}

func (s *syncMaps) change(what podChange, p *berth.Pod) error {
	if err := validateFor(what, p); err != nil {
		return err
	}
	var old plainPod
	v, known := s.pods.Load(p.Key())
	if known {
		old = *v.(*plainPod)
	}
	if err := permit(what, p, old); err != nil {
		return err
	}
	next, overtaken := &plainPod{p, what == assumed}, false
	switch {
	case what == removed:
		overtaken = !s.pods.CompareAndDelete(p.Key(), v)
	case known:
		overtaken = !s.pods.CompareAndSwap(p.Key(), v, next)
	default:
		_, overtaken = s.pods.LoadOrStore(p.Key(), next)
	}
	if overtaken {
		return fmt.Errorf("pod %v was changed meanwhile", p.Key())
	}
	if known {
		s.node(old.spec.NodeName).charge(old.spec, -1)
	}
	if what != removed {
		s.node(p.NodeName).charge(p, +1)
	}
	return nil
}

func (s *syncMaps) node(name string) *atomicNode {
	v, ok := s.nodes.Load(name)
	if !ok {
		return &atomicNode{}
	}
	return v.(*atomicNode)
}

func (s *syncMaps) pod(key berth.PodKey) bool {
	_, ok := s.pods.Load(key)
	return ok
}

func (s *syncMaps) milliCPU(node string) int64        { return s.node(node).milliCPU.Load() }
func (s *syncMaps) snapshotPod(key berth.PodKey) bool { return s.pod(key) }

func (s *syncMaps) list() (milliCPU int64) {
	s.pods.Range(func(_, v any) bool {
		milliCPU += v.(*plainPod).spec.Requests.MilliCPU
		return true
	})
	return milliCPU
}
