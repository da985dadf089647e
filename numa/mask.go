package numa

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// MaxNodeID is the largest NUMA node id that a [Mask] can hold. It is the
// Linux kernel's own limit (MAX_NUMNODES with NODES_SHIFT = 10).
const MaxNodeID = maskWords*64 - 1

const maskWords = 16

// Mask is a set of NUMA node ids. The zero value is the empty set; masks are
// comparable and can be map keys. Methods that take a node id panic, as an
// array index does, when the id is outside 0..[MaxNodeID]; a compiled [Layout]
// holds no such id.
type Mask [maskWords]uint64

// MaskOf returns the set of the given node ids.
func MaskOf(ids ...int) Mask {
	var m Mask
	for _, id := range ids {
		m[id>>6] |= 1 << (id & 63)
	}
	return m
}

// Has reports whether node id is in the set.
func (m *Mask) Has(id int) bool { return m[id>>6]>>(id&63)&1 != 0 }

// Add puts node id into the set.
func (m *Mask) Add(id int) { m[id>>6] |= 1 << (id & 63) }

// And returns the intersection.
func (m Mask) And(o Mask) Mask {
	for i := range m {
		m[i] &= o[i]
	}
	return m
}

// Or returns the union.
func (m Mask) Or(o Mask) Mask {
	for i := range m {
		m[i] |= o[i]
	}
	return m
}

// Minus returns the nodes of m that are not in o.
func (m Mask) Minus(o Mask) Mask {
	for i := range m {
		m[i] &^= o[i]
	}
	return m
}

// Contains reports whether every node of o is in m.
func (m Mask) Contains(o Mask) bool { return o.Minus(m).IsEmpty() }

// Intersects reports whether m and o share a node.
func (m *Mask) Intersects(o *Mask) bool {
	for i := range m {
		if m[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// IsEmpty reports whether the set has no node.
func (m Mask) IsEmpty() bool { return m == Mask{} }

// Len returns the number of nodes in the set.
func (m *Mask) Len() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the node ids in ascending order.
func (m Mask) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range m {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Compare orders masks as integers: the mask without the highest id on which
// the two differ comes first.
func (m *Mask) Compare(o *Mask) int {
	for i := maskWords - 1; i >= 0; i-- {
		if m[i] != o[i] {
			if m[i] < o[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// String writes the set in the kernel's list format, as in "0-3,8".
func (m Mask) String() string { return formatList(m.All()) }

// formatList writes ascending ids as comma-separated ranges.
func formatList(ids iter.Seq[int]) string {
	var b strings.Builder
	first, last := -1, -1
	flush := func() {
		if first < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(last))
		}
	}
	for id := range ids {
		if first >= 0 && id == last+1 {
			last = id
			continue
		}
		flush()
		first, last = id, id
	}
	flush()
	return b.String()
}
