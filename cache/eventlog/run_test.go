package eventlog

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/invariants"
)

var steps = flag.Int("berth.steps", 1, "how many times longer the tests of random and damaged logs run")

// stride is how far apart the bytes are that are damaged one by one: all, or some where tests are slow.
func stride() int {
	if invariants.Enabled {
		return 7
	}
	return 1
}

// run is the true history of a random cache: what the log of it must lead to.
type run struct {
	events    []cache.Event
	snapshots []*cache.Snapshot // by version; nil between two events of one call, as when several pods expire
}

// recorded makes random changes of every kind until there are n events.
func recorded(t testing.TB, seed uint64, o gen.Options, n int) *run {
	t.Helper()
	c := empty(t)
	h := &run{snapshots: []*cache.Snapshot{c.Publish()}}
	d := newDriver(seed, o)
	for len(h.events) < n {
		d.step(c)
		events, ok := c.EventsSince(uint64(len(h.events)))
		require.True(t, ok)
		for range events {
			h.snapshots = append(h.snapshots, nil)
		}
		h.snapshots[len(h.snapshots)-1] = c.Publish()
		h.events = append(h.events, events...)
	}
	return h
}

func empty(t testing.TB) *cache.Cache {
	t.Helper()
	c, err := cache.New(cache.Config{})
	require.NoError(t, err)
	return c
}

// log returns the log of the whole run, and where its records end.
func (h *run) log(t testing.TB) (log []byte, ends []int64) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range h.events {
		require.NoError(t, w.Append(e))
		ends = append(ends, w.Position().Offset)
	}
	return b.Bytes(), ends
}

// is checks that a cache has the state of the run at a version.
func (h *run) is(t testing.TB, c *cache.Cache, version uint64) {
	t.Helper()
	require.Equal(t, version, c.Version())
	if want := h.snapshots[version]; want != nil {
		require.Equal(t, want.Digest(), c.Publish().Digest(), "version %d", version)
	}
}

// driver makes random changes; those that the cache refuses are none.
type driver struct {
	rng  *rand.Rand
	g    *gen.Generator
	pods []berth.Pod // some of which are placed
	node []berth.Node
	now  time.Time
}

func newDriver(seed uint64, o gen.Options) *driver {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := &driver{rng: rng, g: gen.New(rng, o), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	for range 6 {
		d.node = append(d.node, d.g.Node())
	}
	for range 12 {
		d.pods = append(d.pods, d.g.Pod())
	}
	return d
}

// step makes one change, perhaps none.
func (d *driver) step(c *cache.Cache) {
	node, pod := d.node[d.rng.IntN(len(d.node))], d.pods[d.rng.IntN(len(d.pods))]
	switch d.rng.IntN(16) {
	case 0:
		d.commit(c)
		return
	case 1, 2, 3, 4:
	default:
		d.pod(c, &node, &pod)
		return
	}
	switch d.rng.IntN(6) {
	case 0, 1:
		_ = c.AddNode(&node)
	case 2:
		next := d.g.Node()
		next.Name = node.Name
		_ = c.UpdateNode(&next)
	case 3:
		_ = c.RemoveNode(node.Name)
	case 4:
		_ = c.SetNamespace(&berth.Namespace{Name: pod.Namespace, Labels: map[string]string{"tier": node.Name}})
	case 5:
		c.RemoveNamespace(pod.Namespace)
	}
}

func (d *driver) pod(c *cache.Cache, node *berth.Node, pod *berth.Pod) {
	pod.NodeName = node.Name
	switch d.rng.IntN(10) {
	case 0, 1:
		_ = c.AddPod(pod)
	case 2:
		next := d.g.Pod()
		next.Namespace, next.Name, next.NodeName = pod.Namespace, pod.Name, node.Name
		next.StartTime = d.now.In(time.FixedZone("there", d.rng.IntN(7200)))
		_ = c.UpdatePod(&next)
	case 3:
		_ = c.RemovePod(pod.Key())
	case 4:
		_ = c.Assume(pod, node.Name)
	case 5:
		_ = c.AssumeUntil(pod, node.Name, d.now.Add(time.Duration(d.rng.IntN(100))*time.Millisecond))
	case 6:
		_ = c.Forget(pod.Key())
	case 7:
		_ = c.Nominate(pod, node.Name)
	case 8:
		c.Denominate(pod.Key())
	case 9:
		d.now = d.now.Add(10 * time.Millisecond)
		c.Advance(d.now)
	}
}

// commit makes several changes in one transaction.
func (d *driver) commit(c *cache.Cache) {
	r, err := c.NewReplica()
	if err != nil {
		panic(err)
	}
	t, err := r.Begin()
	if err != nil {
		panic(err)
	}
	for range 1 + d.rng.IntN(4) {
		node, pod := d.node[d.rng.IntN(len(d.node))], d.pods[d.rng.IntN(len(d.pods))]
		switch d.rng.IntN(6) {
		case 0, 1:
			_ = t.Place(&pod, node.Name)
		case 2:
			_ = t.Evict(pod.Key())
		case 3:
			_ = t.AddNode(&node)
		case 4:
			_ = t.RemoveNode(node.Name)
		case 5:
			_ = t.Cordon(node.Name, d.rng.IntN(2) == 0)
		}
	}
	_ = t.CommitUntil(d.now.Add(time.Second))
}
