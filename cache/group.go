package cache

import (
	"fmt"

	"github.com/berth-go/berth"
)

// PlaceGroup places the pods of a group that runs together or not at all: each in turn on the node that decide returns, with those before
// it in place. If at least min of them found one, they stay, and the others have an Err; otherwise everything is taken back, and
// placed is false. What is open besides in the transaction is left alone. The error is that of a state that can't be taken back.
//
// A group is tried in one order, that of pods, and not in all: put those first that have the fewest places to go.
func (t *Txn) PlaceGroup(pods []*berth.Pod, min int, decide func(*berth.Pod) (node string, err error)) (out []Placement, placed bool, err error) {
	if t.over {
		return nil, false, ErrDone
	}
	start, found := t.Savepoint(), 0
	out = make([]Placement, len(pods))
	for i, p := range pods {
		out[i].Pod = p
		if out[i].Node, out[i].Err = t.decideOne(p, decide); out[i].Err == nil {
			found++
		} else if found+len(pods)-i-1 < min {
			break // the rest is not enough
		}
	}
	if found >= min {
		return out, true, nil
	}
	for i := range out {
		if out[i].Pod == nil {
			out[i].Pod = pods[i]
		}
		if out[i].Err == nil {
			out[i].Node, out[i].Err = "", fmt.Errorf("%w: %d of %d found a node", ErrGroup, found, min)
		}
	}
	return out, false, t.RollbackTo(start)
}
