package runqueue_test

import (
	"fmt"

	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/numa/runqueue"
)

func Example() {
	machine := &numa.Machine{
		Nodes: []numa.Node{{ID: 0}, {ID: 1}},
		CPUs:  []numa.CPU{{ID: 0, Core: 0, Node: 0}, {ID: 1, Core: 1, Node: 0}, {ID: 2, Core: 2, Package: 1, Node: 1}},
	}
	layout, err := numa.Compile(machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	queue, err := runqueue.New[string](layout, runqueue.Config{CPUs: []int{0, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	queue.Push(2, "far")
	queue.Push(1, "near")
	for {
		task, from, ok := queue.Next(0)
		if !ok {
			break
		}
		fmt.Println(task, from == runqueue.Remote)
	}
	// Output:
	// near false
	// far true
}
