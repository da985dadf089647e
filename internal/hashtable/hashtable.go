// Package hashtable is a hash table whose keys stay in the items.
package hashtable

// Table finds items by a hash of their keys: open addressing with linear probing. An entry holds the hash, so that other
// items are not looked at on the way, nor when the table grows: what is not looked at need not be fetched from memory. Removal
// closes the gap by moving entries back (Knuth, The Art of Computer Programming, vol. 3, section 6.4, algorithm R).
//
// To find an item, if Len is not 0, go from At(hash) by After until an entry is free, and compare the items of the entries with the hash.
// The zero value is empty.
type Table[T any] struct {
	Entries []Entry[T] // length a power of two, or 0
	n       int
}

// Entry is a place in a table.
type Entry[T any] struct {
	Hash uint32 // 0 where free; see Fold
	Item T
}

// Fold makes the hash for an entry, which is not 0.
func Fold(h uint64) uint32 { return uint32(h^h>>32) | 1<<31 }

// Len is the number of items.
func (t *Table[T]) Len() int { return t.n }

// At is where the search for a hash begins.
func (t *Table[T]) At(hash uint32) int { return int(hash) & (len(t.Entries) - 1) }

// After is where it goes on.
func (t *Table[T]) After(i int) int { return (i + 1) & (len(t.Entries) - 1) }

// Add enters an item, which must not be present.
func (t *Table[T]) Add(hash uint32, item T) {
	if 2*(t.n+1) > len(t.Entries) { // at three quarters a search would look at 8 entries on average, at one half at 2 or 3
		t.grow()
	}
	t.put(Entry[T]{hash, item})
	t.n++
}

func (t *Table[T]) grow() {
	old := t.Entries
	t.Entries = make([]Entry[T], max(16, 2*len(old)))
	for _, e := range old {
		if e.Hash != 0 {
			t.put(e)
		}
	}
}

func (t *Table[T]) put(e Entry[T]) {
	i := t.At(e.Hash)
	for t.Entries[i].Hash != 0 {
		i = t.After(i)
	}
	t.Entries[i] = e
}

// Remove takes out the item of entry gap.
func (t *Table[T]) Remove(gap int) {
	mask := len(t.Entries) - 1
	for i := t.After(gap); t.Entries[i].Hash != 0; i = t.After(i) {
		// The entry may fill the gap unless its home lies after it.
		if (i-t.At(t.Entries[i].Hash))&mask >= (i-gap)&mask {
			t.Entries[gap] = t.Entries[i]
			gap = i
		}
	}
	t.Entries[gap] = Entry[T]{}
	t.n--
}
