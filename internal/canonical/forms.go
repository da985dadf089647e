package canonical

import (
	"time"

	"github.com/berth-go/berth"
)

// Placed is the form of a placed pod in a state. That it is hidden is not part of it, for that follows from the nodes.
type Placed struct {
	Pod      *berth.Pod `json:"pod"`
	Assumed  bool       `json:"assumed,omitzero"`
	Deadline time.Time  `json:"deadline,omitzero"`
}

// Promise is the form of a nomination.
type Promise struct {
	Pod  *berth.Pod `json:"pod"`
	Node string     `json:"node"`
}

// NewPlaced returns the form with its times in UTC.
func NewPlaced(pod *berth.Pod, assumed bool, deadline time.Time) *Placed {
	return &Placed{Pod(pod), assumed, deadline.UTC()}
}

// NewPromise returns the form with its times in UTC.
func NewPromise(pod *berth.Pod, node string) *Promise { return &Promise{Pod(pod), node} }
