package queue

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubequeue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-go/berth/heap"
)

var steps = flag.Int("steps", 20_000, "steps of the random differential")

// The plugins of the differential are no real ones: one whose hint depends on both objects, one without a hint, one about the
// pod itself, and a gate. What matters is that both queues are given the same.
const (
	hinted = "Hinted"
	plain  = "Plain"
	itself = "Itself"
	gate   = "Gate"
)

func testRules() []rule {
	parity := func(pod, other *v1.Pod) bool { return (len(pod.Labels["n"])+len(other.Labels["n"]))%2 == 0 }
	return []rule{
		{hinted, []fwk.ClusterEvent{{Resource: fwk.AssignedPod, ActionType: fwk.Delete}}, func(pod *v1.Pod, c change) bool { return parity(pod, c.oldPod) }},
		{plain, []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Add}, {Resource: fwk.AssignedPod, ActionType: fwk.Add}}, nil},
		{itself, []fwk.ClusterEvent{{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}}, func(pod *v1.Pod, c change) bool { return len(c.pod.Labels["n"]) > 1 }},
		{gate, []fwk.ClusterEvent{{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}}, nil},
	}
}

func gated(p *v1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 }

// kubeHints says the same to kube-scheduler's queue.
func kubeHints() kubequeue.QueueingHintMap {
	hints := kubequeue.QueueingHintMap{}
	for _, r := range testRules() {
		for _, event := range r.events {
			fn := func(_ klog.Logger, pod *v1.Pod, old, current any) (fwk.QueueingHint, error) {
				oldPod, _ := old.(*v1.Pod)
				currentPod, _ := current.(*v1.Pod)
				// Of a pod in flight that has changed others in flight hear too: a hint has to look whom it is about.
				if event.Resource == fwk.TargetPod && currentPod.UID != pod.UID {
					return fwk.QueueSkip, nil
				}
				if r.helps == nil || r.helps(pod, change{oldPod: oldPod, pod: currentPod}) {
					return fwk.Queue, nil
				}
				return fwk.QueueSkip, nil
			}
			hints[event] = append(hints[event], &kubequeue.QueueingHintFunction{PluginName: r.plugin, QueueingHintFn: fn})
		}
	}
	return hints
}

type gatePlugin struct{}

func (gatePlugin) Name() string { return gate }

func (gatePlugin) PreEnqueue(_ context.Context, p *v1.Pod) *fwk.Status {
	if gated(p) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "gated")
	}
	return nil
}

// What follows is not of interest to cases, but to the differential.

func (k *Kube) update(old, pod *v1.Pod) { k.queue.Update(k.ctx, old, pod) }

func (k *Kube) delete(pod *v1.Pod) { k.queue.Delete(k.log, pod) }

func (k *Kube) activate(pod *v1.Pod) { k.queue.Activate(k.log, map[string]*v1.Pod{pod.Name: pod}) }

func (k *Kube) done(pod *v1.Pod) {
	delete(k.inFlight, pod.Name)
	k.queue.Done(pod.UID)
}

// refresh does what the scheduler does before it gives a pod back: it looks up what has become of it.
func (k *Kube) refresh(pod *v1.Pod) error { return k.inFlight[pod.Name].PodInfo.Update(pod) }

func (b *Berth) update(old, pod *v1.Pod) error {
	var events []heap.Event[change]
	for _, kind := range framework.PodSchedulingPropertiesChange(pod, old, true) {
		events = append(events, heap.Event[change]{Kinds: kindOf(kind), Object: change{oldPod: old, pod: pod, target: true}})
	}
	return b.queue.Update(spec(pod), b.now, events...)
}

func (b *Berth) pass(by time.Duration) { b.now = b.now.Add(by) }

// pair drives both queues.
type pair struct {
	kube     *Kube
	berth    *Berth
	pods     map[string]*v1.Pod // the current objects
	inFlight []string
	deleted  map[string]bool // while in flight
	serial   int
	trail    []string
}

func newPair(t testing.TB) *pair {
	k := newKubeWith(kubeHints(), map[string]fwk.PreEnqueuePlugin{gate: gatePlugin{}})
	t.Cleanup(k.Close)
	b, err := newBerthWith(testRules(), gate, gated)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{kube: k, berth: b, pods: map[string]*v1.Pod{}, deleted: map[string]bool{}}
}

func pod(name string, priority int32, n int, shut bool) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{"n": fmt.Sprint(n)}},
		Spec:       v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Priority: &priority},
	}
	if shut {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "shut"}}
	}
	return p
}

func (p *pair) say(format string, args ...any) {
	p.trail = append(p.trail, fmt.Sprintf(format, args...))
}

// step does something random with both queues and returns where they differ.
func (p *pair) step(rng *rand.Rand) error {
	var name string
	if waiting := p.waiting(); len(waiting) > 0 {
		name = waiting[rng.IntN(len(waiting))]
	}
	switch op := rng.IntN(16); {
	case op < 3:
		p.serial++
		added := pod("p"+strconv.Itoa(p.serial), int32(rng.IntN(3)), 9+rng.IntN(3), rng.IntN(6) == 0)
		p.say("add %s, priority %d, gated %t", added.Name, *added.Spec.Priority, gated(added))
		p.pods[added.Name] = added
		if err := p.kube.Add(added); err != nil {
			return err
		}
		return p.berth.Add(added)
	case op < 6:
		return p.pop()
	case op < 9:
		return p.end(rng)
	case op < 11:
		e := [...]Event{
			{OldPod: pod("gone", 0, 9+rng.IntN(3), false)},
			{Node: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}},
			{Pod: pod("came", 0, 9, false)},
			{OldNode: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}},
		}[rng.IntN(4)]
		p.say("event %v", e.kinds())
		if err := p.kube.Event(e); err != nil {
			return err
		}
		return p.berth.Event(e)
	case op < 13:
		by := [...]time.Duration{10 * time.Millisecond, 700 * time.Millisecond, 1500 * time.Millisecond, 5 * time.Second, 4 * time.Minute}[rng.IntN(5)]
		p.say("advance %v", by)
		if err := p.kube.Advance(by); err != nil {
			return err
		}
		return p.berth.Advance(by)
	case name == "":
		return nil
	case op == 13:
		old := p.pods[name]
		updated := pod(name, *old.Spec.Priority, 9+rng.IntN(3), rng.IntN(8) == 0)
		p.say("update %s: n %s to %s, gated %t to %t", name, old.Labels["n"], updated.Labels["n"], gated(old), gated(updated))
		p.pods[name] = updated
		p.kube.update(old, updated)
		return p.berth.update(old, updated)
	case op == 14:
		p.say("activate %s", name)
		p.kube.activate(p.pods[name])
		return p.berth.queue.Activate(name, p.berth.now)
	default:
		p.say("delete %s", name)
		p.kube.delete(p.pods[name])
		if slices.Contains(p.inFlight, name) {
			p.deleted[name] = true
		} else {
			delete(p.pods, name)
		}
		return p.berth.queue.Delete(name, p.berth.now)
	}
}

// waiting returns the pods that were not deleted.
func (p *pair) waiting() (names []string) {
	for name := range p.pods {
		if !p.deleted[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *pair) pop() error {
	want, _, err := p.kube.Pop()
	if err != nil {
		return err
	}
	got, _, err := p.berth.Pop()
	if err != nil {
		return err
	}
	p.say("pop %s", want)
	if got != want {
		return fmt.Errorf("kube-scheduler pops %q, berth %q", want, got)
	}
	if got != "" {
		p.inFlight = append(p.inFlight, got)
	}
	return nil
}

// end ends the attempt of a random pod.
func (p *pair) end(rng *rand.Rand) error {
	if len(p.inFlight) == 0 {
		return nil
	}
	i := rng.IntN(len(p.inFlight))
	name := p.inFlight[i]
	p.inFlight = slices.Delete(p.inFlight, i, i+1)
	f := Failure{Pod: name}
	for _, plugin := range []string{hinted, plain, itself} {
		if rng.IntN(3) == 0 {
			f.Plugins = append(f.Plugins, plugin)
		}
		if rng.IntN(9) == 0 {
			f.Pending = append(f.Pending, plugin)
		}
	}
	switch {
	case p.deleted[name]:
		p.say("fail %s, which was deleted", name)
		p.kube.done(p.pods[name])
		delete(p.deleted, name)
		delete(p.pods, name)
		return p.berth.Fail(f)
	case rng.IntN(8) == 0:
		p.say("done %s", name)
		p.kube.done(p.pods[name])
		delete(p.pods, name)
		return p.berth.queue.Done(p.berth.tickets[name])
	}
	p.say("fail %s by %v, pending %v", name, f.Plugins, f.Pending)
	if err := p.kube.refresh(p.pods[name]); err != nil {
		return err
	}
	if err := p.kube.Fail(f); err != nil {
		return err
	}
	err := p.berth.Fail(f)
	p.kube.clock.Step(betweenAdds) // as for Add: no two of the same moment
	p.berth.pass(betweenAdds)
	return err
}

// compare requires that both have the same pods in the same parts.
func (p *pair) compare() error {
	for _, part := range []Part{Active, Backoff, Unschedulable} {
		if want, got := p.kube.Pods(part), p.berth.Pods(part); !slices.Equal(want, got) {
			return fmt.Errorf("%v: kube-scheduler has %v, berth %v", part, want, got)
		}
	}
	return nil
}

// TestQueueEqualsKubeSchedulers puts both queues through the same random steps, in scripts of 200, each on new queues.
func TestQueueEqualsKubeSchedulers(t *testing.T) {
	const length = 200
	for script := range (*steps + length - 1) / length {
		rng := rand.New(rand.NewPCG(41, uint64(script)))
		p := newPair(t)
		for range min(length, *steps-script*length) {
			err := p.step(rng)
			if err == nil {
				err = p.compare()
			}
			if err != nil {
				for _, line := range p.trail {
					t.Log(line)
				}
				t.Fatalf("script %d: %v", script, err)
			}
		}
		p.kube.Close()
	}
}
