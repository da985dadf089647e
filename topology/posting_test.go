package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// form says how a posting stores its nodes, and fails if it stores them in two ways or the list is out of order.
func (p *posting) form() (string, error) {
	switch m := p.many; {
	case p.n == 0 && m == nil:
		return "none", nil
	case p.n == 1 && m == nil:
		return "one", nil
	case m == nil:
		return "", fmt.Errorf("%d nodes without a list", p.n)
	case m.set == nil && len(m.list) == int(p.n) && p.n > 1 && p.n <= listMax && slices.IsSorted(m.list):
		return "list", nil
	case m.set != nil && m.list == nil && m.set.Len() == int(p.n) && p.n > listMax/2:
		return "bitset", nil
	}
	return "", fmt.Errorf("%d nodes, list of %d, bitset %v", p.n, len(p.many.list), p.many.set)
}

// TestPostingForms: a list becomes a bitset above 256 nodes, a bitset a list at 128: nothing flips to and fro.
func TestPostingForms(t *testing.T) {
	var p posting
	want := func(n int, form string) {
		t.Helper()
		assert.Equal(t, n, int(p.n))
		got, err := p.form()
		require.NoError(t, err)
		assert.Equal(t, form, got)
	}
	grow := func(to int) {
		for n := int(p.n); n < to; n++ {
			p.add(NodeID(3 * n))
		}
	}
	shrink := func(to int) {
		for n := int(p.n); n > to; n-- {
			p.remove(NodeID(3 * (n - 1)))
		}
	}
	want(0, "none")
	grow(1)
	want(1, "one")
	grow(2)
	want(2, "list")
	shrink(1)
	want(1, "one")
	grow(256)
	want(256, "list")
	grow(257)
	want(257, "bitset")
	shrink(256)
	want(256, "bitset")
	shrink(129)
	want(129, "bitset")
	shrink(128)
	want(128, "list")
	grow(129)
	want(129, "list")
	shrink(0)
	want(0, "none")
}

// TestPostingEqualsMap walks the size up and down through all forms, with nodes in random order.
func TestPostingEqualsMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var p posting
	plain := plainSet{}
	forms := map[string]bool{}
	for step := range 6000 {
		n := NodeID(rng.IntN(500))
		grows := step/1000%2 == 0 // up for a thousand steps, then down
		switch {
		case !plain[n] && (grows || rng.IntN(8) == 0):
			p.add(n)
			plain[n] = true
		case plain[n] && (!grows || rng.IntN(8) == 0):
			p.remove(n)
			delete(plain, n)
		default:
			continue
		}
		form, err := p.form()
		require.NoError(t, err)
		forms[form] = true
		if step%10 == 0 || len(plain) < 3 {
			require.Equal(t, plain.sorted(), slices.Collect(p.all()))
			s := NewNodeSet(1000)
			p.addTo(s)
			s.Remove(1000)
			require.Equal(t, plain.sorted(), slices.Collect(s.All()))
		}
	}
	for len(plain) > 0 {
		n := plain.sorted()[rng.IntN(len(plain))]
		p.remove(n)
		delete(plain, n)
		form, err := p.form()
		require.NoError(t, err)
		forms[form] = true
		require.Equal(t, plain.sorted(), slices.Collect(p.all()))
	}
	assert.Len(t, forms, 4)
}

func TestPostingIterationStops(t *testing.T) {
	for _, size := range []int{1, 2, 300} {
		var p posting
		for n := range size {
			p.add(NodeID(n))
		}
		seen := 0
		for range p.all() {
			seen++
			break
		}
		assert.Equal(t, 1, seen)
	}
}
