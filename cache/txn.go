package cache

import (
	"errors"
	"fmt"
	"iter"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Txn is a what-if on a replica: it changes the replica's graph, and with it every profile and pipeline on it, and nothing
// else, until it is committed or rolled back. An error of one of its changes means that nothing was changed.
type Txn struct {
	replica *Replica
	ops     []op
	over    bool
	// rebased counts the commits that failed: each ends the savepoints that were there before.
	rebased int
}

// op is a change of a transaction, told as the event that it will be, and what it takes to undo it.
type op struct {
	Event
	spec    *berth.Pod // of a placement, as the caller gave it
	was     *berth.Pod
	wasNode *berth.Node
	out     takenOut
	hidden  []*berth.Pod // that appeared with a node, as they were
	promise Nomination
	entry   *nodeEntry // of the cache, while a commit is made
}

// Savepoint is a moment of a transaction that it can be rolled back to.
type Savepoint struct{ ops, rebased int }

// Begin opens a transaction on the state that the replica has; Sync first for the latest. A replica has one at a time: the error
// is ErrOpen. O(1).
func (r *Replica) Begin() (*Txn, error) {
	if !r.txn.over {
		return nil, ErrOpen
	}
	if r.broken {
		if err := r.restart(); err != nil {
			return nil, err
		}
	}
	r.txn.over = false
	return &r.txn, nil
}

// Graph returns the replica's graph, with the changes of the transaction.
func (t *Txn) Graph() *affinity.Graph { return t.replica.graph }

// Place places a pod, if every rule permits it now. The errors are a *berth.Fault, ErrRefused, and those of
// affinity.Graph.Bind. O(rules).
func (t *Txn) Place(pod *berth.Pod, node string) error {
	if t.over {
		return ErrDone
	}
	v, err := t.replica.rules.Verdict(pod, node, nil)
	if err != nil {
		return err
	}
	if v.Rule != affinity.Feasible {
		return fmt.Errorf("%w: pod %v on node %q: %v", ErrRefused, pod.Key(), node, v.Rule)
	}
	return t.bind(pod, node)
}

// Decide places a pod on the node that decide returns, which must be one that the rules permit: they are not asked again before
// a commit finds that the state has changed. An error of decide is returned as it is.
func (t *Txn) Decide(pod *berth.Pod, decide func(*berth.Pod) (node string, err error)) error {
	if t.over {
		return ErrDone
	}
	node, err := decide(pod)
	if err != nil {
		return err
	}
	return t.bind(pod, node)
}

func (t *Txn) bind(pod *berth.Pod, node string) error {
	r, key := t.replica, pod.Key()
	if len(r.hidden) > 0 && r.hidden[key] != nil {
		return fmt.Errorf("%w: %v", ErrPodExists, key)
	}
	if err := r.graph.Bind(pod, node); err != nil {
		return fromGraph(err)
	}
	placed := *pod
	placed.NodeName = node
	if pod.GPU.Count > 0 {
		placed.GPU.Devices = r.graph.Devices(key)
	}
	o := op{Event: Event{Kind: PodAssumed, Pod: &placed}, spec: pod}
	if len(r.promises) > 0 {
		o.promise = r.promises[key]
		delete(r.promises, key) // the graph has ended it
	}
	t.ops = append(t.ops, o)
	return nil
}

// Evict takes a placed pod out, or returns ErrUnknownPod. O(1).
func (t *Txn) Evict(key berth.PodKey) error {
	if t.over {
		return ErrDone
	}
	was, ok := t.replica.graph.Pod(key)
	if !ok {
		return fmt.Errorf("%w: %v", ErrUnknownPod, key)
	}
	if err := t.replica.graph.Release(key); err != nil {
		return fromGraph(err)
	}
	t.ops = append(t.ops, op{Event: Event{Kind: PodRemoved, Key: key}, was: was})
	return nil
}

// UpdatePod replaces the spec of a placed pod, on the node that it names: the pod moves if that is another. The errors are a
// *berth.Fault, ErrNoNode, ErrUnknownPod, ErrUnknownNode, and those of affinity.Graph.Bind.
func (t *Txn) UpdatePod(pod *berth.Pod) error {
	if t.over {
		return ErrDone
	}
	if err := placeable(pod); err != nil {
		return err
	}
	g := t.replica.graph
	was, ok := g.Pod(pod.Key())
	if !ok {
		return fmt.Errorf("%w: %v", ErrUnknownPod, pod.Key())
	}
	next := *pod
	if len(next.GPU.Devices) == 0 && was.NodeName == next.NodeName && was.GPU.Count == next.GPU.Count && was.GPU.Milli == next.GPU.Milli {
		next.GPU.Devices = was.GPU.Devices
	}
	if err := g.Release(pod.Key()); err != nil {
		return fromGraph(err)
	}
	if err := g.Bind(&next, next.NodeName); err != nil {
		t.mustUndo(g.Bind(was, was.NodeName))
		return fromGraph(err)
	}
	next.GPU.Devices = g.Devices(pod.Key())
	t.ops = append(t.ops, op{Event: Event{Kind: PodUpdated, Pod: &next}, spec: pod, was: was})
	return nil
}

// AddNode adds a node, a template of one that could be bought as well as a real one; pods that are known for it come with it. The
// errors are those of affinity.Graph.AddNode and Bind.
func (t *Txn) AddNode(node *berth.Node) error {
	if t.over {
		return ErrDone
	}
	if err := berth.ValidateNode(node).Err(); err != nil {
		return err
	}
	r := t.replica
	n := &nodeEntry{}
	var hidden []*berth.Pod
	for _, p := range r.hidden {
		if p.NodeName == node.Name {
			n.attach(&podEntry{spec: p})
			hidden = append(hidden, p)
		}
	}
	n.open(node)
	pods, err := n.admitAll()
	if err != nil {
		return err
	}
	if err := r.putIn(node, pods); err != nil {
		return fromGraph(err)
	}
	t.ops = append(t.ops, op{Event: Event{Kind: NodeAdded, Node: node}, hidden: hidden})
	return nil
}

// UpdateNode replaces the spec of a node. The errors are those of affinity.Graph.UpdateNode.
func (t *Txn) UpdateNode(node *berth.Node) error {
	if t.over {
		return ErrDone
	}
	was := t.replica.nodes[node.Name]
	if err := t.replica.graph.UpdateNode(node); err != nil {
		return fromGraph(err)
	}
	t.replica.nodes[node.Name] = node
	t.ops = append(t.ops, op{Event: Event{Kind: NodeUpdated, Node: node}, wasNode: was})
	return nil
}

// Cordon makes a node unschedulable, or schedulable again. The error is ErrUnknownNode.
func (t *Txn) Cordon(name string, unschedulable bool) error {
	was, ok := t.replica.nodes[name]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, name)
	}
	next := *was
	next.Unschedulable = unschedulable
	return t.UpdateNode(&next)
}

// RemoveNode takes a node out, or returns ErrUnknownNode. Its pods are hidden, not evicted: to try where they would go,
// evict and place them. O(its pods).
func (t *Txn) RemoveNode(name string) error {
	if t.over {
		return ErrDone
	}
	was, ok := t.replica.nodes[name]
	if !ok {
		return fmt.Errorf("%w: %q", ErrUnknownNode, name)
	}
	out, err := t.replica.takeOut(name)
	if err != nil {
		t.mustUndo(err)
		return fromGraph(err)
	}
	t.ops = append(t.ops, op{Event: Event{Kind: NodeRemoved, Name: name}, wasNode: was, out: out})
	return nil
}

// Changes iterates over what the transaction has changed, in order, as the events of a commit; their Version is 0.
func (t *Txn) Changes() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for i := range t.ops {
			if !yield(&t.ops[i].Event) {
				return
			}
		}
	}
}

// Savepoint returns the present moment. O(1); there may be any number, nested.
func (t *Txn) Savepoint() Savepoint { return Savepoint{len(t.ops), t.rebased} }

// RollbackTo undoes what was changed after a savepoint; those taken later are gone. The error is ErrSavepoint for one that is gone, or that
// was taken before a commit that failed. O(changes since).
func (t *Txn) RollbackTo(s Savepoint) error {
	if t.over {
		return ErrDone
	}
	if s.rebased != t.rebased || s.ops > len(t.ops) {
		return ErrSavepoint
	}
	return t.undo(s.ops)
}

// Rollback undoes all changes and ends the transaction. O(changes).
func (t *Txn) Rollback() error {
	if t.over {
		return ErrDone
	}
	err := t.undo(0)
	t.finish()
	return err
}

func (t *Txn) finish() {
	clear(t.ops)
	t.ops, t.over = t.ops[:0], true
	t.rebased++ // savepoints of this transaction are none of the next
}

// undo takes back the changes but the first n.
func (t *Txn) undo(n int) error {
	for i := len(t.ops) - 1; i >= n; i-- {
		if err := t.undoOne(&t.ops[i]); err != nil {
			t.mustUndo(err)
			return err
		}
	}
	clear(t.ops[n:])
	t.ops = t.ops[:n]
	return nil
}

// mustUndo marks the replica for a restart if something could not be taken back, which can't happen as long as the graph is
// as its events say.
func (t *Txn) mustUndo(err error) {
	if err != nil {
		t.replica.broken = true
	}
}

func (t *Txn) undoOne(o *op) error {
	r, g := t.replica, t.replica.graph
	switch o.Kind {
	case PodAssumed:
		if err := g.Release(o.Pod.Key()); err != nil {
			return err
		}
		return r.promise(o.promise)
	case PodRemoved:
		return g.Bind(o.was, o.was.NodeName)
	case PodUpdated:
		if err := g.Release(o.was.Key()); err != nil {
			return err
		}
		return g.Bind(o.was, o.was.NodeName)
	case NodeAdded:
		_, err := r.takeOut(o.Node.Name)
		for _, p := range o.hidden {
			r.hidden[p.Key()] = p
		}
		return err
	case NodeUpdated:
		r.nodes[o.Node.Name] = o.wasNode
		return g.UpdateNode(o.wasNode)
	case NodeRemoved:
		if err := r.putIn(o.wasNode, o.out.pods); err != nil {
			return err
		}
		for _, p := range o.out.promises {
			if err := r.promise(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// promise gives a promise again that had ended, if there is one.
func (r *Replica) promise(o Nomination) error {
	if o.Pod == nil {
		return nil
	}
	r.promises[o.Pod.Key()] = o
	return r.graph.Nominate(o.Pod, o.Node)
}

// fromGraph makes an error of the graph one of this package, where it has one for the same.
func fromGraph(err error) error {
	for _, e := range [...]struct{ graph, cache error }{
		{affinity.ErrUnknownNode, ErrUnknownNode}, {affinity.ErrNodeExists, ErrNodeExists},
		{affinity.ErrUnknownPod, ErrUnknownPod}, {affinity.ErrPodExists, ErrPodExists},
	} {
		if errors.Is(err, e.graph) {
			return fmt.Errorf("%w (%w)", e.cache, err)
		}
	}
	return err
}
