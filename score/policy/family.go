package policy

import (
	"encoding/binary"

	"github.com/berth-go/berth/topology"
)

// familySize is how many sets are kept for one term: of so many different pods, as far as the term looks at them.
const familySize = 16

// family is a term that depends on the node's own state and on values that do not depend on the node, such as what the pod
// requests. For each combination of these values that came up lately there is a set, which grows and is repaired as nodes
// are asked for.
type family struct {
	holds truthOf
	// made, if not nil, is a shorter way to the same for many nodes. columns are what both read.
	made    term
	columns []*column
	// once are the parts that the term recalls: they, and the pod's class if ofClass, are what tells members apart.
	once    []int
	ofClass bool

	members []member
	uses    int64
	key     []byte // scratch
}

type member struct {
	key   string
	epoch int
	seen  int64
	used  int64
	// set holds among the nodes of valid.
	set, valid topology.NodeSet
}

func (c *compiler) family(n *node) *family {
	f := &family{ofClass: n.ofClass}
	inner := compiler{program: c.program, keep: c.keep, within: f}
	f.holds = inner.truth(n)
	if comparison := inner.blockComparison(n); comparison != nil {
		f.made = comparison
	}
	return f
}

// root compiles a whole filter. If it depends on the pod, what comes out for a pod's values is kept as well: as long as they
// are among the last ones, it takes one set and not one for each part.
func (c *compiler) root(n *node) term {
	t := c.set(n)
	if n.ofNodeAlone() || !n.readsNode() || n.volatile || n.kind != and && n.kind != or && n.kind != not {
		return t
	}
	f := c.family(n)
	f.made = t
	return f
}

func (f *family) narrow(r *run, s *topology.NodeSet) {
	m := f.member(r)
	f.repair(r, m)
	if r.err == nil && !s.Subset(&m.valid) {
		f.ask(r, m, s)
	}
	s.Intersect(&m.set)
}

// repair looks again at the valid nodes that changed, if they are few, or takes them for not valid.
func (f *family) repair(r *run, m *member) {
	changed, now, ok := r.graph.Changes(m.seen)
	switch {
	case m.epoch != r.epoch || !ok:
		m.valid.Clear()
		changed = nil
	case len(changed) == 0:
		return
	}
	for _, c := range f.columns {
		c.refresh(r)
	}
	live := r.index.Live()
	for _, n := range changed {
		if r.stopped() {
			return
		}
		switch {
		case !m.valid.Has(n):
		case len(changed) > repairMax || !live.Has(n):
			m.valid.Remove(n)
		default:
			m.set.Set(n, f.holds(r, n))
		}
	}
	if r.err == nil {
		m.epoch, m.seen = r.epoch, now
	}
}

// repairMax is up to how many changed nodes are looked at one by one at once, rather than together with all that are asked
// for and not valid. The latter takes several passes over the sets.
const repairMax = 256

// ask makes the nodes of s valid in a member.
func (f *family) ask(r *run, m *member, s *topology.NodeSet) {
	asked := r.take()
	asked.CopyFrom(s)
	asked.Subtract(&m.valid)
	if f.made != nil {
		have := r.take()
		have.CopyFrom(asked)
		f.made.narrow(r, have)
		m.set.Subtract(asked)
		m.set.Union(have)
		r.give(have)
	} else {
		for n := range asked.All() {
			if r.stopped() {
				break
			}
			m.set.Set(n, f.holds(r, n))
		}
	}
	if r.err == nil {
		m.valid.Union(asked)
	}
	r.give(asked)
}

// member returns the member for the values of this evaluation; a new one takes the place of the least recently used.
func (f *family) member(r *run) *member {
	f.encode(r)
	f.uses++
	oldest := 0
	for i := range f.members {
		m := &f.members[i]
		if m.key == string(f.key) {
			m.used = f.uses
			return m
		}
		if m.used < f.members[oldest].used {
			oldest = i
		}
	}
	if len(f.members) < familySize {
		oldest = len(f.members)
		f.members = append(f.members, member{})
	}
	m := &f.members[oldest]
	m.key, m.epoch, m.used = string(f.key), 0, f.uses
	return m
}

// encode writes the values that tell members apart to f.key.
func (f *family) encode(r *run) {
	f.key = f.key[:0]
	if f.ofClass {
		f.key = binary.AppendUvarint(f.key, r.class)
	}
	for _, at := range f.once {
		v := r.recall(at)
		switch {
		case v.missing:
			f.key = append(f.key, 0)
		case v.truth:
			f.key = append(f.key, 2)
		default:
			f.key = append(f.key, 1)
			f.key = binary.AppendVarint(f.key, int64(v.num))
			f.key = binary.AppendUvarint(f.key, uint64(len(v.text)))
			f.key = append(f.key, v.text...)
		}
	}
}
