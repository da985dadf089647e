package eventlog

import (
	"fmt"
	"io"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/canonical"
)

// Position is a place in a log between two records.
type Position struct {
	// Offset is how many bytes of the log are before it.
	Offset int64
	// Version is that of the last event before it, or of the checkpoint, or 0 if there is neither.
	Version uint64
}

// Writer appends to a log. Make one with [NewWriter] or [Continue].
type Writer struct {
	w   io.Writer
	buf []byte
	at  Position
	any bool // the next version may be any
	err error
}

// NewWriter returns a Writer that begins a log on w. It may begin with an event of any version, or with a checkpoint.
// Nothing is written before the first of them.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, any: true} }

// Continue returns a Writer that goes on with a log at the position that Replay or a Reader ended with. The log must end
// there: cut it first if it was torn.
func Continue(w io.Writer, at Position) *Writer {
	return &Writer{w: w, at: at, any: at.Version == 0}
}

// Position is the end of the log that was written.
func (w *Writer) Position() Position { return w.at }

// Append writes events, in one call of the io.Writer: all of them, or none if one is refused. They must follow one on
// another and on what was written before, without gaps in their versions. O(size of the events).
//
// The errors are ErrGap, ErrEvent, ErrTooLong and, for text that is not UTF-8 and years out of 0..9999, a *berth.Fault
// whose path is that in the record ("event.pod.labels[app]"); the Writer goes on after these as if the call had not been.
// An error of the io.Writer, io.ErrShortWrite among them, leaves an unknown part of a record at the end of the log, so
// that nothing may follow: the Writer returns it, wrapped, and ErrFailed from then on. Cut the log at Position to go on
// with it, or begin a new one with a checkpoint.
func (w *Writer) Append(events ...cache.Event) error {
	if w.err != nil {
		return w.err
	}
	b, version, first := w.begin(), w.at.Version, w.any
	for i := range events {
		e := newEvent(&events[i])
		if err := follows(version, e.Version, first); err != nil {
			return err
		}
		if err := e.check(); err != nil {
			return err
		}
		var err error
		if b, err = appendRecord(b, &record{Event: e}); err != nil {
			return fmt.Errorf("eventlog: writing version %d, %v: %w", e.Version, e.Kind, err)
		}
		version, first = e.Version, false
	}
	w.buf = b
	if len(events) == 0 {
		return nil
	}
	return w.write(b, version)
}

// follows returns ErrGap if a version is not the one after the last. The first may be any but 0.
func follows(last, version uint64, first bool) error {
	if version == 0 || !first && version != last+1 {
		return fmt.Errorf("%w: %d comes after %d", ErrGap, version, last)
	}
	return nil
}

// begin returns the buffer, with the header in it if that is still to be written.
func (w *Writer) begin() []byte {
	if w.at.Offset == 0 {
		return appendHeader(w.buf[:0])
	}
	return w.buf[:0]
}

// write hands b to the io.Writer. With it, the log has all up to version.
func (w *Writer) write(b []byte, version uint64) error {
	n, err := w.w.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("%w at byte %d: %w", ErrFailed, w.at.Offset, err)
		return w.err
	}
	w.at, w.any = Position{w.at.Offset + int64(n), version}, false
	return nil
}

// chunk is how many bytes of a checkpoint are written at once, about.
const chunk = 1 << 18

// Checkpoint begins the log with the state of a snapshot. The next event must be the one after the snapshot's version. It
// is written in pieces, so any error but ErrBegun is final, as for Append: the log is of no use then. Keep the old log
// until it is on stable storage. O(nodes + pods).
func (w *Writer) Checkpoint(s *cache.Snapshot) error {
	if w.err != nil {
		return w.err
	}
	if w.at.Offset != 0 {
		return fmt.Errorf("%w: %d bytes are written", ErrBegun, w.at.Offset)
	}
	start := w.at
	err := w.checkpoint(s)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%w in a checkpoint: %w", ErrFailed, err)
	}
	if err != nil {
		w.at = start
	}
	return w.err
}

func (w *Writer) checkpoint(s *cache.Snapshot) error {
	b := w.begin()
	for r := range stateRecords(s) {
		var err error
		if b, err = appendRecord(b, r); err != nil {
			return err
		}
		if len(b) < chunk {
			continue
		}
		if err := w.write(b, s.Version()); err != nil {
			return err
		}
		b = b[:0]
	}
	w.buf = b
	return w.write(b, s.Version())
}

// stateRecords yields the records of a checkpoint: first how many of each kind there are.
func stateRecords(s *cache.Snapshot) func(yield func(*record) bool) {
	return func(yield func(*record) bool) {
		head := &checkpoint{Version: s.Version()}
		for range s.Namespaces() {
			head.Namespaces++
		}
		nodes, pods := s.Len()
		head.Nodes, head.Pods = int64(nodes), int64(pods)
		for range s.Nominations() {
			head.Nominations++
		}
		if !yield(&record{Checkpoint: head}) {
			return
		}
		_ = each(s.Namespaces(), yield, func(ns *berth.Namespace) *record { return &record{Namespace: ns} }) &&
			each(s.Nodes(), yield, func(n *berth.Node) *record { return &record{Node: n} }) &&
			each(s.AllPods(), yield, func(p cache.PodState) *record {
				return &record{Pod: canonical.NewPlaced(p.Spec, p.Assumed, p.Deadline)}
			}) &&
			each(s.Nominations(), yield, func(n cache.Nomination) *record {
				return &record{Nomination: canonical.NewPromise(n.Pod, n.Node)}
			})
	}
}

func each[T any](seq func(func(T) bool), yield func(*record) bool, form func(T) *record) bool {
	for v := range seq {
		if !yield(form(v)) {
			return false
		}
	}
	return true
}
