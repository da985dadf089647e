package cache_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
)

// gpuNode offers GPUs, and room for any pod.
func gpuNode(name string, count int) *berth.Node {
	n := node(name, 64)
	n.GPUs = berth.GPUs{Model: "T4", Count: count}
	return n
}

// gpuPod asks for GPUs; devices are those that it is seen to hold.
func gpuPod(name, on string, count int, milli int64, devices ...int) *berth.Pod {
	p := pod(name, on, 10)
	p.GPU = berth.GPURequest{Count: count, Milli: milli, Devices: devices}
	return p
}

// devices returns the GPUs that a pod holds on the live graph, and fails if those of a snapshot's graph differ.
func devices(t *testing.T, c *cache.Cache, name string) []int {
	t.Helper()
	p, _ := c.Pod(key(name))
	var live []int
	if p.Spec != nil && !p.Hidden {
		live = p.Spec.GPU.Devices
	}
	g, err := c.Publish().Graph()
	must(t, err)
	if copied := g.Devices(key(name)); !slices.Equal(live, copied) {
		t.Errorf("%s holds %v, in a copy %v", name, live, copied)
	}
	return live
}

func wantDevices(t *testing.T, c *cache.Cache, name string, want ...int) {
	t.Helper()
	if got := devices(t, c, name); !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", name, got, want)
	}
}

// TestPodsThatCameBeforeTheirNodeKeepTheGPUsTheyGet: what a pod was given when its node appeared stays its own, in
// copies too, and when pods before it in the order of names have gone.
func TestPodsThatCameBeforeTheirNodeKeepTheGPUsTheyGet(t *testing.T) {
	c := newCache(t)
	must(t, c.AddPod(gpuPod("a", "n", 1, 1000)), c.AddPod(gpuPod("b", "n", 1, 1000)), c.AddNode(gpuNode("n", 2)))
	wantDevices(t, c, "a", 0)
	wantDevices(t, c, "b", 1)
	must(t, c.RemovePod(key("a")))
	wantDevices(t, c, "b", 1)
	must(t, c.RemoveNode("n"), c.AddNode(gpuNode("n", 2)))
	wantDevices(t, c, "b", 1)
}

// TestPodsThatNameTheirGPUsComeFirst: a pod that leaves the choice open does not take what another is seen to hold.
func TestPodsThatNameTheirGPUsComeFirst(t *testing.T) {
	c := newCache(t)
	must(t, c.AddPod(gpuPod("a", "n", 1, 1000)), c.AddPod(gpuPod("b", "n", 1, 1000, 0)), c.AddNode(gpuNode("n", 2)))
	wantDevices(t, c, "a", 1)
	wantDevices(t, c, "b", 0)
}

// TestARefusedUpdateOfAHiddenPodKeepsItsGPUs: what a pod held before its node went is not forgotten.
func TestARefusedUpdateOfAHiddenPodKeepsItsGPUs(t *testing.T) {
	c := newCache(t)
	must(t, c.AddPod(gpuPod("a", "n", 1, 1000, 1)))
	bad := gpuPod("a", "n", 1, 1000)
	bad.Requests.MilliCPU = -1
	if err := c.UpdatePod(bad); !errors.Is(err, berth.ErrInvalid) {
		t.Error(err)
	}
	must(t, c.AddNode(gpuNode("n", 2)))
	wantDevices(t, c, "a", 1)
}

// TestAnUpdateWithoutDevicesKeepsThem, whether or not the node is known, as long as the request is the same.
func TestAnUpdateWithoutDevicesKeepsThem(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		t.Run(fmt.Sprint("hidden ", hidden), func(t *testing.T) {
			c := newCache(t)
			must(t, c.AddNode(gpuNode("n", 4)), c.AddPod(gpuPod("a", "n", 2, 1000, 1, 3)))
			if hidden {
				must(t, c.RemoveNode("n"))
			}
			labelled := gpuPod("a", "n", 2, 1000)
			labelled.Labels = map[string]string{"app": "web"}
			must(t, c.UpdatePod(labelled))
			if hidden {
				must(t, c.AddNode(gpuNode("n", 4)))
			}
			wantDevices(t, c, "a", 1, 3)
			must(t, c.UpdatePod(gpuPod("a", "n", 1, 1000)))
			wantDevices(t, c, "a", 0)
		})
	}
}

// TestConfirmationKeepsTheGPUsThatWereAssumed on the same node; on another they are chosen there.
func TestConfirmationKeepsTheGPUsThatWereAssumed(t *testing.T) {
	for _, on := range []string{"n", "m"} {
		c := newCache(t)
		must(t, c.AddNode(gpuNode("n", 4)), c.AddNode(gpuNode("m", 4)), c.Assume(gpuPod("a", "", 1, 300, 2), "n"), c.AddPod(gpuPod("a", on, 1, 300)))
		wantDevices(t, c, "a", map[string]int{"n": 2, "m": 0}[on])
	}
}

// TestDecideMayChooseGPUs: the pod is read after the decision.
func TestDecideMayChooseGPUs(t *testing.T) {
	c := newCache(t)
	p := gpuPod("a", "", 1, 500)
	must(t, c.AddNode(gpuNode("n", 4)))
	r, err := c.NewReplica()
	must(t, err)
	_, err = r.Decide(p, func(p *berth.Pod) (string, error) {
		p.GPU.Devices = []int{3}
		return "n", nil
	})
	must(t, err)
	wantDevices(t, c, "a", 3)
	full := errors.New("full")
	before := c.Publish()
	if _, err := r.Decide(gpuPod("b", "", 1, 500), func(*berth.Pod) (string, error) { return "n", full }); err != full {
		t.Errorf("%v is not the error as it was", err)
	}
	if c.Publish() != before {
		t.Error("a decision that failed changed something")
	}
}

// TestAPreparedPodMayBeGivenGPUsWhenItIsDecided, and other ones when it is decided again.
func TestAPreparedPodMayBeGivenGPUsWhenItIsDecided(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(gpuNode("n", 4)))
	r := newReplica(t, c)
	w := prepared(t, r, gpuPod("a", "", 1, 500))
	for _, device := range []int{3, 1} {
		_, err := r.DecidePrepared(w, func(w *affinity.Prepared) (string, error) {
			w.Pod().GPU.Devices = []int{device}
			return "n", nil
		})
		must(t, err)
		wantDevices(t, c, "a", device)
		must(t, c.Forget(w.Pod().Key()))
	}
}

// TestARefusedEventChangesNoVersion: nobody need look again.
func TestARefusedEventChangesNoVersion(t *testing.T) {
	c := newCache(t)
	must(t, c.AddNode(gpuNode("n", 2)), c.AddPod(gpuPod("a", "n", 1, 1000)), c.AddPod(gpuPod("b", "n", 1, 1000)))
	before := c.Publish()
	if err := c.UpdatePod(gpuPod("a", "n", 1, 1000, 1)); !errors.Is(err, affinity.ErrDevices) {
		t.Error(err)
	}
	if c.Publish() != before {
		t.Error("the snapshot was made anew")
	}
	wantDevices(t, c, "a", 0)
}

// TestGPUsOfLiveGraphAndCopyAgree sends random events about pods with GPUs; after each, a copy of the state gives every
// pod the devices that it has, and no device is promised beyond what it is.
func TestGPUsOfLiveGraphAndCopyAgree(t *testing.T) {
	for seed := range uint64(20 * *steps) {
		rng := rand.New(rand.NewPCG(seed, 8))
		c := newCache(t)
		for range 120 {
			on, name := fmt.Sprint("n", rng.IntN(3)), fmt.Sprint("p", rng.IntN(10))
			p := gpuPod(name, on, 1, int64(1+rng.IntN(9))*100)
			if rng.IntN(2) == 0 {
				p.GPU = berth.GPURequest{Count: 1 + rng.IntN(2), Milli: berth.GPUMilli}
			}
			switch rng.IntN(8) { // errors are part of it
			case 0:
				_ = c.AddNode(gpuNode(on, 2+rng.IntN(4)))
			case 1:
				_ = c.RemoveNode(on)
			case 2, 3:
				_ = c.AddPod(p)
			case 4:
				_ = c.Assume(p, on)
			case 5:
				_ = c.UpdatePod(p)
			case 6:
				_ = c.RemovePod(key(name))
			case 7:
				_ = c.UpdateNode(gpuNode(on, 1+rng.IntN(5)))
			}
			for i := range 10 {
				devices(t, c, fmt.Sprint("p", i))
			}
			must(t, do(c, func(g *affinity.Graph) error {
				for n := range g.Topology().Live().All() {
					if free := g.GPUFree(n); len(free) > 0 && slices.Min(free) < 0 {
						return fmt.Errorf("free %v", free)
					}
				}
				return nil
			}))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
