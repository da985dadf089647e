package cache_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/invariants"
)

// walk is a random walk of a cache, a replica and a transaction beside the obvious state.
type walk struct {
	rng     *rand.Rand
	gen     *gen.Generator
	cache   *cache.Cache
	truth   *truth
	names   []string
	now     time.Time
	replica *cache.Replica
	profile *affinity.Profile
	seen    *truth // what the replica has
	// txn is nil while none is open; then inside is what its graph has, and ops are its changes that were not undone, each
	// with the savepoint and the state before it.
	txn    *cache.Txn
	inside *truth
	ops    []tried
}

type tried struct {
	before *truth
	save   cache.Savepoint
	again  func(t *truth) (fails bool) // makes the change on a state as it has become, if that is right
	event  cache.Event
}

func newWalk(seed uint64) (*walk, error) {
	rng := rand.New(rand.NewPCG(seed, 11))
	presets := []gen.Options{gen.Everything(), gen.Affine(), gen.Spreading(), gen.Crowded()}
	w := &walk{rng: rng, gen: gen.New(rng, presets[seed%4]), truth: newTruth(), now: time.Unix(1e9, 0)}
	var err error
	if w.cache, err = cache.New(cache.Config{MaxShards: 1 + int(seed%3), History: 1 << (seed % 16), Graph: affinity.Config{Seed: seed}}); err != nil {
		return nil, err
	}
	if w.replica, err = w.cache.NewReplica(); err != nil {
		return nil, err
	}
	w.seen = w.truth.clone()
	w.profile, err = w.replica.Graph().NewProfile(affinity.ProfileConfig{})
	return w, err
}

// nodeName draws the name of a node that is there, was there, or never was.
func (w *walk) nodeName() string {
	if len(w.names) == 0 || w.rng.IntN(20) == 0 {
		return "nobody"
	}
	return w.names[w.rng.IntN(len(w.names))]
}

func (w *walk) podKey(t *truth) berth.PodKey {
	keys := slices.SortedFunc(maps.Keys(t.pods), berth.PodKey.Compare)
	if len(keys) == 0 || w.rng.IntN(20) == 0 {
		return berth.PodKey{Namespace: "default", Name: "nobody"}
	}
	return keys[w.rng.IntN(len(keys))]
}

func (w *walk) newPod() *berth.Pod {
	p := w.gen.Pod()
	return berth.Fold(&p)
}

func (w *walk) newNode() *berth.Node {
	n := w.gen.Node()
	if len(w.names) > 12 || w.rng.IntN(3) == 0 && len(w.names) > 0 {
		n.Name = w.names[w.rng.IntN(len(w.names))]
	} else {
		w.names = append(w.names, n.Name)
	}
	return &n
}

// expect checks the error of a call against the one that the state foresees; ok says that the change was made.
func expect(got, want error) (ok bool, err error) {
	switch {
	case want != nil && errors.Is(got, want):
		return false, nil
	case want == nil && got == nil:
		return true, nil
	case want == nil && isRoom(got):
		return false, nil
	}
	return false, fmt.Errorf("error %w, want %w", got, want)
}

func first(conditions map[error]bool, order ...error) error {
	for _, err := range order {
		if conditions[err] {
			return err
		}
	}
	return nil
}

// observe makes a random change to the cache.
func (w *walk) observe() (string, error) {
	c, t := w.cache, w.truth
	kind := w.rng.IntN(16)
	switch kind {
	case 0, 1:
		n := w.newNode()
		ok, err := expect(c.AddNode(n), first(map[error]bool{cache.ErrNodeExists: t.nodes[n.Name] != nil}, cache.ErrNodeExists))
		if ok {
			t.setNode(n)
		}
		return "add node " + n.Name, err
	case 2:
		n := w.newNode()
		ok, err := expect(c.UpdateNode(n), first(map[error]bool{cache.ErrUnknownNode: t.nodes[n.Name] == nil}, cache.ErrUnknownNode))
		if ok {
			t.setNode(n)
		}
		return "update node " + n.Name, err
	case 3:
		name := w.nodeName()
		ok, err := expect(c.RemoveNode(name), first(map[error]bool{cache.ErrUnknownNode: t.nodes[name] == nil}, cache.ErrUnknownNode))
		if ok {
			t.removeNode(name)
		}
		return "remove node " + name, err
	case 4:
		ns := &berth.Namespace{Name: []string{"default", "n1", "n2"}[w.rng.IntN(3)], Labels: map[string]string{"team": []string{"a", "b"}[w.rng.IntN(2)]}}
		t.namespaces[ns.Name] = ns
		return "set namespace", c.SetNamespace(ns)
	case 5:
		now := w.now.Add(time.Duration(w.rng.IntN(3000)) * time.Millisecond)
		w.now = now
		var want []berth.PodKey
		for key, p := range t.pods {
			if !p.Deadline.IsZero() && !p.Deadline.After(now) {
				want = append(want, key)
			}
		}
		slices.SortFunc(want, func(a, b berth.PodKey) int {
			if d := t.pods[a].Deadline.Compare(t.pods[b].Deadline); d != 0 {
				return d
			}
			return a.Compare(b)
		})
		for _, key := range want {
			delete(t.pods, key)
		}
		if got := c.Advance(now); !slices.Equal(got, want) {
			return "advance", fmt.Errorf("expired %v, want %v", got, want)
		}
		return "advance", nil
	}
	return w.observePod(kind)
}

func (w *walk) observePod(kind int) (string, error) {
	c, t := w.cache, w.truth
	key, node := w.podKey(t), w.nodeName()
	old, placed := t.pods[key]
	unknown := map[error]bool{cache.ErrUnknownPod: !placed, cache.ErrNotAssumed: !old.Assumed}
	switch kind {
	case 6:
		ok, err := expect(c.RemovePod(key), first(unknown, cache.ErrUnknownPod))
		if ok {
			delete(t.pods, key)
		}
		return "remove pod", err
	case 7:
		ok, err := expect(c.Forget(key), first(unknown, cache.ErrUnknownPod, cache.ErrNotAssumed))
		if ok {
			delete(t.pods, key)
		}
		return "forget", err
	case 8:
		ok, err := expect(c.Confirm(key), first(unknown, cache.ErrUnknownPod, cache.ErrNotAssumed))
		if ok {
			t.setPod(old.Spec, false, time.Time{})
		}
		return "confirm", err
	case 9: // observed elsewhere, or the same again
		p := w.newPod()
		p.Namespace, p.Name, p.NodeName = key.Namespace, key.Name, node
		call, want := c.AddPod, first(map[error]bool{cache.ErrPodExists: placed && !old.Assumed}, cache.ErrPodExists)
		if w.rng.IntN(2) == 0 {
			call, want = c.UpdatePod, first(map[error]bool{cache.ErrUnknownPod: !placed || old.Assumed}, cache.ErrUnknownPod)
		}
		ok, err := expect(call(p), want)
		if ok {
			t.setPod(p, false, time.Time{})
		}
		return "observe " + p.Name, err
	case 10, 11:
		p := w.newPod()
		p.NodeName = node
		ok, err := expect(c.AddPod(p), nil)
		if ok {
			t.setPod(p, false, time.Time{})
		}
		return "add pod " + p.Name, err
	case 12:
		p := w.newPod()
		ok, err := expect(c.Nominate(p, node), first(map[error]bool{cache.ErrUnknownNode: t.nodes[node] == nil}, cache.ErrUnknownNode))
		if ok {
			t.promises[p.Key()] = cache.Nomination{Pod: p, Node: node}
		}
		return "nominate " + p.Name, err
	case 13:
		for key := range t.promises {
			c.Denominate(key)
			delete(t.promises, key)
			break
		}
		return "denominate", nil
	}
	p := w.newPod()
	var deadline time.Time
	if w.rng.IntN(2) == 0 {
		deadline = w.now.Add(time.Duration(1+w.rng.IntN(20000)) * time.Millisecond)
	}
	ok, err := expect(c.AssumeUntil(p, node, deadline), first(map[error]bool{cache.ErrUnknownNode: t.nodes[node] == nil}, cache.ErrUnknownNode))
	if ok {
		placed := *p
		placed.NodeName = node
		t.setPod(&placed, true, deadline)
	}
	return "assume " + p.Name, err
}

// settle notes the devices that the cache gave out.
func (w *walk) settle() {
	for name := range w.truth.nodes {
		w.truth.give(name, func(key berth.PodKey) []int { p, _ := w.cache.Pod(key); return p.Spec.GPU.Devices })
	}
}

// check compares everything with the obvious state.
func (w *walk) check() error {
	w.settle()
	if err := w.truth.checkSnapshot(w.cache.Publish()); err != nil {
		return err
	}
	if err := w.truth.checkMetrics(w.cache); err != nil {
		return err
	}
	for key, want := range w.truth.pods {
		if got, ok := w.cache.Pod(key); !ok || samePod(got, want) != nil {
			return fmt.Errorf("cache: %w", samePod(got, want))
		}
	}
	state := w.seen
	if w.txn != nil {
		state = w.inside
	}
	return state.checkGraph(w.profile, w.newPod())
}

func (w *walk) step() (string, error) {
	if w.rng.IntN(5) < 2 {
		return w.observe()
	}
	return w.try()
}

// TestStepsEqualTheObviousState walks at random, with changes of the cache and of transactions on a replica in turns, and after
// each step compares the cache, the snapshot and the replica's answers with plain maps and internal/reference. At the end the events
// are replayed.
func TestStepsEqualTheObviousState(t *testing.T) {
	walks := 24
	if testing.Short() || invariants.Enabled {
		walks = 8
	}
	replayed := 0
	for seed := range uint64(walks * *steps) {
		w, err := newWalk(seed)
		must(t, err)
		var events []cache.Event
		all := true // as long as the history has kept every event
		for i := range 250 {
			what, err := w.step()
			if err == nil {
				err = w.check()
			}
			if err != nil {
				t.Fatalf("seed %d, step %d, %s: %v", seed, i, what, err)
			}
			more, ok := w.cache.EventsSince(uint64(len(events)))
			all = all && ok
			events = append(events, more...)
		}
		if !all {
			continue
		}
		replayed++
		if err := replays(events, w.cache); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if replayed < walks/4 {
		t.Errorf("only %d walks were replayed", replayed)
	}
}

// replays checks that the events lead to the same state.
func replays(events []cache.Event, from *cache.Cache) error {
	again, err := cache.New(cache.Config{})
	if err != nil {
		return err
	}
	for i := range events {
		if err := again.Apply(&events[i]); err != nil {
			return fmt.Errorf("replay of %v: %w", &events[i], err)
		}
		if i == len(events)/2 {
			again.Publish().Digest() // from now on it is kept
		}
	}
	if got, want := again.Publish().Digest(), from.Publish().Digest(); got != want {
		return fmt.Errorf("digest %v after the replay, want %v", got, want)
	}
	return nil
}
