package affinity

import "hash/maphash"

// podTable finds placed pods by namespace and name: open addressing with linear probing over pod ids, the keys staying in
// the pods. It takes 5 to 11 bytes a pod, where a map of keys takes some 50. Removal closes the gap by moving entries
// back (Knuth, The Art of Computer Programming, vol. 3, section 6.4, algorithm R).
type podTable struct {
	seed  maphash.Seed // where a pod lies is never seen outside
	slots []podID      // length a power of two; noPod where free
	n     int
}

const noPod podID = -1

func (t *podTable) home(ns int32, name string) int {
	h := maphash.String(t.seed, name) ^ uint64(ns)*0x9e3779b97f4a7c15
	return int(h) & (len(t.slots) - 1)
}

// find returns the slot of the pod of that key, or the free one where it belongs.
func (t *podTable) find(pods []pod, ns int32, name string) (slot int, ok bool) {
	for i := t.home(ns, name); ; i = (i + 1) & (len(t.slots) - 1) {
		id := t.slots[i]
		if id == noPod {
			return i, false
		}
		if p := &pods[id]; p.ns == ns && p.name == name {
			return i, true
		}
	}
}

func (t *podTable) get(pods []pod, ns int32, name string) (podID, bool) {
	if t.n == 0 {
		return noPod, false
	}
	i, ok := t.find(pods, ns, name)
	return t.slots[i], ok
}

// add enters pod id, whose key must not be present.
func (t *podTable) add(pods []pod, id podID) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow(pods)
	}
	i, _ := t.find(pods, pods[id].ns, pods[id].name)
	t.slots[i] = id
	t.n++
}

func (t *podTable) grow(pods []pod) {
	old := t.slots
	if old == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = make([]podID, max(16, 2*len(old)))
	for i := range t.slots {
		t.slots[i] = noPod
	}
	for _, id := range old {
		if id != noPod {
			i, _ := t.find(pods, pods[id].ns, pods[id].name)
			t.slots[i] = id
		}
	}
}

// remove takes out pod id, which must be present.
func (t *podTable) remove(pods []pod, id podID) {
	gap, _ := t.find(pods, pods[id].ns, pods[id].name)
	mask := len(t.slots) - 1
	for i := (gap + 1) & mask; t.slots[i] != noPod; i = (i + 1) & mask {
		p := &pods[t.slots[i]]
		// The entry may fill the gap unless its home lies after it.
		if (i-t.home(p.ns, p.name))&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap] = noPod
	t.n--
}
