package scoretest_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/scoretest"
	"github.com/berth-go/berth/topology"
)

// Quiet prefers nodes with few pods.
type Quiet struct{}

func (Quiet) Name() string { return "Quiet" }

// Local and Concurrent promise that a score follows from pod and node alone, so that it is kept, and computed in parallel.
func (Quiet) Local()      {}
func (Quiet) Concurrent() {}

func (Quiet) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	for _, n := range nodes {
		_, pods := in.Graph.Amount(n, "pods")
		column[n] = -pods
	}
	return nil
}

// A plugin and its contract test. In a test of yours, t is what it is handed; here it stands for one.
func Example() {
	t := &recorder{TB: new(testing.T)}

	scoretest.Suite{}.Scorer(t, func() score.Scorer { return Quiet{} })

	fmt.Println("faults:", len(t.faults))
	// Output: faults: 0
}
