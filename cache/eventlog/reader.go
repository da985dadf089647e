package eventlog

import (
	"bufio"
	"io"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
)

// Reader reads a log. Make one with [NewReader].
type Reader struct {
	frames frames
	at     Position
	start  int64 // of the last record
	begun  bool
	state  *cache.State // of the checkpoint
	first  *event       // that begin read, if there is no checkpoint
	err    error
}

// NewReader returns a Reader of the log that r has from its beginning. It reads ahead.
func NewReader(r io.Reader) *Reader {
	return &Reader{frames: frames{r: bufio.NewReaderSize(r, 1<<14)}}
}

// Position is the end of what was returned so far.
func (r *Reader) Position() Position { return r.at }

// Checkpoint returns the state that the log begins with, nil if it begins with an event, or is empty. The errors are
// those of Next, but for io.EOF. O(nodes + pods).
func (r *Reader) Checkpoint() (*cache.State, error) {
	r.begin()
	if r.state == nil && r.err != nil && r.err != io.EOF {
		return nil, r.err
	}
	return r.state, nil
}

// Next returns the next event, which is the caller's own, or io.EOF after the last one. The errors are a *TornError in
// place of io.EOF, a *CorruptError, ErrFormat, and what the io.Reader returns, wrapped; each is final. O(size of the
// event).
func (r *Reader) Next() (*cache.Event, error) {
	r.begin()
	e := r.first
	if r.first = nil; e == nil {
		rec := r.next()
		if rec == nil {
			return nil, r.err
		}
		if e = rec.Event; e == nil {
			return nil, r.corrupt("it is not an event, and the checkpoint is whole", nil)
		}
	}
	if err := e.check(); err != nil {
		return nil, r.corrupt("the record cannot be read", err)
	}
	if err := follows(r.at.Version, e.Version, r.state == nil && r.at.Version == 0); err != nil {
		return nil, r.corrupt("an event is missing", err)
	}
	r.at = Position{r.frames.offset, e.Version}
	return e.cacheEvent(), nil
}

// next returns the next record, or nil and leaves the error in r.err.
func (r *Reader) next() *record {
	if r.err != nil {
		return nil
	}
	r.start = r.frames.offset
	payload, err := r.frames.next()
	switch err := err.(type) {
	case nil:
	case torn:
		r.err = &TornError{Position: r.at, Lost: r.frames.offset + err.lost - r.at.Offset}
	case bad:
		_ = r.corrupt(err.reason, nil)
	default:
		r.err = err
	}
	if err != nil {
		return nil
	}
	rec, err := parse(payload)
	if err != nil {
		_ = r.corrupt("the record cannot be read", err)
		return nil
	}
	return rec
}

func (r *Reader) corrupt(reason string, cause error) error {
	r.err = &CorruptError{Position: r.at, Offset: r.start, Reason: reason, Err: cause}
	return r.err
}

// begin reads the first record, and the checkpoint if it begins one.
func (r *Reader) begin() {
	if r.begun {
		return
	}
	r.begun = true
	rec := r.next()
	switch {
	case r.frames.begun && r.err == io.EOF: // a header, and nothing else
		r.at.Offset = r.frames.offset
	case rec == nil:
	case rec.Event != nil:
		r.first = rec.Event
	case rec.Checkpoint != nil:
		r.checkpoint(rec.Checkpoint)
	default:
		_ = r.corrupt("it belongs to a checkpoint, and none has begun", nil)
	}
}

// checkpoint reads the records of a checkpoint. Until the last of them is there, the log has nothing.
func (r *Reader) checkpoint(head *checkpoint) {
	s := &cache.State{Version: head.Version}
	namespace := func(rec *record) (*berth.Namespace, bool) { return rec.Namespace, rec.Namespace != nil }
	node := func(rec *record) (*berth.Node, bool) { return rec.Node, rec.Node != nil }
	if !collect(r, &s.Namespaces, head.Namespaces, namespace) ||
		!collect(r, &s.Nodes, head.Nodes, node) ||
		!collect(r, &s.Pods, head.Pods, placed) ||
		!collect(r, &s.Nominations, head.Nominations, promised) {
		return
	}
	r.state, r.at = s, Position{r.frames.offset, head.Version}
}

func placed(rec *record) (cache.PodState, bool) {
	p := rec.Pod
	if p == nil {
		return cache.PodState{}, false
	}
	return cache.PodState{Spec: p.Pod, Assumed: p.Assumed, Deadline: p.Deadline}, true
}

func promised(rec *record) (cache.Nomination, bool) {
	p := rec.Nomination
	if p == nil {
		return cache.Nomination{}, false
	}
	return cache.Nomination{Pod: p.Pod, Node: p.Node}, true
}

// collect reads n records of one kind, and reports whether they are all there. It takes no memory before they are.
func collect[T any](r *Reader, list *[]T, n int64, member func(*record) (T, bool)) bool {
	for range n {
		rec := r.next()
		if rec == nil {
			r.incomplete()
			return false
		}
		v, ok := member(rec)
		if !ok {
			_ = r.corrupt("it is not what comes next in the checkpoint", nil)
			return false
		}
		*list = append(*list, v)
	}
	return true
}

// incomplete makes an end within a checkpoint an error.
func (r *Reader) incomplete() {
	switch err := r.err.(type) {
	case *TornError:
		err.InCheckpoint = true
	default:
		if r.err == io.EOF {
			r.err = &TornError{Position: r.at, Lost: r.frames.offset - r.at.Offset, InCheckpoint: true}
		}
	}
}
