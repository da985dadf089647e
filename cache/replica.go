package cache

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Replica is an affinity graph that follows a cache: what a scheduler decides on, its private copy of the state (Schwarzkopf et al.,
// Omega: flexible, scalable schedulers for large compute clusters, EuroSys 2013, section 3.4). It stands still until Sync
// is called. It has one owner: its methods, and those of its graph, profiles, pipelines and transaction must not
// overlap. Replicas don't share anything.
type Replica struct {
	cache   *Cache
	graph   *affinity.Graph
	rules   *affinity.Profile
	version uint64
	// What the graph does not know: the specs of the nodes, pods of nodes that are not known, the promises' pods.
	nodes      map[string]*berth.Node
	hidden     map[berth.PodKey]*berth.Pod
	promises   map[berth.PodKey]Nomination
	namespaces map[string]bool
	// entries are the cache's entries of the nodes, by NodeID, as long as the graph's Cap; nil where it is not known.
	entries []*nodeEntry
	// txn is the open transaction, or the memory for the next one.
	txn   Txn
	check func(pod *berth.Pod, node string) error
	// turn is true while the replica holds the cache's turn.
	turn bool
	// broken is true if the graph may not be as the version says; the next Sync builds it anew.
	broken bool
}

// NewReplica returns a replica of the state as it is now. O(nodes + pods).
func (c *Cache) NewReplica() (*Replica, error) {
	g, err := affinity.New(c.cfg.Graph)
	if err != nil {
		return nil, err
	}
	rules, err := g.NewProfile(affinity.ProfileConfig{NoScores: true})
	if err != nil {
		return nil, err
	}
	r := &Replica{cache: c, graph: g, rules: rules, namespaces: make(map[string]bool)}
	r.txn = Txn{replica: r, over: true}
	return r, r.restart()
}

// Graph returns the graph of the replica, on which profiles and pipelines may be made. It must not be updated but through
// a transaction.
func (r *Replica) Graph() *affinity.Graph { return r.graph }

// await waits until no scheduler that was overtaken too often has its turn, and returns a function to call after the commit.
func (r *Replica) await() (done func()) {
	if r.turn {
		return func() {}
	}
	r.cache.turn.RLock()
	return r.cache.turn.RUnlock
}

// SetCheck makes commits ask check besides the rules, when they put a placement to them again after somebody else has changed
// the cache: it is for filters of the caller's own. An error of it is a conflict that wraps ErrRefused and the error.
func (r *Replica) SetCheck(check func(pod *berth.Pod, node string) error) { r.check = check }

// Version is that of the cache whose state the graph holds, not counting what an open transaction has tried.
func (r *Replica) Version() uint64 { return r.version }

// Node returns the spec of a node as the graph has it.
func (r *Replica) Node(name string) (*berth.Node, bool) {
	n, ok := r.nodes[name]
	return n, ok
}

func (r *Replica) follow() error {
	events, ok := r.cache.journal.since(r.version)
	if !ok || r.broken {
		return r.restart()
	}
	for i := range events {
		if err := r.apply(&events[i]); err != nil {
			r.broken = true
			return fmt.Errorf("cache: following event %v: %w", &events[i], err)
		}
		r.version = events[i].Version
	}
	return nil
}

// restart empties the graph and fills it from a snapshot.
func (r *Replica) restart() error {
	r.broken = true
	if err := r.clear(); err != nil {
		return err
	}
	s := r.cache.Publish()
	if err := s.fill(r.graph); err != nil {
		return err
	}
	for n := range s.Nodes() {
		r.nodes[n.Name] = n
		r.learn(n.Name)
	}
	for p := range s.AllPods() {
		if p.Hidden {
			r.hidden[p.Spec.Key()] = p.Spec
		}
	}
	for o := range s.Nominations() {
		r.promises[o.Pod.Key()] = o
	}
	for ns := range s.Namespaces() {
		r.namespaces[ns.Name] = true
	}
	r.version, r.broken = s.version, false
	return nil
}

func (r *Replica) clear() error {
	for _, name := range sortedNames(r.nodes) {
		if _, err := r.takeOut(name); err != nil {
			return err
		}
	}
	for name := range r.namespaces {
		r.graph.RemoveNamespace(name)
	}
	clear(r.namespaces)
	r.nodes = make(map[string]*berth.Node)
	r.hidden = make(map[berth.PodKey]*berth.Pod)
	r.promises = make(map[berth.PodKey]Nomination)
	return nil
}

// apply makes the change that an event tells of.
func (r *Replica) apply(e *Event) error {
	switch e.Kind {
	case NodeAdded:
		return r.putIn(e.Node, e.bound)
	case NodeUpdated:
		r.nodes[e.Node.Name] = e.Node
		return r.graph.UpdateNode(e.Node)
	case NodeRemoved:
		_, err := r.takeOut(e.Name)
		return err
	case PodAdded, PodAssumed, PodConfirmed, PodUpdated:
		return r.place(e.Pod)
	case PodRemoved, PodForgotten, PodExpired:
		return r.remove(e.Key)
	case PodNominated:
		r.promises[e.Pod.Key()] = Nomination{Pod: e.Pod, Node: e.Name}
		return r.graph.Nominate(e.Pod, e.Name)
	case PodDenominated:
		r.withdraw(e.Key)
	case NamespaceSet:
		r.namespaces[e.Namespace.Name] = true
		return r.graph.SetNamespace(e.Namespace)
	case NamespaceRemoved:
		delete(r.namespaces, e.Name)
		r.graph.RemoveNamespace(e.Name)
	}
	return nil
}

// putIn enters a node with its pods.
func (r *Replica) putIn(n *berth.Node, pods []*berth.Pod) error {
	if err := r.graph.AddNode(n); err != nil {
		return err
	}
	for i, p := range pods {
		if err := r.graph.Bind(p, n.Name); err != nil {
			for _, q := range pods[:i] {
				_ = r.graph.Release(q.Key()) // was bound just now
			}
			_ = r.graph.RemoveNode(n.Name) // is there, and empty
			return err
		}
	}
	for _, p := range pods {
		delete(r.hidden, p.Key())
	}
	r.nodes[n.Name] = n
	r.learn(n.Name)
	return nil
}

// takenOut is what left the graph with a node.
type takenOut struct {
	pods     []*berth.Pod
	promises []Nomination
}

// takeOut takes a node out, hides its pods and ends its promises.
func (r *Replica) takeOut(name string) (takenOut, error) {
	var out takenOut
	id, ok := r.graph.Topology().Lookup(name)
	if !ok {
		return out, fmt.Errorf("%w: %q", ErrUnknownNode, name)
	}
	for key := range r.graph.PodsOn(id) {
		p, _ := r.graph.Pod(key)
		out.pods = append(out.pods, p)
	}
	slices.SortFunc(out.pods, func(a, b *berth.Pod) int { return a.Key().Compare(b.Key()) })
	for _, p := range out.pods {
		if err := r.graph.Release(p.Key()); err != nil {
			return out, err
		}
		r.hidden[p.Key()] = p
	}
	for _, o := range r.promises {
		if o.Node == name {
			out.promises = append(out.promises, o)
		}
	}
	slices.SortFunc(out.promises, func(a, b Nomination) int { return a.Pod.Key().Compare(b.Pod.Key()) })
	for _, o := range out.promises {
		delete(r.promises, o.Pod.Key())
	}
	delete(r.nodes, name)
	r.entries[id] = nil
	return out, r.graph.RemoveNode(name)
}

// place puts a pod where it names, in place of one of the same key.
func (r *Replica) place(p *berth.Pod) error {
	key := p.Key()
	if err := r.remove(key); err != nil {
		return err
	}
	r.withdraw(key)
	if r.nodes[p.NodeName] == nil {
		r.hidden[key] = p
		return nil
	}
	return r.graph.Bind(p, p.NodeName)
}

// remove takes a pod out, if it is there.
func (r *Replica) remove(key berth.PodKey) error {
	if len(r.hidden) > 0 {
		delete(r.hidden, key)
	}
	if _, ok := r.graph.NodeOf(key); !ok {
		return nil
	}
	return r.graph.Release(key)
}

// withdraw ends a promise and returns it.
func (r *Replica) withdraw(key berth.PodKey) (Nomination, bool) {
	if len(r.promises) == 0 {
		return Nomination{}, false
	}
	o, ok := r.promises[key]
	if ok {
		delete(r.promises, key)
		r.graph.Denominate(key)
	}
	return o, ok
}

// learn notes the entry of a node that the graph has got, if the cache has one.
func (r *Replica) learn(name string) {
	x := r.graph.Topology()
	if more := x.Cap() - len(r.entries); more > 0 {
		r.entries = append(r.entries, make([]*nodeEntry, more)...)
	}
	id, _ := x.Lookup(name)
	r.entries[id] = r.cache.find(name)
}
