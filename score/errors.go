package score

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

var (
	// ErrUnschedulable is what an Unschedulable wraps.
	ErrUnschedulable = errors.New("score: no node is feasible")
	// ErrConfig is returned for a Config that makes no sense.
	ErrConfig = errors.New("score: bad configuration")
	// ErrPlugin is returned for a plugin that breaks its contract: one that panics, or a filter that adds nodes.
	ErrPlugin = errors.New("plugin broke its contract")
	// ErrLate is the error of a signal that did not answer in time.
	ErrLate = errors.New("no answer in time")
)

// Unschedulable says why a pod fits nowhere.
type Unschedulable struct {
	Pod berth.PodKey
	// Nodes is the number of nodes.
	Nodes int
	// Refused is how many nodes each rule refused first. With what Filters refused they add up to Nodes.
	Refused [affinity.Rules]int
	// Filters are the pipeline's own filters that refused nodes, in their order.
	Filters []FilterCount
	// Resolvable is how many of them might become feasible if pods were removed.
	Resolvable int
}

// FilterCount is how many nodes a filter refused that the rules and the filters before it allowed.
type FilterCount struct {
	Name  string
	Nodes int
}

// Error gives the counts in one line, rules first: "0/5 nodes are available: 3 NodeResourcesFit, 2 TaintToleration".
func (u *Unschedulable) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "score: pod %v: 0/%d nodes are available", u.Pod, u.Nodes)
	sep := ": "
	for r, n := range u.Refused {
		if n > 0 {
			fmt.Fprintf(&b, "%s%d %v", sep, n, affinity.Rule(r))
			sep = ", "
		}
	}
	for _, f := range u.Filters {
		fmt.Fprintf(&b, "%s%d %s", sep, f.Nodes, f.Name)
		sep = ", "
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrUnschedulable) true.
func (u *Unschedulable) Unwrap() error { return ErrUnschedulable }
