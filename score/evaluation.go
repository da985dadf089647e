package score

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/berth-go/berth"
)

// State is how far an Evaluation is.
type State uint32

const (
	// Pending is the state before Run.
	Pending State = iota
	// Evaluating is the state during Run.
	Evaluating
	// Completed is the state after an answer: a decision, or that no node is feasible.
	Completed
	// Aborted is the state after an error: a bad spec, a plugin that failed, a context that was done.
	Aborted
)

// String returns the name of the state.
func (s State) String() string {
	switch s {
	case Pending:
		return "Pending"
	case Evaluating:
		return "Evaluating"
	case Completed:
		return "Completed"
	case Aborted:
		return "Aborted"
	}
	return fmt.Sprintf("State(%d)", uint32(s))
}

// Evaluation is one decision of a Pipeline whose state others may watch. Make one with Pipeline.Evaluation.
type Evaluation struct {
	pipeline *Pipeline
	pod      *berth.Pod
	state    atomic.Uint32
}

// Evaluation returns the evaluation of a pod, which begins with Run. The pod is kept until then.
func (p *Pipeline) Evaluation(pod *berth.Pod) *Evaluation {
	return &Evaluation{pipeline: p, pod: pod}
}

// State returns the state. It may be called at any time from any goroutine.
func (e *Evaluation) State() State { return State(e.state.Load()) }

// Run decides, as Pipeline.DecideContext does. It runs once; more often is an error that wraps ErrConfig.
func (e *Evaluation) Run(ctx context.Context) (Decision, error) {
	if !e.state.CompareAndSwap(uint32(Pending), uint32(Evaluating)) {
		return Decision{}, fmt.Errorf("%w: the evaluation of pod %v was run already", ErrConfig, e.pod.Key())
	}
	end := Aborted // also if a plugin ends the goroutine
	defer func() { e.state.Store(uint32(end)) }()
	d, err := e.pipeline.DecideContext(ctx, e.pod)
	if err == nil || errors.Is(err, ErrUnschedulable) {
		end = Completed
	}
	return d, err
}
