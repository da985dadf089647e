package cache

import (
	"cmp"
	"slices"
	"sync"
)

// lock is a RWMutex with a place in the order in which locks are taken: stripes, then shards, each by number. All locks that
// an operation needs are taken in that order before it changes anything, so that no two operations can wait for each other.
type lock struct {
	sync.RWMutex
	place int
}

// lockset is a set of locks that are held together, ascending by place. Its first few members take no memory of their own.
type lockset struct {
	locks []*lock
	first [4]*lock
}

func (s *lockset) add(l *lock) {
	if s.locks == nil {
		s.locks = s.first[:0]
	}
	i, ok := slices.BinarySearchFunc(s.locks, l.place, func(l *lock, place int) int { return cmp.Compare(l.place, place) })
	if !ok {
		s.locks = slices.Insert(s.locks, i, l)
	}
}

func (s *lockset) has(l *lock) bool { return slices.Contains(s.locks, l) }

func (s *lockset) lock() {
	for _, l := range s.locks {
		l.Lock()
	}
}

func (s *lockset) unlock() {
	for _, l := range s.locks {
		l.Unlock()
	}
}
