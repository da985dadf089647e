package eventlog

import (
	"errors"
	"fmt"
)

// The errors of this package, for errors.Is. A field of a spec that the log cannot hold is a *berth.Fault.
var (
	// ErrFormat is returned for what is not a log, or is one of a format that this package does not know.
	ErrFormat = errors.New("eventlog: not a log of a known format")
	// ErrCorrupt is what a CorruptError wraps.
	ErrCorrupt = errors.New("eventlog: log is corrupt")
	// ErrGap is returned for an event whose version is not the next one.
	ErrGap = errors.New("eventlog: versions have a gap")
	// ErrEvent is returned for an event of an unknown kind, or without what its kind needs.
	ErrEvent = errors.New("eventlog: not an event")
	// ErrTooLong is returned for an event that does not fit into a record.
	ErrTooLong = errors.New("eventlog: record is too long")
	// ErrBegun is returned for a checkpoint that would not be at the beginning of its log.
	ErrBegun = errors.New("eventlog: log has begun")
	// ErrFailed is returned by a Writer after it failed to write.
	ErrFailed = errors.New("eventlog: writer has failed")
)

// TornError tells that the last record of a log was not written to its end. What is before it is good.
type TornError struct {
	// Position is where the good part ends. Cut the log at its Offset, and go on there with [Continue].
	Position Position
	// Lost is how many bytes there are after that: a part of the event that follows Position.Version, or of the checkpoint.
	Lost int64
	// InCheckpoint is true if the log ends before its checkpoint is whole. Position is the beginning then.
	InCheckpoint bool
}

// Error says where to cut, and what is lost.
func (e *TornError) Error() string {
	what := "the record after version"
	if e.InCheckpoint {
		what = "the checkpoint, after version"
	}
	return fmt.Sprintf("eventlog: log is torn at byte %d: %s %d is incomplete, %d bytes of it are there", e.Position.Offset, what,
		e.Position.Version, e.Lost)
}

// CorruptError tells that a record is not as it was written, or says what cannot be. What is before it is good.
type CorruptError struct {
	// Position is where the good part ends: before the record, or before the checkpoint that it is in.
	Position Position
	// Offset is where the record begins.
	Offset int64
	// Reason says what is wrong.
	Reason string
	// Err is the cause, if there is one.
	Err error
}

// Error says where and why.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("eventlog: log is corrupt at byte %d, after version %d: %s", e.Offset, e.Position.Version, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap makes errors.Is(e, ErrCorrupt) true, and finds the cause.
func (e *CorruptError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}
