package numa

import "fmt"

// Hint is one answer of a resource to "on which nodes could the request be
// met": the set of nodes, and whether no smaller set could ever do.
type Hint struct {
	// Any means no preference; Nodes is then ignored.
	Any       bool
	Nodes     Mask
	Preferred bool
}

// Policy says what is done with a merged hint. The values are the kubelet's
// --topology-manager-policy.
type Policy uint8

// Policies.
const (
	// PolicyNone ignores hints and admits.
	PolicyNone Policy = iota
	// PolicyBestEffort admits whatever the merged hint is.
	PolicyBestEffort
	// PolicyRestricted admits preferred hints only.
	PolicyRestricted
	// PolicySingleNode admits preferred hints of one node, or of none.
	PolicySingleNode
)

// String returns the kubelet's name of the policy.
func (p Policy) String() string {
	switch p {
	case PolicyNone:
		return "none"
	case PolicyBestEffort:
		return "best-effort"
	case PolicyRestricted:
		return "restricted"
	case PolicySingleNode:
		return "single-numa-node"
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ParsePolicy returns the policy of the kubelet's name.
func ParsePolicy(name string) (Policy, error) {
	for p := PolicyNone; p <= PolicySingleNode; p++ {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("%w: policy %q is none of none, best-effort, restricted, single-numa-node", ErrConfig, name)
}

// admits applies the policy to a merged hint.
func (p Policy) admits(h Hint) bool {
	return p == PolicyNone || p == PolicyBestEffort || h.Preferred
}

// finish gives a merged hint its outward form: single-numa-node reports a
// mask of the whole machine as no affinity at all (topologymanager,
// policy_single_numa_node.go).
func (l *Layout) finish(p Policy, h Hint) (Hint, bool) {
	if p == PolicySingleNode && h.Nodes == l.all {
		h = Hint{Any: true, Preferred: h.Preferred}
	}
	return h, p.admits(h)
}

// better reports whether mask a comes before mask b: fewer nodes first, then
// (closest only) the smaller sum of distances over ordered pairs, then the
// smaller integer. For equal counts the sum orders as the mean does.
func (l *Layout) better(a, b *Mask, closest bool) bool {
	if x, y := a.Len(), b.Len(); x != y {
		return x < y
	}
	if closest {
		if x, y := l.spread(a), l.spread(b); x != y {
			return x < y
		}
	}
	return a.Compare(b) < 0
}

func (l *Layout) spread(m *Mask) int {
	sum := 0
	for a := range m.All() {
		for b := range m.All() {
			sum += l.Distance(a, b)
		}
	}
	return sum
}

// chooser picks the merged mask of a set of candidates none of which is
// preferred. best is the size to aim at: the largest of the lists' narrowest
// hints. Equal to it is best, then the largest below, then the smallest above
// (topologymanager, HintMerger.compare).
type chooser struct {
	l       *Layout
	best    int
	closest bool
	have    bool
	mask    Mask
}

func (c *chooser) rank(n int) int {
	if n <= c.best {
		return c.best - n
	}
	return n // any size above ranks behind every size below
}

func (c *chooser) offer(m *Mask) {
	n := m.Len()
	if n == 0 {
		return
	}
	if c.have {
		old, new := c.rank(c.mask.Len()), c.rank(n)
		if new > old || new == old && !c.l.better(m, &c.mask, c.closest) {
			return
		}
	}
	c.have, c.mask = true, *m
}
