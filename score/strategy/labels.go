package strategy

import (
	"maps"
	"slices"

	"github.com/berth-go/berth/topology"
)

// labels are labels to be carried, all of them, ascending by key.
type labels []label

type label struct{ key, value string }

func labelsOf(m map[string]string) labels {
	var l labels
	for _, key := range slices.Sorted(maps.Keys(m)) {
		l = append(l, label{key, m[key]})
	}
	return l
}

// in reports whether a pod's labels contain them.
func (l labels) in(carried map[string]string) bool {
	for _, want := range l {
		if value, ok := carried[want.key]; !ok || value != want.value {
			return false
		}
	}
	return true
}

// domains returns the domains of nodes with each of the labels, and false if no node can carry all.
func (l labels) domains(x *topology.Index) ([]topology.Domain, bool) {
	list := make([]topology.Domain, 0, len(l))
	for _, want := range l {
		key, ok := x.FindKey(want.key)
		if !ok {
			return nil, false
		}
		d, ok := x.FindValue(key, want.value)
		if !ok {
			return nil, false
		}
		list = append(list, d)
	}
	return list, true
}
