package cache_test

import (
	"errors"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

func prepared(t *testing.T, r *cache.Replica, p *berth.Pod) *cache.Prepared {
	t.Helper()
	w, err := r.Prepare(p)
	must(t, err)
	return w
}

// decideOn decides on a prepared pod, always for the same node.
func decideOn(r *cache.Replica, w *cache.Prepared, node string) error {
	_, err := r.DecidePrepared(w, func(*affinity.Prepared) (string, error) { return node, nil })
	return err
}

func TestAPreparedPodIsPlacedAsAnyOther(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)))
	r := newReplica(t, c)
	w := prepared(t, r, pod("p", "", 100))
	must(t, c.AddNode(node("n2", 4))) // after it was prepared
	must(t, decideOn(r, w, "n2"))
	wantUsed(t, c, "n2", 100, 1)
	if state, ok := c.Pod(w.Pod().Key()); !ok || !state.Assumed || state.Spec.NodeName != "n2" || w.Pod().NodeName != "" {
		t.Errorf("the cache has %+v", state)
	}
	if err := decideOn(r, w, "n1"); !errors.Is(err, cache.ErrPodExists) {
		t.Errorf("placed twice: %v", err)
	}
}

// TestAPreparedPodIsPlacedAgainOnceItIsGone: what the cache has of the first time is not touched.
func TestAPreparedPodIsPlacedAgainOnceItIsGone(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 4)), c.AddNode(node("n2", 4)))
	r := newReplica(t, c)
	w := prepared(t, r, pod("p", "", 100))
	must(t, decideOn(r, w, "n1"))
	before, _ := c.Pod(w.Pod().Key())
	must(t, c.Forget(w.Pod().Key()), decideOn(r, w, "n2"))
	wantUsed(t, c, "n1", 0, 0)
	wantUsed(t, c, "n2", 100, 1)
	if before.Spec.NodeName != "n1" {
		t.Errorf("the first placement became one on %q", before.Spec.NodeName)
	}
}

func TestAPodPreparedByOneReplicaIsPlacedByAnother(t *testing.T) {
	for name, other := range map[string]*cache.Cache{"of the same cache": nil, "of another cache": newCache(t)} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t)
			if other == nil {
				other = c
			}
			must(t, c.AddNode(node("n", 4)))
			w := prepared(t, newReplica(t, other), pod("p", "", 100))
			must(t, decideOn(newReplica(t, c), w, "n"))
			wantUsed(t, c, "n", 100, 1)
			if _, ok := c.Pod(w.Pod().Key()); !ok {
				t.Error("the cache does not find it")
			}
		})
	}
}

// TestAPreparedPodThatIsOvertakenIsDecidedAgain: the room that it was to get is gone when it is committed.
func TestAPreparedPodThatIsOvertakenIsDecidedAgain(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(node("n1", 1)), c.AddNode(node("n2", 1)))
	r := newReplica(t, c)
	w := prepared(t, r, pod("p", "", 1000))
	calls := 0
	on, err := r.DecidePrepared(w, func(inner *affinity.Prepared) (string, error) {
		if inner.Pod() != w.Pod() {
			t.Error("decide gets another pod")
		}
		calls++
		if calls == 1 {
			must(t, c.Assume(pod("quick", "", 1000), "n1"))
			return "n1", nil
		}
		return "n2", nil
	})
	if err != nil || on != "n2" || calls != 2 {
		t.Errorf("%q %v after %d calls", on, err, calls)
	}
	wantUsed(t, c, "n1", 1000, 1)
	wantUsed(t, c, "n2", 1000, 1)
}

func TestPrepareRefusesABadPod(t *testing.T) {
	r := newReplica(t, newCache(t))
	var fault *berth.Fault
	if _, err := r.Prepare(&berth.Pod{Name: "p"}); !errors.As(err, &fault) {
		t.Errorf("a pod without a namespace: %v", err)
	}
	nowhere := func(*affinity.Prepared) (string, error) { return "nowhere", nil }
	if node, err := r.DecidePrepared(prepared(t, r, pod("p", "", 100)), nowhere); !errors.Is(err, cache.ErrUnknownNode) || node != "" {
		t.Errorf("an unknown node: %q, %v", node, err)
	}
}
