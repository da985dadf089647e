package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/canonical"
)

// Digest is a fingerprint of 256 bits of a state, or of a part of it: equal states have equal digests, whatever the order
// in which they came about. Digests are compared with ==. The zero value is the digest of the empty state.
//
// It is the sum modulo 2^256 of the SHA-256 of each node, placed pod, namespace and nomination in its canonical encoding,
// each kind with a prefix of its own (AdHash: M. Bellare and D. Micciancio, A New Paradigm for Collision-Free Hashing:
// Incrementality at Reduced Cost, EUROCRYPT 1997). So it is kept by one addition and one subtraction for each change.
//
// Two states that differ by fault, lost events or bugs have the same digest with a probability of 2^-256. It does not
// protect against somebody who chooses the specs in order to make two states collide: for sums of 256 bits, Wagner's
// generalised birthday attack (CRYPTO 2002) needs about 2^32 hashes.
type Digest struct {
	words [4]uint64 // the least significant first
}

// Add returns the digest of two disjoint parts of a state together.
func (d Digest) Add(e Digest) Digest {
	var carry uint64
	for i := range d.words {
		d.words[i], carry = bits.Add64(d.words[i], e.words[i], carry)
	}
	return d
}

// Sub returns the digest of what is left of a state without a part.
func (d Digest) Sub(e Digest) Digest {
	var borrow uint64
	for i := range d.words {
		d.words[i], borrow = bits.Sub64(d.words[i], e.words[i], borrow)
	}
	return d
}

// String returns 64 hexadecimal digits.
func (d Digest) String() string {
	var b [sha256.Size]byte
	for i, w := range d.words {
		binary.BigEndian.PutUint64(b[len(b)-8*(i+1):], w)
	}
	return hex.EncodeToString(b[:])
}

// The prefixes end in a byte that is in none of them, so none begins another.
func digestNode(n *berth.Node) Digest { return digestOf("node\n", n) }

// digestPod leaves out that a pod is hidden, for that follows from the nodes.
func digestPod(p PodState) Digest {
	return digestOf("pod\n", canonical.NewPlaced(p.Spec, p.Assumed, p.Deadline))
}

func digestNamespace(ns *berth.Namespace) Digest { return digestOf("namespace\n", ns) }

func digestNomination(n Nomination) Digest {
	return digestOf("nomination\n", canonical.NewPromise(n.Pod, n.Node))
}

func digestOf(prefix string, v any) Digest {
	hash := sha256.Sum256(canonical.AppendAll([]byte(prefix), v))
	var d Digest
	for i := range d.words {
		d.words[i] = binary.BigEndian.Uint64(hash[len(hash)-8*(i+1):])
	}
	return d
}
