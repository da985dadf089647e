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
	// Prepare takes in the pod that is placed next, as when it enters the queue.
	Prepare(pod *v1.Pod) error
	// Decide says where the prepared pod goes.
	Decide() (node string, err error)
	// Assume puts the prepared pod on a node.
	Assume(node string) error
}

// Judge says which nodes are best.
type Judge interface {
	Peer
	// Best returns all nodes of the highest total score for the prepared pod.
	Best() ([]string, error)
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
	times := make([][]time.Duration, len(entries))
	for i := range cfg.Warmup + cfg.Decisions {
		took, agreed, err := decide(peers, s.waiting(i))
		if err != nil {
			return nil, fmt.Errorf("peerbench: %s: decision %d: %w", s.Name, i, err)
		}
		if i < cfg.Warmup {
			continue
		}
		for j := range took {
			times[j] = append(times[j], took[j])
		}
		if agreed {
			out.Agreed++
		}
	}
	for i := range times {
		slices.Sort(times[i])
		out.Results[i].P50 = times[i][len(times[i])/2]
		out.Results[i].P99 = times[i][len(times[i])*99/100]
	}
	return out, nil
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
	if err := p.Prepare(s.waiting(0)); err != nil {
		return err
	}
	_, _ = p.Decide()
	return nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalisers and pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// decide lets each peer decide on the pod and put it where the first one chose.
func decide(peers []Peer, pod *v1.Pod) (took []time.Duration, agreed bool, err error) {
	took = make([]time.Duration, len(peers))
	var chosen string
	for i, p := range peers {
		if err := p.Prepare(pod); err != nil {
			return nil, false, err
		}
		start := time.Now()
		node, err := p.Decide()
		took[i] = time.Since(start)
		if err != nil {
			return nil, false, fmt.Errorf("peer %d: %w", i, err)
		}
		if i == 0 {
			chosen = node
		}
		if judge, ok := p.(Judge); ok && !agreed {
			best, err := judge.Best()
			if err != nil {
				return nil, false, fmt.Errorf("peer %d: %w", i, err)
			}
			agreed = slices.Contains(best, chosen)
		}
		start = time.Now()
		if err := p.Assume(chosen); err != nil {
			return nil, false, fmt.Errorf("peer %d: %w", i, err)
		}
		took[i] += time.Since(start)
	}
	return took, agreed, nil
}
