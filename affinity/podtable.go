package affinity

import (
	"hash/maphash"

	"github.com/berth-go/berth/internal/hashtable"
)

// podTable finds placed pods by namespace and name. It takes 16 to 32 bytes a pod, where a map of keys takes some 50.
type podTable struct {
	seed maphash.Seed // where a pod lies is never seen outside
	hashtable.Table[podID]
}

const noPod podID = -1

func (t *podTable) hash(ns int32, name string) uint32 {
	return hashtable.Fold(maphash.String(t.seed, name) ^ uint64(ns)*0x9e3779b97f4a7c15)
}

// remove takes out pod id, which must be present.
func (t *podTable) remove(pods []pod, id podID) {
	p := &pods[id]
	t.Table.Remove(t.find(pods, t.hash(p.ns, p.name), p.ns, p.name))
}

// classTable finds classes by their keys.
type classTable struct {
	seed maphash.Seed
	hashtable.Table[*class]
	// last is the class that was found last: a pod is decided on and then bound. nil if that is gone.
	last *class
}

// get returns the class of that key, nil if there is none.
func (t *classTable) get(key []byte) *class {
	if c := t.last; c != nil && c.key == string(key) {
		return c
	}
	if t.Len() == 0 {
		return nil
	}
	h := hashtable.Fold(maphash.Bytes(t.seed, key))
	for i := t.At(h); t.Entries[i].Hash != 0; i = t.After(i) {
		if e := &t.Entries[i]; e.Hash == h && e.Item.key == string(key) {
			t.last = e.Item
			return e.Item
		}
	}
	return nil
}

// add enters a class, whose key must not be present.
func (t *classTable) add(c *class) { t.Table.Add(hashtable.Fold(maphash.String(t.seed, c.key)), c) }

// remove takes out a class, which must be present.
func (t *classTable) remove(c *class) {
	i := t.At(hashtable.Fold(maphash.String(t.seed, c.key)))
	for t.Entries[i].Item != c {
		i = t.After(i)
	}
	t.Table.Remove(i)
	t.last = nil
}
