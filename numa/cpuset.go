package numa

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxCPUID is the largest CPU id that readers and [Compile] accept, far above
// the kernel's NR_CPUS of 8192; it keeps a corrupt id from sizing a set.
const MaxCPUID = 1<<16 - 1

// CPUSet is a set of logical CPU ids. The zero value is the empty set. Sets
// returned by methods share no memory with their operands; Add and Remove
// change the receiver in place. Negative ids are never members.
type CPUSet struct{ words []uint64 }

// CPUs returns the set of the given ids.
func CPUs(ids ...int) CPUSet {
	var s CPUSet
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// ParseCPUs reads the kernel's list format, as in "0-3,8,10-11"; white space
// around the list is ignored and the empty list is the empty set.
func ParseCPUs(list string) (CPUSet, error) {
	var s CPUSet
	err := parseList(list, MaxCPUID, s.Add)
	return s, err
}

// ParseNodes reads the kernel's list format as a set of NUMA node ids.
func ParseNodes(list string) (Mask, error) {
	var m Mask
	err := parseList(list, MaxNodeID, m.Add)
	return m, err
}

// ParseCPUMask reads the kernel's mask format: hexadecimal words of 32 bits,
// the highest first, separated by commas, as in "00000003,ffffffff"; an 0x
// before each word is allowed, and an empty word is zero, as hwloc writes it.
func ParseCPUMask(mask string) (CPUSet, error) {
	var s CPUSet
	words := strings.Split(strings.TrimSpace(mask), ",")
	for i, text := range words {
		text = strings.TrimPrefix(strings.TrimSpace(text), "0x")
		if text == "" && len(words) > 1 {
			continue
		}
		w, err := strconv.ParseUint(text, 16, 64)
		base := 32 * (len(words) - 1 - i)
		if err != nil || len(words) > 1 && w > 1<<32-1 || base > MaxCPUID {
			return s, fmt.Errorf("%w: mask %q: bad word %q", ErrSyntax, mask, text)
		}
		for ; w != 0; w &= w - 1 {
			s.Add(base + bits.TrailingZeros64(w))
		}
	}
	return s, nil
}

func parseList(list string, limit int, add func(int)) error {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil
	}
	for part := range strings.SplitSeq(list, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.ParseUint(lo, 10, 31)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(hi, 10, 31)
		}
		if err != nil || last < first || last > uint64(limit) {
			return fmt.Errorf("%w: list %q: bad range %q (ids are 0..%d)", ErrSyntax, list, part, limit)
		}
		for id := first; id <= last; id++ {
			add(int(id))
		}
	}
	return nil
}

// Add puts CPU id into the set; a negative id is ignored.
func (s *CPUSet) Add(id int) {
	if id < 0 {
		return
	}
	for id>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[id>>6] |= 1 << (id & 63)
}

// Remove takes CPU id out of the set.
func (s *CPUSet) Remove(id int) {
	if s.Has(id) {
		s.words[id>>6] &^= 1 << (id & 63)
	}
}

// Has reports whether CPU id is in the set.
func (s CPUSet) Has(id int) bool {
	return id >= 0 && id>>6 < len(s.words) && s.words[id>>6]>>(id&63)&1 != 0
}

// Len returns the number of CPUs in the set.
func (s CPUSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsEmpty reports whether the set has no CPU.
func (s CPUSet) IsEmpty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares no memory with s.
func (s CPUSet) Clone() CPUSet { return CPUSet{slices.Clone(s.words)} }

// Or returns the union.
func (s CPUSet) Or(o CPUSet) CPUSet {
	if len(s.words) < len(o.words) {
		s, o = o, s
	}
	r := s.Clone()
	for i, w := range o.words {
		r.words[i] |= w
	}
	return r
}

// And returns the intersection.
func (s CPUSet) And(o CPUSet) CPUSet {
	n := min(len(s.words), len(o.words))
	r := CPUSet{make([]uint64, n)}
	for i := range n {
		r.words[i] = s.words[i] & o.words[i]
	}
	return r
}

// Minus returns the CPUs of s that are not in o.
func (s CPUSet) Minus(o CPUSet) CPUSet {
	r := s.Clone()
	for i := range min(len(r.words), len(o.words)) {
		r.words[i] &^= o.words[i]
	}
	return r
}

// Contains reports whether every CPU of o is in s.
func (s CPUSet) Contains(o CPUSet) bool {
	for i, w := range o.words {
		if i < len(s.words) {
			w &^= s.words[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Intersects reports whether s and o share a CPU.
func (s CPUSet) Intersects(o CPUSet) bool {
	for i := range min(len(s.words), len(o.words)) {
		if s.words[i]&o.words[i] != 0 {
			return true
		}
	}
	return false
}

// Equal reports whether s and o hold the same CPUs.
func (s CPUSet) Equal(o CPUSet) bool { return s.Contains(o) && o.Contains(s) }

// All yields the ids in ascending order.
func (s CPUSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Min returns the smallest id, or -1 for the empty set.
func (s CPUSet) Min() int {
	for id := range s.All() {
		return id
	}
	return -1
}

// String writes the set in the kernel's list format, as in "0-3,8".
func (s CPUSet) String() string { return formatList(s.All()) }
