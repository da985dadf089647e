package eventlog

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
)

func removed(version uint64, name string) cache.Event {
	return cache.Event{Version: version, Kind: cache.NodeRemoved, Name: name}
}

// TestFormatIsPinned: logs are read by later versions of this package.
func TestFormatIsPinned(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(t, w.Append(removed(7, "n1")))
	require.Equal(t, "berthlog\x01\x00\x00\x00"+
		"\x2c\x00\x00\x00\x59\x0d\x24\x12\x9d\xc7\x23\x76"+`{"event":{"version":7,"kind":3,"name":"n1"}}`, b.String())

	b.Reset()
	c := empty(t)
	require.NoError(t, c.SetNamespace(&berth.Namespace{Name: "default"}))
	require.NoError(t, c.AddNode(&berth.Node{Name: "n1"}))
	require.NoError(t, c.AssumeUntil(&berth.Pod{Namespace: "default", Name: "web"}, "n1", time.Unix(0, 1)))
	require.NoError(t, c.Nominate(&berth.Pod{Namespace: "default", Name: "db"}, "n1"))
	require.NoError(t, NewWriter(&b).Checkpoint(c.Publish()))
	f, payloads := frames{r: &b}, []string(nil)
	for payload, err := f.next(); err == nil; payload, err = f.next() {
		payloads = append(payloads, string(payload))
	}
	require.Equal(t, []string{
		`{"checkpoint":{"version":4,"namespaces":1,"nodes":1,"pods":1,"nominations":1}}`,
		`{"namespace":{"name":"default"}}`,
		`{"node":{"name":"n1"}}`,
		`{"pod":{"pod":{"namespace":"default","name":"web","nodeName":"n1"},"assumed":true,"deadline":"1970-01-01T00:00:00.000000001Z"}}`,
		`{"nomination":{"pod":{"namespace":"default","name":"db"},"node":"n1"}}`,
	}, payloads)
}

// TestWriterRefuses events before anything of the call is written, and goes on.
func TestWriterRefuses(t *testing.T) {
	deep := &berth.Pod{Namespace: "default", Name: "web", NodeName: "n1", Labels: map[string]string{"app": "a\xffb"}}
	late := &berth.Pod{Namespace: "default", Name: "web", NodeName: "n1", StartTime: time.Unix(1<<40, 0)}
	for name, test := range map[string]struct {
		event cache.Event
		want  error
		path  string
	}{
		"a gap":                     {event: removed(7, "n"), want: ErrGap},
		"a version again":           {event: removed(4, "n"), want: ErrGap},
		"version 0":                 {event: removed(0, "n"), want: ErrGap},
		"an unknown kind":           {event: cache.Event{Version: 6, Kind: 77}, want: ErrEvent},
		"no kind":                   {event: cache.Event{Version: 6}, want: ErrEvent},
		"no node":                   {event: cache.Event{Version: 6, Kind: cache.NodeAdded}, want: ErrEvent},
		"no pod":                    {event: cache.Event{Version: 6, Kind: cache.PodAssumed}, want: ErrEvent},
		"no key":                    {event: cache.Event{Version: 6, Kind: cache.PodExpired}, want: ErrEvent},
		"no name":                   {event: cache.Event{Version: 6, Kind: cache.NamespaceRemoved}, want: ErrEvent},
		"no namespace":              {event: cache.Event{Version: 6, Kind: cache.NamespaceSet}, want: ErrEvent},
		"no node of a nomination":   {event: cache.Event{Version: 6, Kind: cache.PodNominated, Pod: deep}, want: ErrEvent},
		"a record that is too long": {event: removed(6, strings.Repeat("n", maxRecord)), want: ErrTooLong},
		"text that is not UTF-8": {
			event: cache.Event{Version: 6, Kind: cache.PodAdded, Pod: deep}, want: berth.ErrInvalid, path: "event.pod.labels[app]"},
		"a name that is not UTF-8": {event: removed(6, "\xff"), want: berth.ErrInvalid, path: "event.name"},
		"a year that is out of range": {
			event: cache.Event{Version: 6, Kind: cache.PodAdded, Pod: late}, want: berth.ErrInvalid, path: "event.pod.startTime"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := NewWriter(&b)
			require.NoError(t, w.Append(removed(4, "n")))
			written := b.String()
			err := w.Append(removed(5, "n"), test.event)
			require.ErrorIs(t, err, test.want)
			if test.path != "" {
				var fault *berth.Fault
				require.True(t, errors.As(err, &fault))
				require.Equal(t, test.path, fault.Path)
				require.Contains(t, err.Error(), "version 6")
			}
			require.Equal(t, written, b.String())
			require.Equal(t, Position{int64(b.Len()), 4}, w.Position())

			require.NoError(t, w.Append(removed(5, "n"), removed(6, "n")))
			require.Greater(t, b.Len(), len(written))
		})
	}
}

// limited takes so many bytes and then fails, or, without an error, takes less than it is given.
type limited struct {
	bytes.Buffer
	room int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) <= l.room {
		l.room -= len(b)
		return l.Buffer.Write(b)
	}
	n, _ := l.Buffer.Write(b[:l.room])
	l.room = 0
	return n, l.err
}

// TestWriterFails wherever the io.Writer does, and writes nothing any more; what is there is a prefix of the history.
func TestWriterFails(t *testing.T) {
	h := recorded(t, 11, gen.Plain(), 4**steps)
	log, ends := h.log(t)
	full := errors.New("disk full")
	for _, cause := range []error{full, nil} {
		want := cause
		if want == nil {
			want = io.ErrShortWrite
		}
		for room := 0; room < len(log); room += stride() {
			out := &limited{room: room, err: cause}
			w := NewWriter(out)
			var err error
			for i := 0; err == nil; i++ {
				err = w.Append(h.events[i])
			}
			require.ErrorIs(t, err, ErrFailed)
			require.ErrorIs(t, err, want)
			whole := wholeBefore(ends, room)
			require.Equal(t, uint64(whole), w.Position().Version)
			out.room = 1 << 20
			require.Equal(t, err, w.Append(h.events[whole]), "the writer is of no use any more, even if there is room again")
			require.ErrorIs(t, w.Checkpoint(h.snapshots[0]), ErrFailed)
			require.Equal(t, string(log[:room]), out.String())

			at, _ := follow(t, h, out.Bytes())
			if at.Version > 0 {
				require.Equal(t, at, w.Position())
			}
			out.Truncate(int(w.Position().Offset))
			require.NoError(t, Continue(out, w.Position()).Append(h.events[whole:]...))
			require.Equal(t, log, out.Bytes(), "cut at the position, the log goes on")
		}
	}
}

func TestNothingToAppend(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(t, w.Append())
	require.Zero(t, b.Len())
	require.NoError(t, w.Append(removed(1<<64-1, "n")), "the first version may be any")
	require.ErrorIs(t, w.Append(removed(0, "n")), ErrGap)
}

func TestCheckpointIsAtTheBeginning(t *testing.T) {
	h := recorded(t, 12, gen.Everything(), 20)
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(t, w.Checkpoint(h.snapshots[20]))
	written := b.Len()
	require.ErrorIs(t, w.Checkpoint(h.snapshots[20]), ErrBegun)
	require.ErrorIs(t, w.Append(removed(22, "n")), ErrGap)
	require.Equal(t, written, b.Len())
	require.NoError(t, w.Append(removed(21, "n")))
	require.ErrorIs(t, w.Checkpoint(h.snapshots[20]), ErrBegun)

	w = NewWriter(&b)
	require.NoError(t, w.Checkpoint(h.snapshots[0]))
	require.ErrorIs(t, w.Append(removed(2, "n")), ErrGap, "after the checkpoint of the empty state, too")
}

func TestCheckpointThatFails(t *testing.T) {
	h := recorded(t, 13, gen.Everything(), 40)
	w := NewWriter(&limited{room: 100, err: io.ErrClosedPipe})
	require.ErrorIs(t, w.Checkpoint(h.snapshots[40]), io.ErrClosedPipe)
	require.ErrorIs(t, w.Append(removed(41, "n")), ErrFailed)
	require.Equal(t, Position{}, w.Position())

	c := empty(t)
	require.NoError(t, c.AddNode(&berth.Node{Name: "n1", Labels: map[string]string{"rack": "\xff"}}))
	var b bytes.Buffer
	w = NewWriter(&b)
	err := w.Checkpoint(c.Publish())
	var fault *berth.Fault
	require.True(t, errors.As(err, &fault), "%v", err)
	require.Equal(t, "node.labels[rack]", fault.Path)
	require.ErrorIs(t, w.Append(removed(2, "n1")), ErrFailed)
}
