package cache_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
)

// try makes a random change in a transaction, or begins or ends one.
func (w *walk) try() (string, error) {
	if w.txn == nil {
		if w.rng.IntN(3) > 0 {
			if err := w.replica.Sync(); err != nil {
				return "sync", err
			}
			w.seen = w.truth.clone()
		}
		if w.rng.IntN(2) > 0 {
			return "sync", nil
		}
		var err error
		w.txn, err = w.replica.Begin()
		w.inside, w.ops = w.seen.clone(), nil
		return "begin", err
	}
	if err := w.replica.Sync(); !errors.Is(err, cache.ErrOpen) {
		return "sync", fmt.Errorf("sync under a transaction: %w", err)
	}
	switch w.rng.IntN(12) {
	case 0:
		return "commit", w.commit()
	case 1:
		txn := w.txn
		w.txn = nil
		if err := txn.Rollback(); err != nil {
			return "rollback", err
		}
		if err := txn.Evict(berth.PodKey{}); !errors.Is(err, cache.ErrDone) {
			return "rollback", fmt.Errorf("after the end: %w", err)
		}
		return "rollback", nil
	case 2, 3:
		if len(w.ops) == 0 {
			return "nothing", nil
		}
		i := w.rng.IntN(len(w.ops))
		err := w.txn.RollbackTo(w.ops[i].save)
		w.inside, w.ops = w.ops[i].before, w.ops[:i]
		return "roll back some", err
	}
	before, save := w.inside.clone(), w.txn.Savepoint()
	what, again, err := w.tryChange()
	if err == nil && again != nil {
		w.ops = append(w.ops, tried{before, save, again, lastChange(w.txn)})
		w.giveInside()
	}
	return what, err
}

func (w *walk) giveInside() {
	for name := range w.inside.nodes {
		w.inside.give(name, w.replica.Graph().Devices)
	}
}

// tryChange makes a change in the transaction and in the state beside it, and returns how to make it again later, nil if nothing was changed.
func (w *walk) tryChange() (what string, again func(*truth) bool, err error) {
	t := w.inside
	switch w.rng.IntN(8) {
	case 0:
		return w.tryAddNode()
	case 1:
		return w.tryUpdateNode()
	case 2:
		name := w.nodeName()
		ok, err := expect(w.txn.RemoveNode(name), first(map[error]bool{cache.ErrUnknownNode: t.nodes[name] == nil}, cache.ErrUnknownNode))
		if ok {
			t.removeNode(name)
			again = func(t *truth) bool {
				if t.nodes[name] == nil {
					return true
				}
				t.removeNode(name)
				return false
			}
		}
		return "try to remove " + name, again, err
	case 3, 4:
		key := w.podKey(t)
		old, ok := t.pods[key]
		ok, err := expect(w.txn.Evict(key), first(map[error]bool{cache.ErrUnknownPod: !ok || old.Hidden}, cache.ErrUnknownPod))
		if ok {
			delete(t.pods, key)
			again = func(t *truth) bool {
				now, ok := t.pods[key]
				if !ok || now.Hidden || now.Spec.NodeName != old.Spec.NodeName {
					return true
				}
				delete(t.pods, key)
				return false
			}
		}
		return "try to evict " + key.Name, again, err
	case 5:
		return w.tryUpdatePod()
	}
	p, node := w.newPod(), w.nodeName()
	for range 4 { // rather one that fits
		if !t.permits(p, node) {
			p, node = w.newPod(), w.nodeName()
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(t.promises), berth.PodKey.Compare) {
		if w.rng.IntN(3) == 0 { // the promise is kept
			p = t.promises[key].Pod
		}
	}
	place := func(t *truth) bool {
		if _, exists := t.pods[p.Key()]; exists || !t.permits(p, node) {
			return true
		}
		placed := *p
		placed.NodeName = node
		t.setPod(&placed, true, time.Time{})
		return false
	}
	got := w.txn.Place(p, node)
	switch {
	case errors.Is(got, cache.ErrRefused) && !t.permits(p, node), t.nodes[node] == nil && got != nil, isRoom(got):
		return "try to place " + p.Name, nil, nil
	case got != nil || place(t):
		return "try to place " + p.Name, nil, fmt.Errorf("placed on %s: %w; permitted: %v", node, got, t.permits(p, node))
	}
	return "try to place " + p.Name, place, nil
}

func (w *walk) tryAddNode() (string, func(*truth) bool, error) {
	n := w.newNode()
	ok, err := expect(w.txn.AddNode(n), first(map[error]bool{cache.ErrNodeExists: w.inside.nodes[n.Name] != nil}, cache.ErrNodeExists))
	if !ok {
		return "try to add " + n.Name, nil, err
	}
	w.inside.setNode(n)
	return "try to add " + n.Name, func(t *truth) bool {
		if t.nodes[n.Name] != nil {
			return true
		}
		t.setNode(n)
		return false
	}, nil
}

func (w *walk) tryUpdateNode() (string, func(*truth) bool, error) {
	n := w.newNode()
	old := w.inside.nodes[n.Name]
	ok, err := expect(w.txn.UpdateNode(n), first(map[error]bool{cache.ErrUnknownNode: old == nil}, cache.ErrUnknownNode))
	if !ok {
		return "try to update " + n.Name, nil, err
	}
	w.inside.setNode(n)
	return "try to update " + n.Name, func(t *truth) bool {
		if t.nodes[n.Name] != old {
			return true
		}
		t.setNode(n)
		return false
	}, nil
}

func (w *walk) tryUpdatePod() (string, func(*truth) bool, error) {
	key := w.podKey(w.inside)
	old, placed := w.inside.pods[key]
	p := w.newPod()
	p.Namespace, p.Name = key.Namespace, key.Name
	if p.NodeName = w.nodeName(); placed && w.rng.IntN(2) == 0 {
		p.NodeName = old.Spec.NodeName
	}
	what := "try to update " + p.Name
	got := w.txn.UpdatePod(p)
	switch unknown := !placed || old.Hidden; {
	case unknown && errors.Is(got, cache.ErrUnknownPod), isRoom(got):
		return what, nil, nil
	case !unknown && w.inside.nodes[p.NodeName] == nil && errors.Is(got, cache.ErrUnknownNode):
		return what, nil, nil
	case got != nil || unknown:
		return what, nil, fmt.Errorf("updated on %s: %w", p.NodeName, got)
	}
	w.inside.setPod(p, old.Assumed, old.Deadline)
	return what, func(t *truth) bool {
		now, ok := t.pods[key]
		if !ok || now.Hidden || now.Spec.NodeName != old.Spec.NodeName || t.nodes[p.NodeName] == nil {
			return true
		}
		t.setPod(p, now.Assumed, now.Deadline)
		return false
	}, nil
}

// commit commits, and compares the conflicts with those that the obvious way finds: make each change again on the state as it is.
func (w *walk) commit() error {
	state, moved := w.truth.clone(), w.cache.Version() != w.replica.Version()
	got := w.txn.Commit()
	var conflicts *cache.ConflictError
	if !moved {
		if got != nil {
			return got
		}
		w.txn, w.truth, w.seen = nil, w.inside, w.inside.clone()
		return nil
	}
	if got != nil && !errors.As(got, &conflicts) {
		return got
	}
	kept := w.ops[:0:0]
	refused := 0
	for _, o := range w.ops {
		before := state.clone()
		fails := o.again(state)
		if conflicts != nil && refused < len(conflicts.Conflicts) && !fails &&
			conflicts.Conflicts[refused].Change.String() == o.event.String() && conflicts.Conflicts[refused].Change.Node == o.event.Node &&
			conflicts.Conflicts[refused].Change.Pod == o.event.Pod && isRoom(conflicts.Conflicts[refused].Err) {
			state, fails = before, true // it depends on devices, which the cache knows about
		}
		if !fails {
			kept = append(kept, o)
			continue
		}
		if refused++; conflicts == nil || refused > len(conflicts.Conflicts) {
			return fmt.Errorf("commit: %w, but more conflicts than that are there", got)
		}
	}
	if conflicts == nil {
		state.giveHidden(w.cache)
		w.txn, w.truth, w.seen = nil, state, state.clone()
		return nil
	}
	if refused != len(conflicts.Conflicts) || refused == 0 || !errors.Is(got, cache.ErrConflict) {
		return fmt.Errorf("commit: %w, want %d conflicts", got, refused)
	}
	if len(kept) > 0 {
		if err := w.txn.RollbackTo(kept[0].save); !errors.Is(err, cache.ErrSavepoint) {
			return fmt.Errorf("a savepoint from before a failed commit: %w", err)
		}
	}
	w.inside, w.ops, w.seen = state, nil, w.truth.clone()
	w.giveInside()
	if got := changes(w.txn); got != len(kept) {
		return fmt.Errorf("%d changes are left, want %d", got, len(kept))
	}
	// What is left can be committed now, or the transaction is given up.
	txn := w.txn
	w.txn = nil
	if w.rng.IntN(2) == 0 {
		return txn.Rollback()
	}
	err := txn.Commit()
	w.inside.giveHidden(w.cache)
	w.truth, w.seen = w.inside, w.inside.clone()
	return err
}

func lastChange(t *cache.Txn) (last cache.Event) {
	for e := range t.Changes() {
		last = *e
	}
	return last
}

func changes(t *cache.Txn) int {
	n := 0
	for range t.Changes() {
		n++
	}
	return n
}
