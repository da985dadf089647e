package affinity

// table finds items by a hash of their keys, which stay in the items: open addressing with linear probing. An entry holds
// the hash, so that other items are not looked at on the way, nor when the table grows: what is not looked at need not be
// fetched from memory. Removal closes the gap by moving entries back (Knuth, The Art of Computer Programming, vol. 3,
// section 6.4, algorithm R).
//
// To find an item, go from at(hash) by after until an entry is free, and compare the items of the entries with the hash.
type table[T any] struct {
	entries []tableEntry[T] // length a power of two
	n       int
}

type tableEntry[T any] struct {
	hash uint32 // 0 where free; see fold
	item T
}

// fold makes the hash for an entry, which is not 0.
func fold(h uint64) uint32 { return uint32(h^h>>32) | 1<<31 }

func (t *table[T]) at(hash uint32) int { return int(hash) & (len(t.entries) - 1) }

func (t *table[T]) after(i int) int { return (i + 1) & (len(t.entries) - 1) }

// add enters an item, which must not be present.
func (t *table[T]) add(hash uint32, item T) {
	if 4*(t.n+1) > 3*len(t.entries) {
		old := t.entries
		t.entries = make([]tableEntry[T], max(16, 2*len(old)))
		for _, e := range old {
			if e.hash != 0 {
				t.put(e)
			}
		}
	}
	t.put(tableEntry[T]{hash, item})
	t.n++
}

func (t *table[T]) put(e tableEntry[T]) {
	i := t.at(e.hash)
	for t.entries[i].hash != 0 {
		i = t.after(i)
	}
	t.entries[i] = e
}

// remove takes out the item of entry gap.
func (t *table[T]) remove(gap int) {
	mask := len(t.entries) - 1
	for i := t.after(gap); t.entries[i].hash != 0; i = t.after(i) {
		// The entry may fill the gap unless its home lies after it.
		if (i-t.at(t.entries[i].hash))&mask >= (i-gap)&mask {
			t.entries[gap] = t.entries[i]
			gap = i
		}
	}
	t.entries[gap] = tableEntry[T]{}
	t.n--
}
