package runqueue

import (
	"container/heap"
	"math/rand/v2"
	"testing"
)

// picker is a way to find a task; both ways run in the same simulation.
type picker interface {
	push(worker, task int)
	next(worker int) (int, bool)
}

type nearby struct{ q *Queue[int] }

func (n nearby) push(worker, task int) {
	if !n.q.Push(worker, task) {
		panic("the simulation queues more than fits")
	}
}

func (n nearby) next(worker int) (int, bool) {
	v, _, ok := n.q.Next(worker)
	return v, ok
}

// anywhere steals half of a random worker's tasks (Blumofe, Leiserson:
// Scheduling multithreaded computations by work stealing, JACM 1999).
type anywhere struct {
	rng    *rand.Rand
	queues [][]int
}

func (a *anywhere) push(worker, task int) { a.queues[worker] = append(a.queues[worker], task) }

func (a *anywhere) next(worker int) (int, bool) {
	if own := a.queues[worker]; len(own) > 0 {
		a.queues[worker] = own[:len(own)-1]
		return own[len(own)-1], true
	}
	for _, v := range a.rng.Perm(len(a.queues)) {
		if q := a.queues[v]; len(q) > 0 {
			k := (len(q) + 1) / 2
			a.queues[worker] = append(a.queues[worker], q[1:k]...)
			task := q[0]
			a.queues[v] = append([]int(nil), q[k:]...)
			return task, true
		}
	}
	return 0, false
}

// busy is a worker and when it is free again.
type busy struct {
	until  float64
	worker int
}

type agenda []busy

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].until < a[j].until || a[i].until == a[j].until && a[i].worker < a[j].worker
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(busy)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

// simulate queues a batch where its data is and lets the workers run it down.
// Nodes differ by up to a fifth around 256 tasks a worker; inside a node some
// workers have queued far more than others (exponential weights), as where a
// few CPUs take the interrupts. It returns the share of tasks that ran on
// another node than they were queued on, and when the last one ended. Running
// takes the same time anywhere.
func simulate(p picker, workers, perNode int, seed uint64) (remote, makespan float64) {
	rng := rand.New(rand.NewPCG(seed, 99))
	var home []int
	for node := range workers / perNode {
		weights, sum := make([]float64, perNode), 0.0
		for i := range weights {
			weights[i] = rng.ExpFloat64()
			sum += weights[i]
		}
		total := 256 * float64(perNode) * (0.8 + 0.4*rng.Float64())
		for i, weight := range weights {
			for range int(total * weight / sum) {
				p.push(node*perNode+i, len(home))
				home = append(home, node)
			}
		}
	}
	durations := make([]float64, len(home))
	for i := range durations {
		durations[i] = rng.ExpFloat64()
	}
	var a agenda
	for _, w := range rng.Perm(workers) {
		a = append(a, busy{0, w})
	}
	heap.Init(&a)
	ran, far := 0, 0
	for a.Len() > 0 {
		b := heap.Pop(&a).(busy)
		task, ok := p.next(b.worker)
		if !ok {
			continue // nothing is queued and nothing will be
		}
		ran++
		if home[task] != b.worker/perNode {
			far++
		}
		end := b.until + durations[task]
		makespan = max(makespan, end)
		heap.Push(&a, busy{end, b.worker})
	}
	if ran != len(home) {
		panic("tasks were lost")
	}
	return float64(far) / float64(ran), makespan
}

func TestFarFewerTasksRunRemotely(t *testing.T) {
	for _, c := range []struct{ nodes, perNode int }{{2, 16}, {8, 16}, {64, 4}} {
		workers := c.nodes * c.perNode
		var r, m [2]float64
		const rounds = 2
		for seed := range uint64(rounds) {
			q := newQueue(t, c.nodes, c.perNode, Config{Local: 4096})
			ways := []picker{&anywhere{rand.New(rand.NewPCG(seed, 7)), make([][]int, workers)}, nearby{q}}
			for i, p := range ways {
				remote, makespan := simulate(p, workers, c.perNode, seed)
				r[i] += remote / rounds
				m[i] += makespan / rounds
			}
		}
		t.Logf("nodes=%d workers=%d: remote %.1f%% -> %.1f%%, makespan %.1f -> %.1f", c.nodes, workers, 100*r[0], 100*r[1], m[0], m[1])
		if r[1] > r[0]/3 {
			t.Errorf("nodes=%d: remote share %.3f, random stealing has %.3f", c.nodes, r[1], r[0])
		}
		if m[1] > m[0]*1.02 {
			t.Errorf("nodes=%d: makespan %.2f, random stealing has %.2f", c.nodes, m[1], m[0])
		}
	}
}
