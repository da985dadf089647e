package cache

import (
	"fmt"
	"slices"
	"strings"
)

// String lists the nodes with what is requested of them, their pods and promises, for people who debug. O(nodes + pods).
func (s *Snapshot) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d: %d nodes, %d pods, %d nominations, %d namespaces\n", s.version, s.nodes.Len(), s.pods.Len(),
		s.nominations.Len(), len(s.namespaces))
	promised := make(map[string][]string)
	for o := range s.Nominations() {
		promised[o.Node] = append(promised[o.Node], o.Pod.Key().String())
	}
	for n := range s.Nodes() {
		var milli, memory, pods int64
		for p := range s.PodsOn(n.Name) {
			milli, memory, pods = milli+p.Spec.Requests.MilliCPU, memory+p.Spec.Requests.Memory, pods+1
		}
		a := &n.Allocatable
		fmt.Fprintf(&b, "%s: %d/%dm cpu, %d/%d memory, %d/%d pods\n", n.Name, milli, a.MilliCPU, memory, a.Memory, pods, a.Pods)
		for p := range s.PodsOn(n.Name) {
			fmt.Fprintf(&b, "  %v%s\n", p.Spec.Key(), p.mark())
		}
		for _, key := range promised[n.Name] {
			fmt.Fprintf(&b, "  %s nominated\n", key)
		}
	}
	last := ""
	s.byNode.Ascend(func(p *podRecord) bool {
		if !p.Hidden {
			return true
		}
		if p.Spec.NodeName != last {
			last = p.Spec.NodeName
			fmt.Fprintf(&b, "%s: unknown\n", last)
		}
		fmt.Fprintf(&b, "  %v%s\n", p.key, p.mark())
		return true
	})
	return b.String()
}

func (p *PodState) mark() string {
	switch {
	case !p.Assumed:
		return ""
	case p.Deadline.IsZero():
		return " assumed"
	}
	return " assumed until " + p.Deadline.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Shards lists the shards with their nodes and pods, as they are at one moment each, for people who debug. A shard is locked for
// reading while it is listed. O(shards * nodes + pods).
func (c *Cache) Shards() string {
	var b strings.Builder
	for i, s := range c.shards.all() {
		c.dumpShard(&b, i, s)
	}
	return b.String()
}

func (c *Cache) dumpShard(b *strings.Builder, i int, s *shard) {
	s.RLock()
	defer s.RUnlock()
	var entries []*nodeEntry
	nodes, pods := 0, 0
	c.directory.Range(func(_, v any) bool {
		if n := v.(*nodeEntry); n.shard.Load() == s && !n.dead {
			entries = append(entries, n)
			pods += len(n.pods)
			if n.spec != nil {
				nodes++
			}
		}
		return true
	})
	slices.SortFunc(entries, func(a, b *nodeEntry) int { return strings.Compare(a.name, b.name) })
	where := "without " + c.cfg.ShardKey
	if i > 0 {
		where = c.cfg.ShardKey + "=" + s.value
	}
	fmt.Fprintf(b, "shard %s: %d nodes, %d unknown, %d pods\n", where, nodes, len(entries)-nodes, pods)
	for _, n := range entries {
		if n.spec == nil {
			fmt.Fprintf(b, "  %s: unknown\n", n.name)
		} else {
			fmt.Fprintf(b, "  %s: %dm cpu, %d memory, %d pods\n", n.name, n.MilliCPU(), n.Memory(), n.Pods())
		}
		sorted := slices.SortedFunc(slices.Values(n.pods), func(a, b *podEntry) int { return a.spec.Key().Compare(b.spec.Key()) })
		for _, e := range sorted {
			p := PodState{Assumed: e.assumed, Deadline: e.deadline()}
			fmt.Fprintf(b, "    %v%s\n", e.spec.Key(), p.mark())
		}
	}
}

// String lists the changes of the transaction.
func (t *Txn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d changes on version %d\n", len(t.ops), t.replica.version)
	for e := range t.Changes() {
		_, what, _ := strings.Cut(e.String(), " ") // without the version, which it has not got
		fmt.Fprintln(&b, what)
	}
	return b.String()
}
