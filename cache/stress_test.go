package cache_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/invariants"
)

var stressFor = flag.Duration("berth.stress", 0, "how long the stress test runs; 0 means 5s under the race detector and 1s without")

const (
	stressWriters, stressReaders, stressSchedulers = 8, 8, 2
	stressNodes                                    = 40
)

// stress is a cache that everybody works on at once. Half of the nodes take what writers observe, half what schedulers decide.
type stress struct {
	cache *cache.Cache
	stop  atomic.Bool
	fault atomic.Pointer[error]

	written   [stressWriters]map[berth.PodKey]string // what each writer knows to be there
	scheduled sync.Map                               // keys of pods that were committed and not removed
	commits   atomic.Int64
}

func (s *stress) fail(err error) {
	if err != nil {
		s.fault.CompareAndSwap(nil, &err)
		s.stop.Store(true)
	}
}

func stressNode(i int, zone int) *berth.Node {
	n := node(fmt.Sprintf("n%02d", i), 16)
	n.Labels[berth.LabelZone] = fmt.Sprint("z", zone)
	n.Labels["pool"] = []string{"observed", "decided"}[i%2]
	return n
}

// write observes pods of its own on nodes that schedulers leave alone, moves nodes between shards, and removes pods that schedulers placed.
func (s *stress) write(id int) error {
	rng := rand.New(rand.NewPCG(uint64(id), 1))
	mine := make(map[berth.PodKey]string)
	s.written[id] = mine
	own := node(fmt.Sprint("own", id), 16) // goes and comes back, and its pods with it
	gone := true
	toggle := func() error {
		if gone = !gone; gone {
			return s.cache.RemoveNode(own.Name)
		}
		return s.cache.AddNode(own)
	}
	defer func() {
		if gone {
			s.fail(toggle())
		}
	}()
	for i := 0; !s.stop.Load(); i++ {
		on := fmt.Sprintf("n%02d", 2*rng.IntN(stressNodes/2))
		if rng.IntN(4) == 0 {
			on = own.Name
		}
		p := pod(fmt.Sprintf("w%d-%d", id, rng.IntN(50)), on, int64(rng.IntN(100)))
		_, known := mine[p.Key()]
		var err error
		switch op := rng.IntN(9); {
		case op == 8:
			err = toggle()
		case op == 0:
			k := rng.IntN(stressNodes)
			err = s.cache.UpdateNode(stressNode(k, rng.IntN(5)))
		case op == 1:
			s.scheduled.Range(func(k, _ any) bool {
				if _, there := s.scheduled.LoadAndDelete(k); there {
					err = s.cache.RemovePod(k.(berth.PodKey))
				}
				return false
			})
		case op == 2 && !known:
			if err = s.cache.Assume(p, on); err == nil {
				err = s.cache.Forget(p.Key())
			} else if gone && errors.Is(err, cache.ErrUnknownNode) {
				err = nil
			}
		case !known:
			mine[p.Key()] = on
			err = s.cache.AddPod(p)
		case op < 6:
			mine[p.Key()] = on
			err = s.cache.UpdatePod(p)
		default:
			delete(mine, p.Key())
			err = s.cache.RemovePod(p.Key())
		}
		if err != nil {
			return fmt.Errorf("writer %d, operation %d: %w", id, i, err)
		}
	}
	return nil
}

// read checks that snapshots are whole: each pod once, on a node that is there, and no node with more than it has.
func (s *stress) read(publish bool) error {
	var last uint64
	for !s.stop.Load() {
		snap := s.cache.Snapshot()
		if publish {
			snap = s.cache.Publish()
		}
		if snap.Version() < last {
			return fmt.Errorf("version %d after %d", snap.Version(), last)
		}
		last = snap.Version()
		if err := sound(snap); err != nil {
			return err
		}
		for i := range 50 * stressWriters {
			name := fmt.Sprintf("w%d-%d", i%stressWriters, i/stressWriters)
			if p, ok := s.cache.Pod(key(name)); ok && p.Spec.Name != name {
				return fmt.Errorf("%v in place of %s", p.Spec.Key(), name)
			}
		}
	}
	return nil
}

func sound(s *cache.Snapshot) error {
	used := make(map[string]int64)
	for p := range s.Pods() {
		used[p.NodeName] += p.Requests.MilliCPU
	}
	for n := range s.Nodes() {
		if used[n.Name] > n.Allocatable.MilliCPU {
			return fmt.Errorf("node %s: %d of %d milli at version %d", n.Name, used[n.Name], n.Allocatable.MilliCPU, s.Version())
		}
	}
	return nil
}

// schedule decides on pods that keep apart within a node, several at a time.
func (s *stress) schedule(id int) error {
	r, err := s.cache.NewReplica()
	if err != nil {
		return err
	}
	profile, err := r.Graph().NewProfile(affinity.ProfileConfig{})
	if err != nil {
		return err
	}
	full := errors.New("no node")
	chosen := func(choice affinity.Choice, ok bool, err error) (string, error) {
		if err != nil || !ok {
			return "", errors.Join(full, err)
		}
		return r.Graph().Topology().Name(choice.Node), nil
	}
	decide := func(p *berth.Pod) (string, error) { return chosen(profile.Best(p)) }
	alone := func(p *berth.Pod) ([]cache.Placement, error) {
		w, err := r.Prepare(p)
		if err != nil {
			return nil, err
		}
		node, err := r.DecidePrepared(w, func(w *affinity.Prepared) (string, error) { return chosen(profile.BestPrepared(w)) })
		return []cache.Placement{{Pod: p, Node: node, Err: err}}, nil
	}
	for i := 0; !s.stop.Load(); i++ {
		var pods []*berth.Pod
		for k := range 1 + i%4 {
			p := pod(fmt.Sprintf("s%d-%d-%d", id, i, k), "", 900)
			p.Labels = map[string]string{"app": fmt.Sprint("a", i%3)}
			p.NodeSelector = map[string]string{"pool": "decided"}
			p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
				TopologyKey: berth.LabelHostname, LabelSelector: &berth.LabelSelector{MatchLabels: p.Labels},
			}}}}
			pods = append(pods, p)
		}
		var placed []cache.Placement
		if len(pods) == 1 {
			placed, err = alone(pods[0])
		} else {
			placed, err = r.Schedule(pods, 3, decide)
		}
		if err != nil {
			return fmt.Errorf("scheduler %d, batch %d: %w", id, i, err)
		}
		for _, p := range placed {
			switch {
			case p.Err == nil:
				s.scheduled.Store(p.Pod.Key(), p.Node)
				s.commits.Add(1)
			case !errors.Is(p.Err, full) && !errors.Is(p.Err, cache.ErrRefused):
				return fmt.Errorf("scheduler %d, batch %d: %w", id, i, p.Err)
			}
		}
	}
	return nil
}

// apart checks that no two pods of an app that keep apart are on one node.
func apart(s *cache.Snapshot) error {
	seen := make(map[string]berth.PodKey)
	for p := range s.Pods() {
		if p.Affinity == nil {
			continue
		}
		at := p.NodeName + "/" + p.Labels["app"]
		if other, taken := seen[at]; taken {
			return fmt.Errorf("%v and %v are both at %s", other, p.Key(), at)
		}
		seen[at] = p.Key()
	}
	return nil
}

// TestEverybodyAtOnce: writers, readers, publishers and committing schedulers on one cache. No pod is lost or doubled, no node is over
// its capacity, no rule is broken, the events replay to the same state, and no goroutine is left.
func TestEverybodyAtOnce(t *testing.T) {
	limit := *stressFor
	if limit == 0 {
		if limit = time.Second; invariants.Enabled {
			limit = 5 * time.Second
		}
	}
	goroutines := runtime.NumGoroutine()
	c, err := cache.New(cache.Config{MaxShards: 4, History: 1 << 20})
	must(t, err)
	for i := range stressNodes {
		must(t, c.AddNode(stressNode(i, i%3)))
	}
	s := &stress{cache: c}
	var all sync.WaitGroup
	for id := range stressWriters {
		all.Go(func() { s.fail(s.write(id)) })
	}
	for id := range stressReaders {
		all.Go(func() { s.fail(s.read(id%2 == 0)) })
	}
	for id := range stressSchedulers {
		all.Go(func() { s.fail(s.schedule(id)) })
	}
	var events []cache.Event
	for start := time.Now(); time.Since(start) < limit && !s.stop.Load(); runtime.Gosched() {
		more, ok := c.EventsSince(uint64(len(events)))
		if !ok {
			t.Error("events were lost")
		}
		events = append(events, more...)
	}
	s.stop.Store(true)
	all.Wait()
	if fault := s.fault.Load(); fault != nil {
		t.Fatal(*fault)
	}
	more, _ := c.EventsSince(uint64(len(events)))
	must(t, replays(append(events, more...), c), sound(c.Publish()), apart(c.Publish()))
	s.account(t)
	if left := runtime.NumGoroutine(); left > goroutines {
		t.Errorf("%d goroutines, %d before", left, goroutines)
	}
	t.Logf("%d events, %d pods committed", c.Version(), s.commits.Load())
}

// account compares the pods with what everybody knows to be there.
func (s *stress) account(t *testing.T) {
	want := make(map[berth.PodKey]string)
	for _, mine := range s.written {
		for k, on := range mine {
			want[k] = on
		}
	}
	s.scheduled.Range(func(k, on any) bool { want[k.(berth.PodKey)] = on.(string); return true })
	got := 0
	for p := range s.cache.Publish().Pods() {
		got++
		if want[p.Key()] != p.NodeName {
			t.Errorf("%v is on %s, want %q", p.Key(), p.NodeName, want[p.Key()])
		}
	}
	if got != len(want) {
		t.Errorf("%d pods, want %d", got, len(want))
	}
}

// TestACommitThatIsOvertakenAgainAndAgainGetsThrough: its decision takes longer than the others' changes.
func TestACommitThatIsOvertakenAgainAndAgainGetsThrough(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 64)), c.AddNode(node("n2", 64)))
	r, err := c.NewReplica()
	must(t, err)
	txn, err := r.Begin()
	must(t, err)
	for i := range 100 {
		must(t, txn.Place(pod(fmt.Sprint("p", i), "", 100), "n1"))
	}
	var all sync.WaitGroup
	var stop atomic.Bool
	for w := range 4 {
		all.Go(func() {
			for i := 0; !stop.Load(); i++ {
				p := pod(fmt.Sprintf("w%d-%d", w, i), "n2", 1)
				if c.AddPod(p) != nil || c.RemovePod(p.Key()) != nil {
					t.Error("can't add and remove", p.Name)
				}
			}
		})
	}
	err = txn.Commit()
	stop.Store(true)
	all.Wait()
	must(t, err)
	if m, _ := c.Metrics("n1"); m.Pods() != 100 {
		t.Errorf("%d pods, want 100", m.Pods())
	}
	must(t, r.Sync())
	if n := slices.Index(nodeNames(c.Publish()), "n1"); n != 0 || r.Graph().Pods() != 100 {
		t.Errorf("the replica has %d pods", r.Graph().Pods())
	}
}
