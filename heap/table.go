package heap

import (
	"hash/maphash"
	"math/bits"
)

// bucket is an entry of the index.
type bucket struct {
	hash uint32 // of the key, so that moving buckets hashes nothing
	at   int32  // the place of the node; 0, which is no place, if the bucket is empty
}

type item[K comparable, V any] struct {
	key   K
	value V
}

// hash is that of hash/maphash, but for plain numbers, which it takes longer to hash than everything else takes to find: theirs is a
// multiplication of 64 by 64 bits, both halves of which count, after a secret is mixed in.
func (h *Heap[K, V]) hash(key K) uint32 {
	switch k := any(key).(type) {
	case uint64:
		return h.scramble(k)
	case int64:
		return h.scramble(uint64(k))
	case int:
		return h.scramble(uint64(k))
	case uint32:
		return h.scramble(uint64(k))
	case int32:
		return h.scramble(uint64(k))
	case string:
		return uint32(maphash.String(h.seed, k) >> 32)
	}
	return uint32(maphash.Comparable(h.seed, key) >> 32)
}

func (h *Heap[K, V]) scramble(k uint64) uint32 {
	high, low := bits.Mul64(k^h.secret, 0x9e3779b97f4a7c15)
	high, low = bits.Mul64(high^low, 0xd6e8feb86659fd93)
	return uint32((high ^ low) >> 32)
}

// home is the bucket where the search for a hash begins.
func (h *Heap[K, V]) home(hash uint32) int { return int(hash >> h.shift) }

// find returns the bucket of a key, or the one where it would go. There must be buckets.
func (h *Heap[K, V]) find(key K, hash uint32) (b int, found bool) {
	mask := len(h.buckets) - 1
	for i := h.home(hash) & mask; ; i = (i + 1) & mask {
		if b := h.buckets[i]; b.at == 0 {
			return i, false
		} else if b.hash == hash && h.items[i].key == key {
			return i, true
		}
	}
}

// lookup returns the bucket of a key, if it is present.
func (h *Heap[K, V]) lookup(key K) (b int, found bool) {
	if len(h.nodes) == 0 { // and perhaps no seed yet
		return 0, false
	}
	return h.find(key, h.hash(key))
}

// vacate empties a bucket whose node is gone and closes the gap, so that searches need no tombstones (Knuth, "The Art of
// Computer Programming", volume 3, section 6.4, algorithm R).
func (h *Heap[K, V]) vacate(gap int) {
	mask := len(h.buckets) - 1
	for i := (gap + 1) & mask; h.buckets[i].at != 0; i = (i + 1) & mask {
		if (i-h.home(h.buckets[i].hash))&mask >= (i-gap)&mask {
			h.buckets[gap], h.items[gap] = h.buckets[i], h.items[i]
			h.nodes[h.buckets[gap].at].bucket = int32(gap)
			gap = i
		}
	}
	h.buckets[gap] = bucket{}
	h.items[gap] = item[K, V]{} // what a key or value refers to must not outlive the item
}

// reserve makes room for more items: at most three buckets in four are taken.
func (h *Heap[K, V]) reserve(more int) {
	if need := h.Len() + more; need > len(h.buckets)/4*3 {
		h.rehash(max(8, 1<<bits.Len(uint(need+need/3))))
	}
}

func (h *Heap[K, V]) rehash(size int) {
	buckets, items := h.buckets, h.items
	if buckets == nil {
		h.seed = maphash.MakeSeed()
		h.secret = maphash.String(h.seed, "")
	}
	h.buckets, h.items = make([]bucket, size), make([]item[K, V], size)
	h.shift = uint(32 - bits.Len(uint(size-1)))
	for i := root; i < len(h.nodes); i++ {
		n := &h.nodes[i]
		from := n.bucket
		to, _ := h.find(items[from].key, buckets[from].hash)
		h.buckets[to], h.items[to] = buckets[from], items[from]
		n.bucket = int32(to)
	}
}
