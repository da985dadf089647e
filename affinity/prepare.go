package affinity

import "github.com/berth-go/berth"

// Prepared is a pod together with what the graph knows of pods like it, found once, say when the pod enters a queue, instead of
// anew when it is decided on and when it is bound. Make one with Graph.Prepare. The pod must not be changed as long as it is
// in use, but for the GPUs that it is to get (GPU.Devices). It needs no release, and it may be used again after its pod was released.
type Prepared struct {
	graph *Graph
	class *class
	pod   *berth.Pod
	// What of the pod a decision and a binding read, so that the pod itself need not be fetched.
	name, node string
	start      int64
	hash       uint32 // of the key, in podTable
}

// Prepare finds out about a pod what Profile.BestPrepared and BindPrepared need. The error is a *berth.Fault.
// O(spec) for a known class.
func (g *Graph) Prepare(pod *berth.Pod) (*Prepared, error) {
	c, err := g.validClass(pod)
	if err != nil {
		return nil, err
	}
	w := g.prepared(pod, c)
	return &w, nil
}

func (g *Graph) prepared(pod *berth.Pod, c *class) Prepared {
	return Prepared{
		graph: g, class: c, pod: pod, name: pod.Name, node: pod.NodeName,
		start: startOf(pod), hash: g.podByKey.hash(c.ns, pod.Name),
	}
}

func startOf(pod *berth.Pod) int64 {
	if pod.StartTime.IsZero() {
		return noStart
	}
	return pod.StartTime.UnixNano()
}

// Pod returns the pod.
func (w *Prepared) Pod() *berth.Pod { return w.pod }
