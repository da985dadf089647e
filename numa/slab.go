package numa

import "sync"

// slab hands out slices of zeroed memory that all live until the next reset:
// one merge needs hundreds of short ones, and a scheduler merges all day.
type slab[T any] struct {
	piece []T
	used  int // of piece
	spilt int // in earlier, smaller pieces
}

const slabSize = 256

func (s *slab[T]) take(n int) []T {
	if s.used+n > len(s.piece) {
		s.spilt += s.used
		s.piece = make([]T, max(n, 2*len(s.piece), slabSize))
		s.used = 0
	}
	out := s.piece[s.used : s.used+n : s.used+n]
	s.used += n
	clear(out)
	return out
}

func (s *slab[T]) one() *T { return &s.take(1)[0] }

// reset takes everything back. What is outside the last piece is left to the
// garbage collector, so that after a few rounds one piece holds it all.
func (s *slab[T]) reset() {
	if s.spilt > 0 {
		s.piece = make([]T, s.used+s.spilt+len(s.piece))
	}
	s.used, s.spilt = 0, 0
}

// scratch is the working memory of one merge or search.
type scratch struct {
	wide    slab[int64]
	index   slab[int32]
	flags   slab[bool]
	needs   slab[need]
	weights slab[weights]
	lists   slab[[]weights]
	covers  slab[coverRule]
	dims    slab[coverDim]
	spares  slab[spare]
	kept    slab[spareDim]
	fits    slab[ResourceFit]
}

func (m *scratch) reset() {
	m.wide.reset()
	m.index.reset()
	m.flags.reset()
	m.needs.reset()
	m.weights.reset()
	m.lists.reset()
	m.covers.reset()
	m.dims.reset()
	m.spares.reset()
	m.kept.reset()
	m.fits.reset()
}

// scratchPool lends scratches. Its zero value is ready.
type scratchPool struct{ pool sync.Pool }

func (p *scratchPool) get() *scratch {
	if m, ok := p.pool.Get().(*scratch); ok {
		return m
	}
	return &scratch{}
}

func (p *scratchPool) put(m *scratch) {
	m.reset()
	p.pool.Put(m)
}
