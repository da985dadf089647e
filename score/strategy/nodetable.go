package strategy

import "github.com/berth-go/berth/topology"

// nodeTable holds what the caller handed in for nodes, by name, and finds it by number: to look the name up in a map would be
// most of what a score costs. The zero value is empty.
type nodeTable[T any] struct {
	names map[string]*nodeData[T]
	found []*nodeData[T] // by number, what a look-up brought; the number may be another node's by now
}

type nodeData[T any] struct {
	name    string
	value   T
	dropped bool
}

func (t *nodeTable[T]) set(name string, value T) {
	if d := t.names[name]; d != nil {
		d.value = value
		return
	}
	if t.names == nil {
		t.names = make(map[string]*nodeData[T])
	}
	t.names[name] = &nodeData[T]{name: name, value: value}
}

func (t *nodeTable[T]) forget(name string) {
	if d := t.names[name]; d != nil {
		d.dropped = true
		delete(t.names, name)
	}
}

// grow makes room for all nodes, so that find can keep what it looked up. It is for the methods that are called once a
// decision.
func (t *nodeTable[T]) grow(x *topology.Index) {
	if more := x.Cap() - len(t.found); more > 0 {
		t.found = append(t.found, make([]*nodeData[T], more)...)
	}
}

// find returns what there is for a node. Several goroutines may call it at a time, for different nodes.
func (t *nodeTable[T]) find(x *topology.Index, n topology.NodeID) (value T, ok bool) {
	name, kept := x.Name(n), int(n) < len(t.found)
	if kept {
		if d := t.found[n]; d != nil && !d.dropped && d.name == name {
			return d.value, true
		}
	}
	d := t.names[name]
	if d == nil {
		return value, false
	}
	if kept {
		t.found[n] = d
	}
	return d.value, true
}
