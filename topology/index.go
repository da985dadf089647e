package topology

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// KeyID is a label key, ValueID a value of one key: dense indices from 0.
type (
	KeyID   int32
	ValueID int32
)

// NoValue is the value of a node that does not carry the key.
const NoValue ValueID = -1

// Domain is the set of the nodes that carry the label Key=Value.
type Domain struct {
	Key   KeyID
	Value ValueID
}

// Index holds nodes and their labels. The zero value is empty and ready to use.
type Index struct {
	nodes  []node
	byName map[string]NodeID
	free   []NodeID // ids of removed nodes, last removed is reused first
	live   NodeSet
	keys   []key
	byKey  map[string]KeyID
}

type node struct {
	name   string
	labels []Domain // ascending by key
}

type key struct {
	column   []ValueID // value of each node, while columns > 0
	columns  int32     // users of column
	domains  int32     // values carried by at least one node
	squares  int64     // sum over the domains of size squared
	name     string
	values   []value
	byValue  map[string]ValueID
	free     []ValueID
	carriers posting
}

type value struct {
	name  string
	nodes posting
	refs  int32 // nodes and Acquire
}

// Cap returns a bound on ids: every NodeID is below it. Columns by node have this length at least.
func (x *Index) Cap() int { return len(x.nodes) }

// Len returns the number of nodes.
func (x *Index) Len() int { return len(x.nodes) - len(x.free) }

// Live returns the set of all nodes. The caller must not change it.
func (x *Index) Live() *NodeSet { return &x.live }

// Lookup returns the node of that name. O(1).
func (x *Index) Lookup(name string) (NodeID, bool) {
	n, ok := x.byName[name]
	return n, ok
}

// Name returns the name of node n.
func (x *Index) Name(n NodeID) string { return x.nodes[n].name }

// Add enters a node. The map is read, not kept; its strings are. A name that is present is an error.
func (x *Index) Add(name string, labels map[string]string) (NodeID, error) {
	if _, ok := x.byName[name]; ok {
		return None, fmt.Errorf("topology: node %q is present already", name)
	}
	if x.byName == nil {
		x.byName = make(map[string]NodeID)
	}
	var n NodeID
	if k := len(x.free); k > 0 {
		n, x.free = x.free[k-1], x.free[:k-1]
	} else {
		n = NodeID(len(x.nodes))
		x.nodes = append(x.nodes, node{})
		for i := range x.keys {
			if k := &x.keys[i]; k.columns > 0 {
				k.column = append(k.column, NoValue)
			}
		}
	}
	x.byName[name] = n
	x.live.Add(n)
	x.nodes[n].name = name
	x.nodes[n].labels = x.enter(n, labels)
	return n, nil
}

// Relabel replaces the labels of node n.
func (x *Index) Relabel(n NodeID, labels map[string]string) {
	old := x.nodes[n].labels
	x.nodes[n].labels = x.enter(n, labels)
	x.leave(n, old, x.nodes[n].labels)
}

// Remove takes node n out; its id may be given to a later node.
func (x *Index) Remove(n NodeID) {
	x.leave(n, x.nodes[n].labels, nil)
	delete(x.byName, x.nodes[n].name)
	x.live.Remove(n)
	x.nodes[n] = node{}
	x.free = append(x.free, n)
}

// enter interns labels and adds n to the postings that it is not in yet. The result is sorted by key.
func (x *Index) enter(n NodeID, labels map[string]string) []Domain {
	old := x.nodes[n].labels
	names := make([]string, 0, len(labels))
	for k := range labels {
		names = append(names, k)
	}
	slices.Sort(names) // ids must not depend on map order
	ds := make([]Domain, 0, len(names))
	for _, name := range names {
		k := x.Key(name)
		ds = append(ds, Domain{k, x.intern(k, labels[name])})
	}
	slices.SortFunc(ds, func(a, b Domain) int { return int(a.Key - b.Key) })
	for _, d := range ds {
		k := &x.keys[d.Key]
		k.values[d.Value].refs++
		if hasKey(old, d.Key) == NoValue {
			k.carriers.add(n)
		}
		if k.columns > 0 {
			k.column[n] = d.Value
		}
		if hasKey(old, d.Key) != d.Value {
			k.grow(d.Value, +1, n)
		}
	}
	return ds
}

// leave removes n from the postings of old that are not in now.
func (x *Index) leave(n NodeID, old, now []Domain) {
	for _, d := range old {
		k := &x.keys[d.Key]
		v := hasKey(now, d.Key)
		if v == NoValue {
			k.carriers.remove(n)
			if k.columns > 0 {
				k.column[n] = NoValue
			}
		}
		if v != d.Value {
			k.grow(d.Value, -1, n)
		}
		x.Release(d)
	}
}

// grow adds node n to the domain (by +1) or removes it (by -1), with the statistics of the key.
func (k *key) grow(v ValueID, by int, n NodeID) {
	p := &k.values[v].nodes
	before := int64(p.n)
	if by > 0 {
		p.add(n)
	} else {
		p.remove(n)
	}
	after := int64(p.n)
	k.squares += after*after - before*before
	if before == 0 {
		k.domains++
	}
	if after == 0 {
		k.domains--
	}
}

func hasKey(ds []Domain, k KeyID) ValueID {
	for _, d := range ds {
		if d.Key == k {
			return d.Value
		}
	}
	return NoValue
}

// Key interns a label key. Keys are never dropped.
func (x *Index) Key(name string) KeyID {
	if k, ok := x.byKey[name]; ok {
		return k
	}
	if x.byKey == nil {
		x.byKey = make(map[string]KeyID)
	}
	k := KeyID(len(x.keys))
	name = strings.Clone(name)
	x.keys = append(x.keys, key{name: name, byValue: make(map[string]ValueID)})
	x.byKey[name] = k
	return k
}

// FindKey returns the id of a label key, and false if it has none yet. Other than Key it changes nothing. O(1).
func (x *Index) FindKey(name string) (KeyID, bool) {
	k, ok := x.byKey[name]
	return k, ok
}

// FindValue returns the domain of a value of key k, and false if the value has no id. It changes nothing, and keeps nothing
// from being dropped as Acquire does. O(1).
func (x *Index) FindValue(k KeyID, name string) (Domain, bool) {
	v, ok := x.keys[k].byValue[name]
	return Domain{k, v}, ok
}

// KeyName returns the name of a key.
func (x *Index) KeyName(k KeyID) string { return x.keys[k].name }

func (x *Index) intern(k KeyID, name string) ValueID {
	key := &x.keys[k]
	if v, ok := key.byValue[name]; ok {
		return v
	}
	var v ValueID
	if f := len(key.free); f > 0 {
		v, key.free = key.free[f-1], key.free[:f-1]
	} else {
		v = ValueID(len(key.values))
		key.values = append(key.values, value{})
	}
	key.values[v].name = name
	key.byValue[name] = v
	return v
}

// Acquire interns a value and keeps its id from being dropped until Release, even while no node carries it.
func (x *Index) Acquire(k KeyID, name string) Domain {
	v := x.intern(k, name)
	x.keys[k].values[v].refs++
	return Domain{k, v}
}

// Release undoes one Acquire.
func (x *Index) Release(d Domain) {
	k := &x.keys[d.Key]
	v := &k.values[d.Value]
	if v.refs--; v.refs == 0 {
		delete(k.byValue, v.name)
		*v = value{}
		k.free = append(k.free, d.Value)
	}
}

// ValueName returns the value of a domain.
func (x *Index) ValueName(d Domain) string { return x.keys[d.Key].values[d.Value].name }

// ValueCap returns a bound on the values of key k: every ValueID is below it.
func (x *Index) ValueCap(k KeyID) int { return len(x.keys[k].values) }

// Domains returns how many values of key k are carried by at least one node.
func (x *Index) Domains(k KeyID) int { return int(x.keys[k].domains) }

// MeanSize returns the size of the domain of a node, averaged over the nodes that carry key k; 0 if none does.
func (x *Index) MeanSize(k KeyID) float64 {
	key := &x.keys[k]
	if key.carriers.n == 0 {
		return 0
	}
	return float64(key.squares) / float64(key.carriers.n)
}

// Value returns the value that node n carries for key k, or NoValue. O(labels), or O(1) with a column.
func (x *Index) Value(n NodeID, k KeyID) ValueID {
	if key := &x.keys[k]; key.columns > 0 {
		return key.column[n]
	}
	return hasKey(x.nodes[n].labels, k)
}

// Labels returns the labels of node n, ascending by key. The caller must not change them.
func (x *Index) Labels(n NodeID) []Domain { return x.nodes[n].labels }

// Nodes iterates over the nodes of a domain in ascending order.
func (x *Index) Nodes(d Domain) iter.Seq[NodeID] { return x.keys[d.Key].values[d.Value].nodes.all() }

// Size returns the number of nodes of a domain.
func (x *Index) Size(d Domain) int { return int(x.keys[d.Key].values[d.Value].nodes.n) }

// Union adds the nodes of a domain to s. O(size), or O(capacity/64) for a large domain.
func (x *Index) Union(s *NodeSet, d Domain) { x.keys[d.Key].values[d.Value].nodes.addTo(s) }

// UnionCarriers adds the nodes that carry key k to s.
func (x *Index) UnionCarriers(s *NodeSet, k KeyID) { x.keys[k].carriers.addTo(s) }

// KeepColumn makes Value(_, k) O(1) at 4 bytes a node, until as many calls of DropColumn.
func (x *Index) KeepColumn(k KeyID) {
	key := &x.keys[k]
	if key.columns++; key.columns > 1 {
		return
	}
	key.column = slices.Repeat([]ValueID{NoValue}, len(x.nodes))
	for n := range key.carriers.all() {
		key.column[n] = hasKey(x.nodes[n].labels, k)
	}
}

// DropColumn undoes one KeepColumn.
func (x *Index) DropColumn(k KeyID) {
	key := &x.keys[k]
	if key.columns--; key.columns == 0 {
		key.column = nil
	}
}

// Column returns the value of each node for key k, NoValue where it has none: length Cap, order of NodeID. It is nil
// without KeepColumn, and valid until a node is added. The caller must not change it.
func (x *Index) Column(k KeyID) []ValueID { return x.keys[k].column }
