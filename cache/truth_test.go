package cache_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/reference"
)

// truth is the obvious state: maps of specs, copied whole when a copy is needed, and internal/reference to judge by.
type truth struct {
	nodes      map[string]*berth.Node
	pods       map[berth.PodKey]cache.PodState
	promises   map[berth.PodKey]cache.Nomination
	namespaces map[string]*berth.Namespace
}

func newTruth() *truth {
	return &truth{make(map[string]*berth.Node), make(map[berth.PodKey]cache.PodState), make(map[berth.PodKey]cache.Nomination), make(map[string]*berth.Namespace)}
}

func (t *truth) clone() *truth {
	return &truth{maps.Clone(t.nodes), maps.Clone(t.pods), maps.Clone(t.promises), maps.Clone(t.namespaces)}
}

func (t *truth) setNode(n *berth.Node) { t.nodes[n.Name] = n; t.hide(n.Name, false) }

func (t *truth) removeNode(name string) {
	delete(t.nodes, name)
	t.hide(name, true)
	maps.DeleteFunc(t.promises, func(_ berth.PodKey, o cache.Nomination) bool { return o.Node == name })
}

func (t *truth) hide(node string, hidden bool) {
	for key, p := range t.pods {
		if p.Spec.NodeName == node {
			p.Hidden = hidden
			t.pods[key] = p
		}
	}
}

func (t *truth) setPod(p *berth.Pod, assumed bool, deadline time.Time) {
	t.pods[p.Key()] = cache.PodState{Spec: p, Assumed: assumed, Deadline: deadline, Hidden: t.nodes[p.NodeName] == nil}
	delete(t.promises, p.Key())
}

// give notes which devices the pods of a node hold, as they were given out.
func (t *truth) give(node string, devices func(berth.PodKey) []int) {
	for key, p := range t.pods {
		if p.Spec.NodeName == node && !p.Hidden && p.Spec.GPU.Count > 0 {
			spec := *p.Spec
			spec.GPU.Devices = devices(key)
			p.Spec = &spec
			t.pods[key] = p
		}
	}
}

// giveHidden notes which devices pods hold whose node went in the commit that placed them.
func (t *truth) giveHidden(c *cache.Cache) {
	for key, p := range t.pods {
		if now, ok := c.Pod(key); ok && p.Hidden && len(p.Spec.GPU.Devices) == 0 && len(now.Spec.GPU.Devices) > 0 {
			spec := *p.Spec
			spec.GPU.Devices = now.Spec.GPU.Devices
			p.Spec = &spec
			t.pods[key] = p
		}
	}
}

// cluster is the state as internal/reference takes it.
func (t *truth) cluster() *reference.Cluster {
	c := &reference.Cluster{}
	for _, name := range slices.Sorted(maps.Keys(t.nodes)) {
		c.Nodes = append(c.Nodes, *t.nodes[name])
	}
	for _, key := range slices.SortedFunc(maps.Keys(t.pods), berth.PodKey.Compare) {
		c.Pods = append(c.Pods, *t.pods[key].Spec)
	}
	for _, key := range slices.SortedFunc(maps.Keys(t.promises), berth.PodKey.Compare) {
		p := *t.promises[key].Pod
		p.NodeName, p.NominatedNodeName = "", t.promises[key].Node
		c.Pods = append(c.Pods, p)
	}
	for _, name := range slices.Sorted(maps.Keys(t.namespaces)) {
		c.Namespaces = append(c.Namespaces, *t.namespaces[name])
	}
	return c
}

// permits reports whether every rule permits the pod on the node.
func (t *truth) permits(pod *berth.Pod, node string) bool {
	c := t.cluster()
	i := slices.IndexFunc(c.Nodes, func(n berth.Node) bool { return n.Name == node })
	return i >= 0 && c.Filter(pod)[i].Plugin == ""
}

// checkGraph compares a graph's verdicts and scores for a pod with the reference's.
func (t *truth) checkGraph(profile *affinity.Profile, pod *berth.Pod) error {
	c, g := t.cluster(), profile.Graph()
	if got := g.Topology().Len(); got != len(c.Nodes) {
		return fmt.Errorf("the graph has %d nodes, want %d", got, len(c.Nodes))
	}
	want := c.Filter(pod)
	for i := range c.Nodes {
		got, err := profile.Verdict(pod, c.Nodes[i].Name, nil)
		if err != nil || got.Rule.String() != want[i].Plugin || got.Resolvable != want[i].Resolvable {
			return fmt.Errorf("pod %v on %s: %v %v (%w), want %q %v", pod.Key(), c.Nodes[i].Name, got.Rule, got.Resolvable, err, want[i].Plugin, want[i].Resolvable)
		}
	}
	feasible := c.Feasible(pod)
	scores, err := c.Score(pod, feasible)
	if err != nil {
		return err
	}
	var ev affinity.Evaluation
	if err := profile.Evaluate(pod, &ev); err != nil {
		return err
	}
	for i, f := range feasible {
		n, _ := g.Topology().Lookup(c.Nodes[f].Name)
		if ev.Total[n] != scores.Total[i] {
			return fmt.Errorf("pod %v on %s: score %d, want %d", pod.Key(), c.Nodes[f].Name, ev.Total[n], scores.Total[i])
		}
	}
	return nil
}

// checkSnapshot compares all that a snapshot holds.
func (t *truth) checkSnapshot(s *cache.Snapshot) error {
	for n := range s.Nodes() {
		if t.nodes[n.Name] != n {
			return fmt.Errorf("snapshot: node %s is %+v, want %+v", n.Name, n, t.nodes[n.Name])
		}
	}
	seen := 0
	for p := range s.AllPods() {
		seen++
		want := t.pods[p.Spec.Key()]
		if err := samePod(p, want); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	nodes, pods := s.Len()
	promises := 0
	for o := range s.Nominations() {
		promises++
		if want := t.promises[o.Pod.Key()]; want != o {
			return fmt.Errorf("snapshot: nomination %+v, want %+v", o, want)
		}
	}
	namespaces := 0
	for ns := range s.Namespaces() {
		namespaces++
		if t.namespaces[ns.Name] != ns {
			return fmt.Errorf("snapshot: namespace %+v", ns)
		}
	}
	if nodes != len(t.nodes) || pods != len(t.pods) || seen != pods || promises != len(t.promises) || namespaces != len(t.namespaces) {
		return fmt.Errorf("snapshot: %d nodes, %d pods (%d seen), %d nominations, %d namespaces, want %d, %d, %d, %d", nodes, pods, seen,
			promises, namespaces, len(t.nodes), len(t.pods), len(t.promises), len(t.namespaces))
	}
	return nil
}

func samePod(got, want cache.PodState) error {
	if want.Spec == nil || got.Spec.Key() != want.Spec.Key() || got.Spec.NodeName != want.Spec.NodeName || got.Assumed != want.Assumed ||
		!got.Deadline.Equal(want.Deadline) || got.Hidden != want.Hidden || got.Spec.Requests.MilliCPU != want.Spec.Requests.MilliCPU ||
		!slices.Equal(got.Spec.GPU.Devices, want.Spec.GPU.Devices) || !maps.Equal(got.Spec.Labels, want.Spec.Labels) {
		return fmt.Errorf("pod %+v, want %+v", got, want)
	}
	return nil
}

// checkMetrics compares the sums over the pods of each node.
func (t *truth) checkMetrics(c *cache.Cache) error {
	for name := range t.nodes {
		var milli, memory, pods int64
		for _, p := range t.pods {
			if p.Spec.NodeName == name {
				milli += p.Spec.Requests.MilliCPU
				memory += p.Spec.Requests.Memory
				pods++
			}
		}
		m, ok := c.Metrics(name)
		if !ok || m.MilliCPU() != milli || m.Memory() != memory || m.Pods() != pods {
			return fmt.Errorf("metrics of %s: %v, want %dm, %d bytes, %d pods", name, ok, milli, memory, pods)
		}
	}
	return nil
}

// isRoom reports whether an error is of those that depend on which devices are held, or on sums; the state need not foresee them.
func isRoom(err error) bool {
	return errors.Is(err, affinity.ErrDevices) || errors.Is(err, affinity.ErrAmount)
}
