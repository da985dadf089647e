package queue

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Queue is a scheduling queue with a clock of its own.
type Queue interface {
	Add(pod *v1.Pod) error
	// Pop takes the next pod; false if there is none that may be tried.
	Pop() (name string, ok bool, err error)
	// Fail gives a popped pod back; a Failure without plugins is an internal error.
	Fail(Failure) error
	Event(Event) error
	// Advance moves the clock and then flushes what has waited long enough.
	Advance(time.Duration) error
	// Pods returns the names of the pods of a part, sorted.
	Pods(Part) []string
}

// Part is where a pod waits.
type Part int

// The parts of a queue. Gated pods are unschedulable ones.
const (
	Active Part = iota
	Backoff
	Unschedulable
)

// String returns the name of the part as cases have it.
func (p Part) String() string { return [...]string{"active", "backoff", "unschedulable"}[p] }

// Failure is a pod that could not be placed, and the plugins that refused it.
type Failure struct {
	Pod     string
	Plugins []string
	// Pending are plugins that put it off.
	Pending []string
}

// Event is a change of a bound pod or a node: the new object alone is one that was added, the old one alone one that was
// deleted, both an update.
type Event struct {
	OldPod, Pod   *v1.Pod
	OldNode, Node *v1.Node
}

// Step is one thing that happens. Exactly one field is set.
type Step struct {
	Add *v1.Pod
	// Pop expects a pod to be popped, or nothing if "".
	Pop     *string
	Fail    *Failure
	Event   *Event
	Advance time.Duration
}

// Check is what is expected after a number of steps. A nil list is not asked about.
type Check struct {
	After                          int
	Active, Backoff, Unschedulable []string
}

// RunCase takes the steps and returns what is not as expected.
func RunCase(q Queue, steps []Step, checks []Check) (failures []string) {
	for done := 0; ; done++ {
		for i, c := range checks {
			if c.After != done {
				continue
			}
			for part, want := range [...][]string{Active: c.Active, Backoff: c.Backoff, Unschedulable: c.Unschedulable} {
				if want == nil {
					continue
				}
				want = slices.Sorted(slices.Values(want))
				if got := q.Pods(Part(part)); !slices.Equal(got, want) {
					failures = append(failures, fmt.Sprintf("expect[%d]: %v: expected %v, got %v", i, Part(part), want, got))
				}
			}
		}
		if done == len(steps) {
			return failures
		}
		if err := steps[done].run(q); err != nil {
			return append(failures, fmt.Sprintf("step %d: %v", done+1, err))
		}
	}
}

func (s *Step) run(q Queue) error {
	switch {
	case s.Add != nil:
		return q.Add(s.Add)
	case s.Pop != nil:
		got, _, err := q.Pop()
		if err == nil && got != *s.Pop {
			err = fmt.Errorf("expected to pop %q, got %q", *s.Pop, got)
		}
		return err
	case s.Fail != nil:
		return q.Fail(*s.Fail)
	case s.Event != nil:
		return q.Event(*s.Event)
	case s.Advance > 0:
		return q.Advance(s.Advance)
	}
	return fmt.Errorf("nothing to do")
}

// start is when the clocks of both queues begin: a whole second, as the case files count.
func start() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }

// betweenAdds is how far the clock moves after each Add, so that the order of arrival shows in time stamps.
const betweenAdds = time.Millisecond
