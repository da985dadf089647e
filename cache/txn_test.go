package cache_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

func newReplica(t *testing.T, c *cache.Cache) *cache.Replica {
	t.Helper()
	r, err := c.NewReplica()
	must(t, err)
	return r
}

func begin(t *testing.T, r *cache.Replica) *cache.Txn {
	t.Helper()
	txn, err := r.Begin()
	must(t, err)
	return txn
}

// Two schedulers see the same room and both take it: the second is refused, decides again on what conflicted, and keeps the rest.
func TestTwoSchedulersDoNotTakeTheSameRoom(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 2)), c.AddNode(node("n2", 2)))
	first, second := begin(t, newReplica(t, c)), begin(t, newReplica(t, c))
	must(t, first.Place(pod("a", "", 1500), "n1"))
	must(t, second.Place(pod("b", "", 1000), "n1"), second.Place(pod("c", "", 500), "n2"))
	must(t, first.Commit())

	err := second.Commit()
	var conflicts *cache.ConflictError
	if !errors.As(err, &conflicts) || len(conflicts.Conflicts) != 1 {
		t.Fatalf("%v, want one conflict", err)
	}
	got := conflicts.Conflicts[0]
	if got.Pod.Name != "b" || got.Rule != affinity.NodeResourcesFit || !errors.Is(got.Err, cache.ErrRefused) || len(got.Reason.Shortfalls) != 1 ||
		got.Reason.Shortfalls[0].Used != 1500 {
		t.Errorf("conflict %+v", got)
	}
	if want := "cache: 1 conflicts at version 3; cache: placement refused: pod default/b on node \"n1\": NodeResourcesFit"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	wantUsed(t, c, "n2", 0, 0) // nothing is committed
	must(t, second.Place(pod("b", "", 1000), "n2"), second.Commit())
	wantUsed(t, c, "n1", 1500, 1)
	wantUsed(t, c, "n2", 1500, 2)
}

// conflicting makes a transaction on a cache with the nodes n1 and n2 and the pod a on n1, lets something else happen, and commits.
func TestWhatStandsAgainstACommit(t *testing.T) {
	apart := pod("apart", "", 1)
	apart.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{{
		TopologyKey: berth.LabelHostname, LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
	}}}}
	labelled := pod("x", "n2", 1)
	labelled.Labels = map[string]string{"app": "a"}
	moved := pod("a", "n2", 100)
	gpu := gpuPod("g", "", 1, 1000, 1)
	for _, tc := range []struct {
		name  string
		txn   func(*cache.Txn) error
		else_ func(*cache.Cache) error
		want  error
	}{
		{"a rule that is broken now", func(x *cache.Txn) error { return x.Place(apart, "n2") }, func(c *cache.Cache) error { return c.AddPod(labelled) }, cache.ErrRefused},
		{"the node is cordoned now", func(x *cache.Txn) error { return x.Place(pod("b", "", 1), "n2") }, func(c *cache.Cache) error {
			n := node("n2", 4)
			n.Unschedulable = true
			return c.UpdateNode(n)
		}, cache.ErrRefused},
		{"the node is gone", func(x *cache.Txn) error { return x.Place(pod("b", "", 1), "n2") }, func(c *cache.Cache) error { return c.RemoveNode("n2") }, cache.ErrUnknownNode},
		{"the pod is placed already", func(x *cache.Txn) error { return x.Place(pod("b", "", 1), "n2") }, func(c *cache.Cache) error { return c.AddPod(pod("b", "n1", 1)) }, cache.ErrPodExists},
		{"the device is taken", func(x *cache.Txn) error { return x.Place(gpu, "gpus") }, func(c *cache.Cache) error { return c.AddPod(gpuPod("h", "gpus", 1, 1000, 1)) }, affinity.ErrDevices},
		{"the victim is gone", func(x *cache.Txn) error { return x.Evict(key("a")) }, func(c *cache.Cache) error { return c.RemovePod(key("a")) }, cache.ErrUnknownPod},
		{"the victim is elsewhere", func(x *cache.Txn) error { return x.Evict(key("a")) }, func(c *cache.Cache) error { return c.UpdatePod(moved) }, cache.ErrPodMoved},
		{"the updated pod is gone", func(x *cache.Txn) error { return x.UpdatePod(pod("a", "n1", 7)) }, func(c *cache.Cache) error { return c.RemovePod(key("a")) }, cache.ErrUnknownPod},
		{"the node is there already", func(x *cache.Txn) error { return x.AddNode(node("n3", 1)) }, func(c *cache.Cache) error { return c.AddNode(node("n3", 2)) }, cache.ErrNodeExists},
		{"the node was changed", func(x *cache.Txn) error { return x.Cordon("n1", true) }, func(c *cache.Cache) error { return c.UpdateNode(node("n1", 9)) }, cache.ErrNodeChanged},
		{"the changed node is gone", func(x *cache.Txn) error { return x.Cordon("n1", true) }, func(c *cache.Cache) error { return c.RemoveNode("n1") }, cache.ErrUnknownNode},
		{"the removed node is gone", func(x *cache.Txn) error { return x.RemoveNode("n1") }, func(c *cache.Cache) error { return c.RemoveNode("n1") }, cache.ErrUnknownNode},
		{"nothing: it does not matter", func(x *cache.Txn) error { return x.Place(apart, "n2") }, func(c *cache.Cache) error { return c.AddPod(pod("x", "n2", 1)) }, nil},
		{"nothing: the victim was updated where it is", func(x *cache.Txn) error { return x.Evict(key("a")) }, func(c *cache.Cache) error { return c.UpdatePod(pod("a", "n1", 300)) }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCache(t)
			must(t, c.AddNode(node("n1", 4)), c.AddNode(node("n2", 4)), c.AddNode(gpuNode("gpus", 2)), c.AddPod(pod("a", "n1", 100)))
			txn := begin(t, newReplica(t, c))
			must(t, txn.Place(pod("other", "", 1), "gpus"), tc.txn(txn), tc.else_(c))
			before := contents(c.Publish())
			err := txn.Commit()
			if tc.want == nil {
				must(t, err)
				return
			}
			var conflicts *cache.ConflictError
			if !errors.As(err, &conflicts) || len(conflicts.Conflicts) != 1 || !errors.Is(conflicts.Conflicts[0].Err, tc.want) {
				t.Fatalf("%v, want one conflict: %v", err, tc.want)
			}
			if after := contents(c.Publish()); after != before {
				t.Errorf("a refused commit changed the cache from\n%s\nto\n%s", before, after)
			}
			must(t, txn.Commit()) // what is left
			if p, ok := c.Pod(key("other")); !ok || !p.Assumed || p.Spec.NodeName != "gpus" {
				t.Errorf("what did not conflict is %+v", p)
			}
		})
	}
}

func TestACommitAsksTheCallersOwnCheck(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)), c.AddNode(node("n2", 4)))
	r := newReplica(t, c)
	no := errors.New("two on a node")
	r.SetCheck(func(p *berth.Pod, on string) error {
		n, _ := r.Graph().Topology().Lookup(on)
		if _, pods := r.Graph().Amount(n, berth.ResourcePods); pods > 0 {
			return no
		}
		return nil
	})
	txn := begin(t, r)
	must(t, txn.Place(pod("a", "", 1), "n1"), txn.Place(pod("b", "", 1), "n2"), c.AddPod(pod("c", "n1", 1)))
	var conflicts *cache.ConflictError
	if err := txn.Commit(); !errors.As(err, &conflicts) || len(conflicts.Conflicts) != 1 {
		t.Fatal(err)
	}
	if got := conflicts.Conflicts[0]; got.Pod.Name != "a" || !errors.Is(got.Err, no) || !errors.Is(got.Err, cache.ErrRefused) || got.Rule != affinity.Feasible {
		t.Errorf("%+v", got)
	}
	must(t, txn.Commit())
	wantUsed(t, c, "n2", 1, 1)
}

func TestAThousandNestedSavepoints(t *testing.T) {
	c := newCache(t)
	for i := range 20 {
		must(t, c.AddNode(node(fmt.Sprint("n", i), 1000)))
	}
	r := newReplica(t, c)
	txn := begin(t, r)
	var saves []cache.Savepoint
	for i := range 1000 {
		saves = append(saves, txn.Savepoint())
		must(t, txn.Place(pod(fmt.Sprint("p", i), "", 10), fmt.Sprint("n", i%20)))
	}
	for _, i := range []int{999, 998, 500, 17, 0} {
		must(t, txn.RollbackTo(saves[i]))
		if got := r.Graph().Pods(); got != i {
			t.Errorf("%d pods at savepoint %d", got, i)
		}
		if i < 999 {
			if err := txn.RollbackTo(saves[i+1]); !errors.Is(err, cache.ErrSavepoint) {
				t.Errorf("a later savepoint: %v", err)
			}
		}
	}
	must(t, txn.Rollback())
	if c.Version() != 20 || c.Publish().Version() != 20 {
		t.Errorf("a what-if changed the cache: version %d", c.Version())
	}
}

func TestScheduleDecidesAgainOnlyWhatConflicted(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 2)), c.AddNode(node("n2", 8)))
	r := newReplica(t, c)
	var asked []string
	full := errors.New("never")
	placed, err := r.Schedule([]*berth.Pod{pod("a", "", 2000), pod("b", "", 1000), pod("c", "", 1)}, 5, func(p *berth.Pod) (string, error) {
		asked = append(asked, p.Name)
		switch {
		case p.Name == "c":
			return "", full
		case len(asked) == 1:
			must(t, c.AddPod(pod("else", "n1", 1500))) // while a is on its way to n1
			return "n1", nil
		}
		return "n2", nil
	})
	must(t, err)
	if want := []string{"a", "b", "c", "a"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	if placed[0].Node != "n2" || placed[1].Node != "n2" || placed[2].Err != full || placed[2].Node != "" {
		t.Errorf("%+v", placed)
	}
	wantUsed(t, c, "n2", 3000, 2)

	// After the last attempt a conflict is the answer, and the rest is committed all the same.
	n := 0
	placed, err = r.Schedule([]*berth.Pod{pod("d", "", 400), pod("e", "", 100)}, 1, func(p *berth.Pod) (string, error) {
		if n++; n == 1 {
			must(t, c.AddPod(pod("more", "n1", 400)))
			return "n1", nil
		}
		return "n2", nil
	})
	must(t, err)
	if !errors.Is(placed[0].Err, cache.ErrRefused) || placed[1].Err != nil || n != 2 {
		t.Errorf("%+v after %d decisions", placed, n)
	}
	wantUsed(t, c, "n2", 3100, 3)
}

func TestAReplicaHasOneTransaction(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 2)))
	r := newReplica(t, c)
	txn := begin(t, r)
	if _, err := r.Begin(); !errors.Is(err, cache.ErrOpen) {
		t.Error(err)
	}
	if err := r.Sync(); !errors.Is(err, cache.ErrOpen) {
		t.Error(err)
	}
	if _, err := r.Schedule(nil, 1, nil); !errors.Is(err, cache.ErrOpen) {
		t.Error(err)
	}
	if _, err := r.Decide(pod("a", "", 1), nil); !errors.Is(err, cache.ErrOpen) {
		t.Error(err)
	}
	save := txn.Savepoint()
	must(t, txn.Commit())
	n := node("n2", 1)
	for what, err := range map[string]error{
		"place": txn.Place(pod("a", "", 1), "n1"), "evict": txn.Evict(key("a")), "update pod": txn.UpdatePod(pod("a", "n1", 1)), "add": txn.AddNode(n),
		"update": txn.UpdateNode(n), "cordon": txn.Cordon("n1", true), "remove": txn.RemoveNode("n1"), "roll back to": txn.RollbackTo(save),
		"roll back": txn.Rollback(), "commit": txn.Commit(), "decide": txn.Decide(pod("a", "", 1), nil),
	} {
		if !errors.Is(err, cache.ErrDone) {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	txn = begin(t, r)
	if err := txn.RollbackTo(save); !errors.Is(err, cache.ErrSavepoint) {
		t.Errorf("a savepoint of another transaction: %v", err)
	}
}

// A snapshot that is held costs only what differs from the latest.
func TestAHeldSnapshotSharesWhatIsTheSame(t *testing.T) {
	c := newCache(t)
	const nodes = 20_000
	for i := range nodes {
		must(t, c.AddNode(node(fmt.Sprintf("n%05d", i), 4)))
	}
	held := []*cache.Snapshot{c.Publish()}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100 {
		must(t, c.AddPod(pod(fmt.Sprint("p", i), fmt.Sprintf("n%05d", i*97), 1)))
		held = append(held, c.Publish())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 100*16<<10 {
		t.Errorf("100 snapshots take %d bytes", grown)
	}
	for i, s := range held {
		if _, pods := s.Len(); pods != i {
			t.Errorf("snapshot %d has %d pods", i, pods)
		}
	}
}

func TestDumpsTellWhatIsThere(t *testing.T) {
	c := newCache(t)
	n := node("n1", 4)
	n.Labels[berth.LabelZone] = "a"
	must(t, c.AddNode(n), c.AddPod(pod("early", "n9", 1)), c.Assume(pod("a", "", 100), "n1"), c.Nominate(pod("w", "", 1), "n1"))
	r := newReplica(t, c)
	txn := begin(t, r)
	must(t, txn.Place(pod("b", "", 1), "n1"), txn.Evict(key("a")))
	for what, tc := range map[string]struct{ got, want string }{
		"snapshot": {c.Publish().String(), `version 4: 1 nodes, 2 pods, 1 nominations, 0 namespaces
n1: 100/4000m cpu, 0/8589934592 memory, 1/110 pods
  default/a assumed
  default/w nominated
n9: unknown
  default/early
`},
		"shards": {c.Shards(), `shard without topology.kubernetes.io/zone: 0 nodes, 1 unknown, 1 pods
  n9: unknown
    default/early
shard topology.kubernetes.io/zone=a: 1 nodes, 0 unknown, 1 pods
  n1: 100m cpu, 0 memory, 1 pods
    default/a assumed
`},
		"transaction": {txn.String(), `2 changes on version 4
PodAssumed default/b on n1
PodRemoved default/a
`},
	} {
		if tc.got != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", what, tc.got, tc.want)
		}
	}
	if s := strings.Count(txn.String(), "\n"); s != 3 {
		t.Error(s)
	}
}

// Two groups of three want four CPUs: one runs, the other holds nothing meanwhile, and a single pod takes the rest
// (koordinator#872).
func TestAGroupRunsTogetherOrNotAtAll(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 2)), c.AddNode(node("n2", 2)))
	r := newReplica(t, c)
	profile, err := r.Graph().NewProfile(affinity.ProfileConfig{})
	must(t, err)
	full := errors.New("no room")
	decide := func(p *berth.Pod) (string, error) {
		choice, ok, err := profile.Best(p)
		if !ok || err != nil {
			return "", errors.Join(full, err)
		}
		return r.Graph().Topology().Name(choice.Node), nil
	}
	group := func(name string, n int) (pods []*berth.Pod) {
		for i := range n {
			pods = append(pods, pod(fmt.Sprint(name, i), "", 1000))
		}
		return pods
	}
	txn := begin(t, r)
	for _, tc := range []struct {
		name      string
		pods, min int
		placed    bool
		fit       int
	}{{"a", 3, 3, true, 3}, {"b", 3, 3, false, 0}, {"c", 2, 1, true, 1}, {"d", 1, 1, false, 0}, {"e", 0, 0, true, 0}} {
		before := r.Graph().Pods()
		got, placed, err := txn.PlaceGroup(group(tc.name, tc.pods), tc.min, decide)
		must(t, err)
		fit := 0
		for _, p := range got {
			switch {
			case p.Err == nil && p.Node != "":
				fit++
			case p.Node != "" || !errors.Is(p.Err, full) && !errors.Is(p.Err, cache.ErrGroup):
				t.Errorf("group %s: %+v", tc.name, p)
			}
		}
		if placed != tc.placed || fit != tc.fit || len(got) != tc.pods || r.Graph().Pods() != before+fit {
			t.Errorf("group %s: placed %v, %d pods fit, %d are there; want %v, %d", tc.name, placed, fit, r.Graph().Pods()-before, tc.placed, tc.fit)
		}
	}
	must(t, txn.Commit())
	wantUsed(t, c, "n1", 2000, 2)
	wantUsed(t, c, "n2", 2000, 2)
}

// A scheduler that is overtaken again and again makes the others wait, and decides then in peace.
func TestASchedulerThatIsOvertakenTooOftenGetsItsTurn(t *testing.T) {
	c := newCache(t)
	for i := range 9 {
		must(t, c.AddNode(node(fmt.Sprint("n", i), 1)))
	}
	slow, quick := newReplica(t, c), newReplica(t, c)
	calls := 0
	var waits atomic.Bool
	var others sync.WaitGroup
	take := func(i int) error {
		on := fmt.Sprint("n", i)
		_, err := quick.Decide(pod("q"+on, "", 1000), func(*berth.Pod) (string, error) { return on, nil })
		return err
	}
	on, err := slow.Decide(pod("s", "", 1000), func(*berth.Pod) (string, error) {
		calls++
		if calls <= 5 {
			must(t, take(calls)) // the quick one is always there before
			return fmt.Sprint("n", calls), nil
		}
		waits.Store(true)
		others.Go(func() {
			if err := take(6); !errors.Is(err, cache.ErrRefused) && err != nil {
				t.Error(err)
			}
			waits.Store(false)
		})
		for range 1000 {
			runtime.Gosched()
		}
		if !waits.Load() {
			t.Error("another commit came between")
		}
		return "n7", nil
	})
	others.Wait()
	if err != nil || on != "n7" || calls != 6 {
		t.Errorf("%q %v after %d calls", on, err, calls)
	}
}
