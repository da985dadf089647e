// Package fast answers questions with what berth is there for: cache.Cache for the state and score.Pipeline for the
// decision, as a scheduler built on them would use them.
package fast
