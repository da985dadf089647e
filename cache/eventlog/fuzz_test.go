package eventlog

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
)

// readAll reads what may be anything, and checks what holds of all that is read.
func readAll(t *testing.T, log []byte) {
	r := NewReader(bytes.NewReader(log))
	state, err := r.Checkpoint()
	var events []cache.Event
	last := r.Position()
	for err == nil {
		var e *cache.Event
		if e, err = r.Next(); err != nil {
			break
		}
		at := r.Position()
		if at.Offset <= last.Offset || at.Offset > int64(len(log)) || at.Version != e.Version {
			t.Errorf("%v after %v for version %d", at, last, e.Version)
		}
		if (len(events) > 0 || state != nil) && at.Version != last.Version+1 {
			t.Errorf("version %d after %d", at.Version, last.Version)
		}
		last = at
		events = append(events, *e)
	}
	known(t, err, int64(len(log)))
	comeBack(t, events)

	c := empty(t)
	at, err := Replay(bytes.NewReader(log), c)
	if err == nil && at.Offset != int64(len(log)) {
		t.Errorf("the log of %d bytes was replayed to %v", len(log), at)
	}
	if c.Version() != at.Version {
		t.Errorf("replayed to %v, the cache has version %d: %v", at, c.Version(), err)
	}
	if state != nil && c.Version() >= state.Version && c.Version() > 0 { // the checkpoint was restored
		if got := c.Publish().Version(); got != at.Version {
			t.Errorf("published version %d, not %d", got, at.Version)
		}
	}
}

// known checks that an error is one of those that are promised.
func known(t *testing.T, err error, size int64) {
	var torn *TornError
	switch {
	case err == io.EOF, errors.Is(err, ErrFormat), errors.Is(err, ErrCorrupt):
	case errors.As(err, &torn):
		if torn.Position.Offset+torn.Lost != size {
			t.Errorf("%v in a log of %d bytes", err, size)
		}
	default:
		t.Errorf("unexpected error %v", err)
	}
}

// comeBack writes events that were read, and reads them again.
func comeBack(t *testing.T, events []cache.Event) {
	var b bytes.Buffer
	err := NewWriter(&b).Append(events...)
	var fault *berth.Fault
	if errors.As(err, &fault) { // a time that is in range where it was written, and not in UTC
		return
	}
	require.NoError(t, err)
	r := NewReader(&b)
	for i := range events {
		got, err := r.Next()
		require.NoError(t, err)
		if want := newEvent(&events[i]).cacheEvent(); !reflect.DeepEqual(want, got) {
			t.Errorf("%+v came back as %+v", want, got)
		}
	}
}

func FuzzReader(f *testing.F) {
	h := recorded(f, 20, gen.Plain(), 5)
	log, _ := h.log(f)
	f.Add(log)
	f.Add(log[:len(log)-3])
	f.Add(append(log[:len(log)-3:len(log)-3], 0, 0, 0, 0))
	f.Add([]byte{})
	var b bytes.Buffer
	require.NoError(f, NewWriter(&b).Checkpoint(h.snapshots[5]))
	f.Add(b.Bytes())
	f.Fuzz(readAll)
}

// FuzzRecords gets past the checksums: each line is the payload of a record.
func FuzzRecords(f *testing.F) {
	h := recorded(f, 21, gen.Everything(), 8)
	log, _ := h.log(f)
	f.Add(lines(log))
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(f, w.Checkpoint(h.snapshots[5]))
	require.NoError(f, w.Append(h.events[5:]...))
	f.Add(lines(b.Bytes()))
	f.Add(`{"event":{"version":1,"kind":1,"node":{"name":"n"}}}` + "\n" + `{"event":{"version":2,"kind":3,"name":"n"}}`)
	f.Add(`{"event":{"version":1,"kind":4,"pod":{"namespace":"d","name":"p","nodeName":"n","startTime":"0000-01-01T00:00:00+23:00"}}}`)
	f.Fuzz(func(t *testing.T, payloads string) { readAll(t, framed(strings.Split(payloads, "\n")...)) })
}

func lines(log []byte) string {
	f, payloads := frames{r: bytes.NewReader(log)}, []string(nil)
	for payload, err := f.next(); err == nil; payload, err = f.next() {
		payloads = append(payloads, string(payload))
	}
	return strings.Join(payloads, "\n")
}
