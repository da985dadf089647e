package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/queue"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

// queueCase checks a case of kind queue.
func queueCase(c *casefile.Case, scheduler string) []string {
	var q queue.Queue
	var err error
	if scheduler == schedulers.Kube {
		var kube *queue.Kube
		if kube, err = queue.NewKube(); err == nil {
			defer kube.Close()
			q = kube
		}
	} else {
		q, err = queue.NewBerth()
	}
	if err != nil {
		return []string{err.Error()}
	}
	steps, err := queueSteps(c)
	if err != nil {
		return []string{err.Error()}
	}
	var checks []queue.Check
	for _, e := range c.Expect {
		check := queue.Check{After: len(steps)}
		if e.After != nil {
			check.After = *e.After
		}
		if scheduler == schedulers.Kube && e.Actual != nil {
			e = *e.Actual
		}
		check.Active, check.Backoff, check.Unschedulable = e.Active, e.Backoff, e.Unschedulable
		checks = append(checks, check)
	}
	return queue.RunCase(q, steps, checks)
}

func queueSteps(c *casefile.Case) ([]queue.Step, error) {
	incoming := map[string]*v1.Pod{}
	for i := range c.Incoming {
		pods, err := c.Incoming[i].Expand()
		if err != nil {
			return nil, err
		}
		for _, p := range pods {
			incoming[p.Name] = p
		}
	}
	var steps []queue.Step
	for i, s := range c.Steps {
		var step queue.Step
		var err error
		switch {
		case s.QueueAdd != "":
			if step.Add = incoming[s.QueueAdd]; step.Add == nil {
				err = fmt.Errorf("no pod %q is incoming", s.QueueAdd)
			}
		case s.Pop != nil:
			step.Pop = s.Pop
		case s.Fail != nil:
			step.Fail = &queue.Failure{Pod: s.Fail.Pod, Plugins: s.Fail.Plugins}
		case s.Advance != "":
			step.Advance, err = time.ParseDuration(s.Advance)
		case s.Event != nil:
			step.Event, err = queueEvent(s.Event)
		default:
			err = fmt.Errorf("nothing that a case of kind %s can do", c.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func queueEvent(e *casefile.Event) (*queue.Event, error) {
	pod, err1 := first(e.Pod, (*casefile.Pod).Expand)
	oldPod, err2 := first(e.OldPod, (*casefile.Pod).Expand)
	node, err3 := first(e.Node, (*casefile.Node).Expand)
	oldNode, err4 := first(e.OldNode, (*casefile.Node).Expand)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return nil, err
		}
	}
	switch e.Type {
	case "assignedPodAdd":
		return &queue.Event{Pod: pod}, nil
	case "assignedPodDelete":
		return &queue.Event{OldPod: pod}, nil
	case "assignedPodUpdate":
		return &queue.Event{OldPod: oldPod, Pod: pod}, nil
	case "nodeAdd":
		return &queue.Event{Node: node}, nil
	case "nodeUpdate":
		return &queue.Event{OldNode: oldNode, Node: node}, nil
	}
	return nil, fmt.Errorf("event %q: unknown", e.Type)
}

// first expands what is there and returns the first of it.
func first[T, O any](spec *T, expand func(*T) ([]*O, error)) (*O, error) {
	if spec == nil {
		return nil, nil
	}
	list, err := expand(spec)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
