package cache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

// restorable is the state of a cache at version 9 in which pod b was assumed before its node went away.
func restorable() *cache.State {
	return &cache.State{
		Version:    9,
		Namespaces: []*berth.Namespace{{Name: "default"}},
		Nodes:      []*berth.Node{driftNode("n1", nil)},
		Pods: []cache.PodState{
			{Spec: driftPod("a", "n1", gpus(0))},
			{Spec: driftPod("b", "gone", gpus(0)), Assumed: true, Deadline: time.Unix(9, 0)},
		},
		Nominations: []cache.Nomination{{Pod: driftPod("c", "", nil), Node: "n1"}},
	}
}

func TestRestore(t *testing.T) {
	c, err := cache.New(cache.Config{})
	require.NoError(t, err)
	require.NoError(t, c.Restore(restorable()))
	require.Equal(t, uint64(9), c.Version())
	s := c.Publish()
	require.Equal(t, uint64(9), s.Version())
	want := restorable()
	a, _ := s.Pod(want.Pods[0].Spec.Key())
	require.Equal(t, want.Pods[0], a)
	b, _ := s.Pod(want.Pods[1].Spec.Key())
	want.Pods[1].Hidden = true
	require.Equal(t, want.Pods[1], b)

	_, ok := c.EventsSince(8)
	require.False(t, ok, "there are no events before the state")
	require.NoError(t, c.RemoveNode("n1"))
	events, ok := c.EventsSince(9)
	require.True(t, ok)
	require.Len(t, events, 1)
	require.Equal(t, uint64(10), events[0].Version)
	require.Equal(t, []berth.PodKey{b.Spec.Key()}, c.Advance(time.Unix(9, 0)))
	require.Equal(t, uint64(11), c.Publish().Version())
}

func TestRestoreToAReplica(t *testing.T) {
	c, err := cache.New(cache.Config{})
	require.NoError(t, err)
	r, err := c.NewReplica()
	require.NoError(t, err)
	require.NoError(t, c.Restore(restorable()))
	require.NoError(t, r.Sync())
	require.Equal(t, uint64(9), r.Version())
	_, ok := r.Node("n1")
	require.True(t, ok)
}

// TestRestoreOfWhatCannotBe leaves the cache empty, so that it can be given another state.
func TestRestoreOfWhatCannotBe(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cache.State)
		want   error
	}{
		{"fewer events than objects", func(s *cache.State) { s.Version = 4 }, cache.ErrVersion},
		{"a node twice", func(s *cache.State) { s.Nodes = append(s.Nodes, s.Nodes[0]) }, cache.ErrNodeExists},
		{"a node with a fault", func(s *cache.State) { s.Nodes[0] = &berth.Node{} }, berth.ErrInvalid},
		{"a namespace with a fault", func(s *cache.State) { s.Namespaces[0] = &berth.Namespace{} }, berth.ErrInvalid},
		{"a pod twice", func(s *cache.State) { s.Pods = append(s.Pods, s.Pods[0]) }, cache.ErrPodExists},
		{"a pod without a node", func(s *cache.State) { s.Pods[0].Spec = driftPod("a", "", nil) }, cache.ErrNoNode},
		{"a GPU of two pods", func(s *cache.State) { s.Pods[1].Spec = driftPod("b", "n1", gpus(0)) }, affinity.ErrDevices},
		{"a promise to a placed pod", func(s *cache.State) { s.Nominations[0].Pod = driftPod("a", "", nil) }, cache.ErrPodExists},
		{"a promise on an unknown node", func(s *cache.State) { s.Nominations[0].Node = "gone" }, cache.ErrUnknownNode},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := cache.New(cache.Config{})
			require.NoError(t, err)
			s := restorable()
			test.change(s)
			require.ErrorIs(t, c.Restore(s), test.want)
			require.Equal(t, uint64(0), c.Version())
			require.Equal(t, cache.Digest{}, c.Publish().Digest())
			require.NoError(t, c.Restore(restorable()))
			require.ErrorIs(t, c.Restore(restorable()), cache.ErrVersion)
			require.Equal(t, uint64(9), c.Publish().Version())
		})
	}
}
