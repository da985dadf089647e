package heap

// fifo is a queue of values that are counted from the first one ever pushed. The zero value is empty.
type fifo[T any] struct {
	ring       []T // a power of two long
	start, end uint64
}

func (f *fifo[T]) len() int { return int(f.end - f.start) }

func (f *fifo[T]) push(x T) {
	if f.len() == len(f.ring) {
		grown := make([]T, max(8, 2*len(f.ring)))
		for i := f.start; i < f.end; i++ {
			grown[i&uint64(len(grown)-1)] = *f.at(i)
		}
		f.ring = grown
	}
	f.end++
	*f.at(f.end - 1) = x
}

// at returns the i-th value pushed, which must still be there.
func (f *fifo[T]) at(i uint64) *T { return &f.ring[i&uint64(len(f.ring)-1)] }

// discard drops the values before the i-th.
func (f *fifo[T]) discard(i uint64) {
	for ; f.start < i; f.start++ {
		*f.at(f.start) = *new(T)
	}
}

func (f *fifo[T]) pop() T {
	x := *f.at(f.start)
	f.discard(f.start + 1)
	return x
}
