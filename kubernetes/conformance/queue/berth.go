package queue

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/heap"
)

// Berth is berth's queue of pods.
type Berth struct {
	queue   *heap.Queue[string, *v1.Pod, change]
	plugins []string
	now     time.Time
	tickets map[string]heap.Ticket
}

// NewBerth returns a queue whose rules are kube-scheduler's default filters.
func NewBerth() (*Berth, error) {
	gates := func(p *v1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 }
	return newBerthWith(rules(), "SchedulingGates", gates)
}

// newBerthWith returns a queue with other rules, of which one is a gate.
func newBerthWith(rules []rule, gate string, gated func(*v1.Pod) bool) (*Berth, error) {
	b := &Berth{now: start(), tickets: map[string]heap.Ticket{}}
	config := heap.QueueConfig[string, *v1.Pod, change]{}
	for _, r := range rules {
		b.plugins = append(b.plugins, r.plugin)
		config.Rules = append(config.Rules, heap.Rule[*v1.Pod, change]{Events: r.kinds(), Helps: r.helps})
	}
	shut, err := b.rules([]string{gate})
	if err != nil {
		return nil, err
	}
	config.Gate = func(p *v1.Pod) heap.RuleSet {
		if gated(p) {
			return shut
		}
		return 0
	}
	b.queue, err = heap.NewQueue(config)
	return b, err
}

func (b *Berth) rules(plugins []string) (rules heap.RuleSet, err error) {
	for _, name := range plugins {
		i := slices.Index(b.plugins, name)
		if i < 0 {
			return 0, fmt.Errorf("queue: unknown plugin %q", name)
		}
		rules |= 1 << i
	}
	return rules, nil
}

func spec(p *v1.Pod) heap.Spec[string, *v1.Pod] {
	s := heap.Spec[string, *v1.Pod]{Key: p.Name, Value: p}
	if p.Spec.Priority != nil {
		s.Priority = *p.Spec.Priority
	}
	return s
}

// Add implements Queue.
func (b *Berth) Add(pod *v1.Pod) error {
	err := b.queue.Add(spec(pod), b.now)
	b.now = b.now.Add(betweenAdds)
	return err
}

// Pop implements Queue.
func (b *Berth) Pop() (string, bool, error) {
	a, ok := b.queue.Pop(b.now)
	if ok {
		b.tickets[a.Key] = a.Ticket
	}
	return a.Key, ok, nil
}

// Fail implements Queue.
func (b *Berth) Fail(f Failure) error {
	refused, err := b.rules(f.Plugins)
	if err != nil {
		return err
	}
	pending, err := b.rules(f.Pending)
	if err != nil {
		return err
	}
	return b.queue.Fail(b.tickets[f.Pod], heap.Refusal{Rules: refused, Pending: pending}, b.now)
}

// Event implements Queue.
func (b *Berth) Event(e Event) error {
	for _, kind := range e.kinds() {
		object := change{oldPod: e.OldPod, pod: e.Pod, oldNode: e.OldNode, node: e.Node}
		b.queue.Event(heap.Event[change]{Kinds: kindOf(kind), Object: object}, b.now)
	}
	return nil
}

// Advance implements Queue.
func (b *Berth) Advance(by time.Duration) error {
	b.now = b.now.Add(by)
	b.queue.Flush(b.now)
	return nil
}

// Pods implements Queue.
func (b *Berth) Pods(part Part) []string {
	states := [...][]heap.State{Active: {heap.Active}, Backoff: {heap.BackingOff}, Unschedulable: {heap.Unschedulable, heap.Gated}}
	var names []string
	for key, state := range b.queue.All() {
		if slices.Contains(states[part], state) {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names
}
