package heap_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-go/berth/heap"
)

func ExampleHeap() {
	type job struct {
		name     string
		priority int
	}
	h := heap.New[string](heap.Order[job]{Rank: func(j job) uint64 { return heap.Descending(j.priority) }})
	for _, j := range []job{{"web", 10}, {"batch", 1}, {"db", 10}} {
		if err := h.Push(j.name, j); err != nil {
			fmt.Println(err)
		}
	}
	h.Update("batch", job{"batch", 99})
	for name, j := range h.All() { // looks only
		fmt.Println(name, j.priority)
	}
	_, first, _ := h.Pop()
	fmt.Println("popped", first.name)
	// Output:
	// batch 99
	// web 10
	// db 10
	// popped batch
}

func ExampleWeighted() {
	w, err := heap.NewWeighted[string, string, int](heap.WeightedConfig{Ageing: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Unix(0, 0)
	_ = w.Push("resize", "gpu-pool", 5, 0, start)
	_ = w.Push("deploy", "web-pool", 8, 0, start)
	key, _, _ := w.Peek(start)
	fmt.Println(key)
	// The GPU pool is idle: all that waits for it becomes more urgent at once.
	_ = w.SetFactor("gpu-pool", 2)
	key, _, _ = w.Peek(start)
	fmt.Println(key)
	// Output:
	// deploy
	// resize
}

func ExampleController() {
	c, err := heap.NewController(heap.ControllerConfig{Gain: 0.5, Damping: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	const target = 0.8
	load := func(factor float64) float64 { return factor * 0.5 } // what the pool does with the factor
	for range 20 {
		if _, err := c.Next(target - load(c.Output())); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("factor %.2f\n", c.Output())
	_, err = heap.NewController(heap.ControllerConfig{Gain: 2.5})
	fmt.Println(err)
	// Output:
	// factor 1.60
	// heap: controller does not converge: with Gain 2.5 and Damping 0 an error is multiplied by 1.5 a step
}

// The rules and events of a small scheduler.
const (
	fits heap.RuleSet = 1 << iota // bit 0 is Rules[0]
	tolerates
)

const (
	podDeleted heap.EventSet = 1 << iota
	nodeChanged
)

type freed struct{ milliCPU int }

func ExampleQueue() {
	type pod struct{ milliCPU int }
	q, err := heap.NewQueue(heap.QueueConfig[string, pod, freed]{Rules: []heap.Rule[pod, freed]{
		{Events: podDeleted | nodeChanged, Helps: func(p pod, f freed) bool { return f.milliCPU >= p.milliCPU }},
		{Events: nodeChanged},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_ = q.Add(heap.Spec[string, pod]{Key: "small", Value: pod{100}}, now)
	_ = q.Add(heap.Spec[string, pod]{Key: "big", Value: pod{4000}, Priority: 10}, now)

	attempt, _ := q.Pop(now)
	fmt.Println("trying", attempt.Key)
	_ = q.Fail(attempt.Ticket, heap.Refusal{Rules: fits}, now)

	q.Event(heap.Event[freed]{Kinds: podDeleted, Object: freed{500}}, now) // not enough to be worth a try
	status, _ := q.Status("big")
	fmt.Println("big is", status.State)
	q.Event(heap.Event[freed]{Kinds: podDeleted, Object: freed{8000}}, now)
	status, _ = q.Status("big")
	fmt.Println("big is", status.State)

	now = now.Add(2 * time.Second)
	attempt, _ = q.Pop(now)
	fmt.Println("trying", attempt.Key, "for the", attempt.Attempts, "nd time")
	_ = q.Done(attempt.Ticket)
	// Output:
	// trying big
	// big is Unschedulable
	// big is BackingOff
	// trying big for the 2 nd time
}

func ExampleQueue_SetGang() {
	q, _ := heap.NewQueue(heap.QueueConfig[string, int, int]{})
	now := time.Unix(0, 0)
	_ = q.SetGang("training", 2, now)
	_ = q.Add(heap.Spec[string, int]{Key: "worker-0", Gang: "training"}, now)
	_, ok := q.Pop(now)
	fmt.Println("something to try:", ok)
	_ = q.Add(heap.Spec[string, int]{Key: "worker-1", Gang: "training"}, now)
	attempt, _ := q.Pop(now)
	for _, m := range attempt.Members {
		fmt.Println(attempt.Key, m.Key)
	}
	// Output:
	// something to try: false
	// training worker-0
	// training worker-1
}

func ExampleBlocking() {
	q, _ := heap.NewQueue(heap.QueueConfig[string, int, int]{})
	b := heap.NewBlocking(q, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go b.Do(func(q *heap.Queue[string, int, int], now time.Time) {
		_ = q.Add(heap.Spec[string, int]{Key: "pod"}, now)
	})
	attempt, err := b.Pop(ctx) // waits for it
	fmt.Println(attempt.Key, err)
	b.Do(func(q *heap.Queue[string, int, int], _ time.Time) { err = q.Done(attempt.Ticket) })
	fmt.Println(err)
	// Output:
	// pod <nil>
	// <nil>
}

func ExampleFair() {
	f, err := heap.NewFair[string, string](heap.FairConfig{Short: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		_ = f.Push("team-a", "train a model", 100)
	}
	_ = f.Push("team-b", "render a film", 100)
	_ = f.Push("team-a", "answer a query", 1)
	for f.Len() > 0 {
		tenant, job, _ := f.Pop()
		fmt.Println(tenant, job)
	}
	// Output:
	// team-a answer a query
	// team-b render a film
	// team-a train a model
	// team-a train a model
	// team-a train a model
}
