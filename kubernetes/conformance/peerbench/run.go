package peerbench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Peer is a scheduler that is measured.
type Peer interface {
	Apply(conformance.Change) error
	// Prepare takes in a pod, as when it enters the queue.
	Prepare(pod *v1.Pod) (conformance.Waiting, error)
}

// Judge says which nodes are best.
type Judge interface {
	Peer
	// Best returns all nodes of the highest total score for a pod.
	Best(pod *v1.Pod) ([]string, error)
}

// Config says how large and how long.
type Config struct {
	// Nodes and Pods are how many there are at the start.
	Nodes, Pods int
	// Decisions are timed after Warmup others.
	Warmup, Decisions int
}

// Entry is a peer that takes part.
type Entry struct {
	Name string
	// Open makes the peer, and something to close it with.
	Open func() (Peer, func(), error)
}

// Result is what was measured of one peer.
type Result struct {
	Name string
	// P50 and P99 are of the time of a decision.
	P50, P99 time.Duration
	// CycleP50 is the median of the time of a decision with the placement that follows it.
	CycleP50 time.Duration
	// NodeBytes and PodBytes are the heap for each node and each pod at the start.
	NodeBytes, PodBytes int64
}

// Outcome is what came out of a shape.
type Outcome struct {
	// Results are in the order of the entries.
	Results []Result
	// Agreed is how many of the decisions of the first entry were among the best nodes of the judge.
	Agreed, Decisions int
}

// Run lets the entries decide in turn. All of them follow the first, and a judge among them is asked whether it is right.
func Run(s *Shape, cfg Config, entries []Entry) (*Outcome, error) {
	out := &Outcome{Results: make([]Result, len(entries)), Decisions: cfg.Decisions}
	peers := make([]Peer, len(entries))
	for i, e := range entries {
		peer, closing, err := e.Open()
		if err != nil {
			return nil, fmt.Errorf("peerbench: %s: %w", e.Name, err)
		}
		defer closing()
		peers[i], out.Results[i].Name = peer, e.Name
		if err := fill(peer, s, cfg, &out.Results[i]); err != nil {
			return nil, fmt.Errorf("peerbench: %s: %w", e.Name, err)
		}
	}
	next, err := enqueue(peers, s.waiting(0))
	times := make([]times, len(entries))
	for i := 0; err == nil && i < cfg.Warmup+cfg.Decisions; i++ {
		turn := next
		if next, err = enqueue(peers, s.waiting(i+1)); err != nil {
			break
		}
		var agreed bool
		if agreed, err = turn.decide(); err == nil && i >= cfg.Warmup {
			for j := range times {
				times[j].add(turn.decisions[j], turn.placements[j])
			}
			if agreed {
				out.Agreed++
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("peerbench: %s: %w", s.Name, err)
	}
	for i := range times {
		times[i].report(&out.Results[i])
	}
	return out, nil
}

// times are those of the decisions of a peer, without and with the placements.
type times struct{ decisions, cycles []time.Duration }

func (t *times) add(decision, placement time.Duration) {
	t.decisions, t.cycles = append(t.decisions, decision), append(t.cycles, decision+placement)
}

func (t *times) report(r *Result) {
	slices.Sort(t.decisions)
	slices.Sort(t.cycles)
	r.P50, r.P99 = t.decisions[len(t.decisions)/2], t.decisions[len(t.decisions)*99/100]
	r.CycleP50 = t.cycles[len(t.cycles)/2]
}

// fill puts the nodes and the placed pods of a shape into a peer and measures what heap they take.
func fill(p Peer, s *Shape, cfg Config, r *Result) error {
	before := heap()
	for i := range cfg.Nodes {
		if err := p.Apply(conformance.Change{AddNode: node(i)}); err != nil {
			return err
		}
	}
	if err := look(p, s); err != nil {
		return err
	}
	filled := heap()
	r.NodeBytes = (filled - before) / int64(max(cfg.Nodes, 1))
	for i := range cfg.Pods {
		if err := p.Apply(conformance.Change{AddPod: s.placed(i, cfg.Nodes)}); err != nil {
			return err
		}
	}
	if err := look(p, s); err != nil {
		return err
	}
	r.PodBytes = (heap() - filled) / int64(max(cfg.Pods, 1))
	return nil
}

// look lets the peer make up its mind about the cluster, so that what it keeps for that is there. That no node may be
// feasible yet is no fault.
func look(p Peer, s *Shape) error {
	w, err := p.Prepare(s.waiting(0))
	if err == nil {
		_, _ = w.Decide()
	}
	return err
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalisers and pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// turn is a pod that waits in the queues of all peers, and then how long each took for it.
type turn struct {
	pod                   *v1.Pod
	peers                 []Peer
	waiting               []conformance.Waiting
	decisions, placements []time.Duration
}

// enqueue puts a pod into the queues. The pod before it is not decided on yet: what a peer finds out about the pod now, it will have to
// fetch again after the others have decided on that.
func enqueue(peers []Peer, pod *v1.Pod) (*turn, error) {
	t := &turn{pod: pod, peers: peers, decisions: make([]time.Duration, len(peers)), placements: make([]time.Duration, len(peers))}
	for i, p := range peers {
		w, err := p.Prepare(pod)
		if err != nil {
			return nil, fmt.Errorf("pod %s: peer %d: %w", pod.Name, i, err)
		}
		t.waiting = append(t.waiting, w)
	}
	return t, nil
}

// decide lets each peer decide on the pod and put it where the first one chose.
func (t *turn) decide() (agreed bool, err error) {
	var chosen string
	for i, w := range t.waiting {
		start := time.Now()
		node, err := w.Decide()
		t.decisions[i] = time.Since(start)
		if err != nil {
			return false, fmt.Errorf("pod %s: peer %d: %w", t.pod.Name, i, err)
		}
		if i == 0 {
			chosen = node
		}
		if judge, ok := t.peers[i].(Judge); ok && !agreed {
			best, err := judge.Best(t.pod)
			if err != nil {
				return false, fmt.Errorf("pod %s: peer %d: %w", t.pod.Name, i, err)
			}
			agreed = slices.Contains(best, chosen)
		}
		start = time.Now()
		if err := w.Assume(chosen); err != nil {
			return false, fmt.Errorf("pod %s: peer %d: %w", t.pod.Name, i, err)
		}
		t.placements[i] = time.Since(start)
	}
	return agreed, nil
}
