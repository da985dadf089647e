package berth

import (
	"strconv"
	"unicode/utf8"
)

// fieldPath is the way from a spec to one of its fields, as a list from the field up to the spec. Its parts live on the
// stack of the functions that walk the spec: the path is written out only when there is a fault to report, which is what
// keeps the validation of a good spec free of allocations.
type fieldPath struct {
	parent *fieldPath
	kind   pathKind
	name   string // of a field, or the key of a map entry
	index  int    // of a list element
}

type pathKind uint8

const (
	pathField pathKind = iota
	pathKey
	pathIndex
)

func (p *fieldPath) field(name string) fieldPath {
	return fieldPath{parent: p, kind: pathField, name: name}
}

func (p *fieldPath) key(name string) fieldPath {
	return fieldPath{parent: p, kind: pathKey, name: name}
}

func (p *fieldPath) at(index int) fieldPath {
	return fieldPath{parent: p, kind: pathIndex, index: index}
}

// String spells the path as the Kubernetes API does: "spec.taints[0].key", "metadata.labels[app]".
func (p *fieldPath) String() string { return string(p.append(nil)) }

// append copies names byte by byte: returning one as it is would move every path to the heap, because the compiler does
// not tell apart where the fields of a struct flow to.
func (p *fieldPath) append(b []byte) []byte {
	if p.parent != nil {
		b = p.parent.append(b)
	}
	switch p.kind {
	case pathIndex:
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(p.index), 10)
		return append(b, ']')
	case pathKey:
		b = append(b, '[')
		b = append(b, cut(p.name)...)
		return append(b, ']')
	}
	if p.parent != nil {
		b = append(b, '.')
	}
	return append(b, p.name...)
}

// maxShown is how many bytes of a value an error shows.
const maxShown = 80

// cut returns s, or as much of it as an error shows, in a copy that does not keep the rest alive.
func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > maxShown-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// cutList returns the values separated by commas, or as many of them as an error shows.
func cutList(values []string) string {
	var s string
	for i, value := range values {
		if i > 0 {
			s += ","
		}
		s += cut(value)
		if len(s) > maxShown {
			break
		}
	}
	return cut(s)
}
