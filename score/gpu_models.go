package score

import "sync"

// byModel keeps what was worked out for a GPU model. The zero value is ready to use, by several goroutines.
type byModel[T any] struct {
	mu sync.RWMutex
	m  map[string]T
}

func (b *byModel[T]) get(model string) (T, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	v, ok := b.m[model]
	return v, ok
}

func (b *byModel[T]) put(model string, v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m == nil {
		b.m = make(map[string]T)
	}
	b.m[model] = v
}
