package cache

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Prepared is a pod that waits for the decision of a replica, with what can be found out and got ready before it: what the
// graph knows of pods like it, its place among the pods of the cache, and the memory that it takes there. Make one with
// Replica.Prepare. The pod must not be changed as long as it is in use, but for the GPUs that it is to get
// (GPU.Devices).
type Prepared struct {
	affinity.Prepared
	replica *Replica
	hash    uint32 // of the key, among the stripes
	// placement is what the cache gets; nil once it has it.
	placement *placement
}

// placement is a pod that was placed by a decision and its entry, in one piece of memory.
type placement struct {
	pod   berth.Pod
	entry podEntry
}

func newPlacement(pod *berth.Pod) *placement {
	return &placement{pod: *pod, entry: podEntry{key: pod.Key()}}
}

// Prepare gets a pod ready for DecidePrepared, say when it enters a queue. It needs no release. The error is a *berth.Fault. O(spec).
func (r *Replica) Prepare(pod *berth.Pod) (*Prepared, error) {
	w, err := r.prepare(pod)
	if err != nil {
		return nil, err
	}
	return &w, nil
}

func (r *Replica) prepare(pod *berth.Pod) (Prepared, error) {
	inner, err := r.graph.Prepare(pod)
	if err != nil {
		return Prepared{}, err
	}
	w := Prepared{Prepared: *inner, replica: r, placement: newPlacement(pod)}
	w.hash = r.cache.hash(&w.placement.entry.key)
	return w, nil
}
