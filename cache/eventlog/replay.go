package eventlog

import (
	"fmt"
	"io"

	"github.com/berth-go/berth/cache"
)

// Replay applies the log that r has from its beginning to a cache. It returns the position up to which it did, whose
// version the cache has then, and nil if that is the end of the log. If the log begins with a checkpoint, the cache must
// be empty and at version 0; otherwise the first event must be the one after the cache's version. Nobody else may change
// the cache meanwhile.
//
// The errors are a *TornError if the last record is not whole: all others are applied, and the log can go on at the
// position once it is cut there. A *CorruptError, ErrFormat, an error of r, and an error of the cache that an event
// contradicts end the replay where it was. In each case the cache has the state that the log tells of at that position.
// O(size of the log).
func Replay(r io.Reader, c *cache.Cache) (Position, error) {
	log := NewReader(r)
	state, err := log.Checkpoint()
	if err != nil {
		return Position{}, err
	}
	var done Position
	if state != nil {
		if err := c.Restore(state); err != nil {
			return done, fmt.Errorf("eventlog: restoring the checkpoint of version %d: %w", state.Version, err)
		}
	}
	for {
		done = log.Position()
		e, err := log.Next()
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		if err := c.Apply(e); err != nil {
			return done, fmt.Errorf("eventlog: replaying %v, which ends at byte %d: %w", e, log.Position().Offset, err)
		}
	}
}
