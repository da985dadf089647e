package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
)

func TestReplayGivesTheSameState(t *testing.T) {
	kinds := make(map[cache.EventKind]bool)
	for seed := range uint64(3 * *steps) {
		h := recorded(t, seed, gen.Everything(), 300)
		log, _ := h.log(t)
		for name, r := range map[string]io.Reader{
			"at once": bytes.NewReader(log), "byte by byte": iotest.OneByteReader(bytes.NewReader(log)),
			"end with data": iotest.DataErrReader(bytes.NewReader(log)),
		} {
			c := empty(t)
			at, err := Replay(r, c)
			require.NoError(t, err, name)
			require.Equal(t, Position{int64(len(log)), uint64(len(h.events))}, at)
			h.is(t, c, at.Version)
		}
		for _, e := range h.events {
			kinds[e.Kind] = true
		}
	}
	for k := cache.NodeAdded; k <= cache.NamespaceRemoved; k++ {
		require.True(t, kinds[k], "%v", k)
	}
}

func TestReplayReachesEveryVersion(t *testing.T) {
	h := recorded(t, 1, gen.Everything(), 200)
	log, _ := h.log(t)
	c, r := empty(t), NewReader(bytes.NewReader(log))
	for version := uint64(1); ; version++ {
		e, err := r.Next()
		if err == io.EOF {
			require.Len(t, h.events, int(version)-1)
			return
		}
		require.NoError(t, err)
		require.Equal(t, version, e.Version)
		require.NoError(t, c.Apply(e))
		h.is(t, c, version)
	}
}

func TestEventsComeBack(t *testing.T) {
	h := recorded(t, 2, gen.Everything(), 500)
	log, _ := h.log(t)
	again := append([]byte(nil), log...)
	r, w := NewReader(bytes.NewReader(log)), NewWriter(bytes.NewBuffer(again[:0]))
	for i := range h.events {
		got, err := r.Next()
		require.NoError(t, err)
		want := newEvent(&h.events[i]).cacheEvent() // with times in UTC
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%+v came back as %+v", want, got)
		}
		require.NoError(t, w.Append(*got))
	}
	require.Equal(t, log, again, "what was read is written as it was")
}

// TestReplayOfManyWriters: however their changes interleave, the events are in an order in which they can be made again.
func TestReplayOfManyWriters(t *testing.T) {
	for seed := range uint64(4 * *steps) {
		c := empty(t)
		var writers sync.WaitGroup
		for range 4 {
			d := newDriver(seed, gen.Everything()) // the same names for all
			d.rng = rand.New(rand.NewPCG(seed, rand.Uint64()))
			writers.Go(func() {
				for range 200 {
					d.step(c)
				}
			})
		}
		writers.Wait()
		events, ok := c.EventsSince(0)
		require.True(t, ok)
		h := &run{events: events}
		log, _ := h.log(t)
		again := empty(t)
		at, err := Replay(bytes.NewReader(log), again)
		require.NoError(t, err)
		require.Equal(t, c.Version(), at.Version)
		sameState(t, c.Publish(), again.Publish())
		require.Equal(t, c.Publish().Digest(), again.Publish().Digest())
	}
}

func TestCheckpointAndTheEventsAfterIt(t *testing.T) {
	for seed := range uint64(5 * *steps) {
		h := recorded(t, seed, gen.Everything(), 150)
		for version := int(seed) % 7; version < len(h.snapshots); version += 31 {
			s := h.snapshots[version]
			if s == nil {
				continue
			}
			var b bytes.Buffer
			w := NewWriter(&b)
			require.NoError(t, w.Checkpoint(s))
			c := empty(t)
			at, err := Replay(bytes.NewReader(b.Bytes()), c)
			require.NoError(t, err)
			require.Equal(t, Position{int64(b.Len()), uint64(version)}, at)
			require.Equal(t, w.Position(), at)
			h.is(t, c, uint64(version))
			sameState(t, s, c.Publish())

			require.NoError(t, w.Append(h.events[version:]...))
			c = empty(t)
			_, err = Replay(bytes.NewReader(b.Bytes()), c)
			require.NoError(t, err)
			h.is(t, c, uint64(len(h.events)))
			sameState(t, h.snapshots[len(h.events)], c.Publish())
		}
	}
}

// sameState looks at all that a snapshot shows, where a digest would say only that something differs.
func sameState(t *testing.T, want, got *cache.Snapshot) {
	t.Helper()
	require.Equal(t, slices.Collect(want.Nodes()), slices.Collect(got.Nodes()))
	require.Equal(t, slices.Collect(want.Namespaces()), slices.Collect(got.Namespaces()))
	states := func(s *cache.Snapshot) (list []string) {
		for p := range s.AllPods() {
			list = append(list, fmt.Sprint(p.Spec.Key(), p.Spec.NodeName, p.Spec.GPU, p.Assumed, p.Hidden, p.Deadline.UTC()))
		}
		for n := range s.Nominations() {
			list = append(list, fmt.Sprint(n.Pod.Key(), n.Node))
		}
		return list
	}
	require.Equal(t, states(want), states(got))
	require.Equal(t, want.Version(), got.Version())
}

func TestDeadlinesSurviveACheckpoint(t *testing.T) {
	h := empty(t)
	require.NoError(t, h.AddNode(&berth.Node{Name: "n1"}))
	require.NoError(t, h.AssumeUntil(&berth.Pod{Namespace: "default", Name: "seen"}, "n1", time.Unix(10, 0)))
	require.NoError(t, h.AssumeUntil(&berth.Pod{Namespace: "default", Name: "hidden"}, "n1", time.Unix(20, 0)))
	require.NoError(t, h.Assume(&berth.Pod{Namespace: "default", Name: "forever"}, "n1"))
	require.NoError(t, h.RemoveNode("n1"))
	var b bytes.Buffer
	require.NoError(t, NewWriter(&b).Checkpoint(h.Publish()))
	c := empty(t)
	_, err := Replay(&b, c)
	require.NoError(t, err)
	require.Equal(t, []berth.PodKey{{Namespace: "default", Name: "seen"}}, c.Advance(time.Unix(10, 0)))
	require.Equal(t, []berth.PodKey{{Namespace: "default", Name: "hidden"}}, c.Advance(time.Unix(1e6, 0)))
	require.NoError(t, c.Forget(berth.PodKey{Namespace: "default", Name: "forever"}))
}

// TestEveryCut: a log that ends anywhere gives the history up to there, and says where it is good to.
func TestEveryCut(t *testing.T) {
	h := recorded(t, 3, gen.Everything(), 8**steps)
	log, ends := h.log(t)
	for cut := 0; cut <= len(log); cut += stride() {
		whole := wholeBefore(ends, cut)
		at, err := follow(t, h, log[:cut])
		good := Position{}
		if whole > 0 {
			good = Position{ends[whole-1], uint64(whole)}
		}
		switch {
		case cut == 0 || int64(cut) == good.Offset:
			require.NoError(t, err)
		case cut == headerSize:
			require.NoError(t, err)
			good.Offset = int64(headerSize)
		default:
			require.Equal(t, &TornError{Position: good, Lost: int64(cut) - good.Offset}, err)
		}
		require.Equal(t, good, at, "cut at %d", cut)
	}
}

func wholeBefore(ends []int64, cut int) int {
	n := 0
	for n < len(ends) && ends[n] <= int64(cut) {
		n++
	}
	return n
}

// follow reads a log to its end or first error, and checks that what it yields is the true history as far as it goes.
func follow(t *testing.T, h *run, log []byte) (Position, error) {
	t.Helper()
	r := NewReader(bytes.NewReader(log))
	if state, err := r.Checkpoint(); err != nil || state != nil {
		require.Nil(t, state, "no checkpoint was written")
	}
	for i := 0; ; i++ {
		e, err := r.Next()
		if err == io.EOF {
			return r.Position(), nil
		}
		if err != nil {
			_, again := r.Next()
			require.Equal(t, err, again, "errors are final")
			return r.Position(), err
		}
		if i == len(h.events) {
			t.Fatalf("more events than were written: %+v", e)
		}
		if want := newEvent(&h.events[i]).cacheEvent(); !reflect.DeepEqual(want, e) {
			t.Fatalf("event %+v is read as %+v", want, e)
		}
	}
}

// TestEveryFlip: a byte that is not as it was written is found, and what is before it is the true history.
func TestEveryFlip(t *testing.T) {
	h := recorded(t, 4, gen.Everything(), 8**steps)
	log, ends := h.log(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for at := 0; at < len(log); at += stride() {
		// A bit, or the byte becomes zero, which is also what an unwritten one is.
		if mask := []byte{1 << rng.IntN(8), log[at]}[rng.IntN(2)]; mask != 0 {
			log[at] ^= mask
			whole := wholeBefore(ends, at)
			got, err := follow(t, h, log)
			log[at] ^= mask
			var torn *TornError
			require.Equal(t, uint64(whole), got.Version, "flip at %d", at)
			switch {
			case at < headerSize:
				require.ErrorIs(t, err, ErrFormat)
			case at == len(log)-1 && mask == log[at]: // as if the last byte had not been written
				require.True(t, errors.As(err, &torn), "%v", err)
			default:
				var corrupt *CorruptError
				require.True(t, errors.As(err, &corrupt), "flip at %d: %v", at, err)
				require.ErrorIs(t, err, ErrCorrupt)
				require.Equal(t, got, corrupt.Position)
			}
		}
	}
}

// TestReplayOfDamage applies damaged logs to caches, which costs more than reading them.
func TestReplayOfDamage(t *testing.T) {
	h := recorded(t, 5, gen.Everything(), 80)
	log, ends := h.log(t)
	rng := rand.New(rand.NewPCG(2, 2))
	for range 100 * *steps {
		at := rng.IntN(len(log))
		damaged := log[:at]
		if rng.IntN(2) == 0 {
			damaged = slices.Clone(log)
			damaged[at] ^= 1 << rng.IntN(8)
		}
		c := empty(t)
		pos, err := Replay(bytes.NewReader(damaged), c)
		if whole := wholeBefore(ends, at); len(damaged) == len(log) || whole > 0 && int64(at) != ends[whole-1] && at != headerSize {
			require.Error(t, err)
		}
		require.Equal(t, uint64(wholeBefore(ends, at)), pos.Version)
		h.is(t, c, pos.Version)
	}
}

// TestDamagedCheckpoint: a checkpoint that is not whole is none.
func TestDamagedCheckpoint(t *testing.T) {
	h := recorded(t, 6, gen.Plain(), 8**steps)
	var b bytes.Buffer
	w := NewWriter(&b)
	require.NoError(t, w.Checkpoint(h.snapshots[len(h.events)]))
	log := b.Bytes()
	for cut := 0; cut < len(log); cut += stride() {
		c := empty(t)
		at, err := Replay(bytes.NewReader(log[:cut]), c)
		var torn *TornError
		switch {
		case cut == 0:
			require.NoError(t, err)
		case cut == headerSize:
			require.NoError(t, err)
			at.Offset = 0
		default:
			require.True(t, errors.As(err, &torn), "%v", err)
			require.Equal(t, int64(cut), torn.Lost)
			require.Equal(t, cut > recordEnd(log), torn.InCheckpoint, "cut at %d", cut)
		}
		require.Equal(t, Position{}, at)
		h.is(t, c, 0)

		flipped := slices.Clone(log)
		flipped[cut] ^= 0x10
		_, err = Replay(bytes.NewReader(flipped), c)
		require.Error(t, err)
		h.is(t, c, 0)
	}
}

// recordEnd returns where the first record ends: whoever reads less does not know that there is a checkpoint.
func recordEnd(log []byte) int {
	f := frames{r: bytes.NewReader(log)}
	_, _ = f.next()
	return int(f.offset) - 1
}

func TestLogGoesOnAfterATornRecord(t *testing.T) {
	h := recorded(t, 8, gen.Everything(), 30)
	log, ends := h.log(t)
	for n := 1; n < len(ends); n++ {
		for _, cut := range []int64{ends[n-1] + 1, ends[n-1] + frameSize, ends[n] - 1} {
			c := empty(t)
			_, err := Replay(bytes.NewReader(log[:cut]), c)
			var torn *TornError
			require.True(t, errors.As(err, &torn))
			b := bytes.NewBuffer(slices.Clone(log[:torn.Position.Offset]))
			require.NoError(t, Continue(b, torn.Position).Append(h.events[n:]...))
			require.Equal(t, log, b.Bytes())
		}
	}
}

func TestZerosAtTheEndAreATornRecord(t *testing.T) {
	h := recorded(t, 9, gen.Everything(), 3)
	log, ends := h.log(t)
	for from := 1; from < len(log); from += stride() {
		for _, more := range []int{0, 5000} {
			torn := slices.Concat(log[:from], make([]byte, len(log)-from+more))
			whole := wholeBefore(ends, from)
			at, err := follow(t, h, torn)
			require.Equal(t, uint64(whole), at.Version)
			var lost *TornError
			// The format's last three bytes are zeros.
			require.True(t, errors.As(err, &lost), "zeros from %d: %v", from, err)
			require.Equal(t, int64(len(torn)), lost.Position.Offset+lost.Lost)

			_, err = follow(t, h, append(torn, 1))
			if from >= headerSize {
				require.ErrorIs(t, err, ErrCorrupt, "what follows zeros was written after them: zeros from %d", from)
			}
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	h := recorded(t, 10, gen.Everything(), 20)
	log, ends := h.log(t)
	var b bytes.Buffer
	require.NoError(t, NewWriter(&b).Checkpoint(h.snapshots[20]))

	t.Run("a log that does not follow on the cache", func(t *testing.T) {
		c := empty(t)
		_, err := Replay(bytes.NewReader(log), c)
		require.NoError(t, err)
		at, err := Replay(bytes.NewReader(log), c)
		require.ErrorIs(t, err, cache.ErrVersion)
		require.Equal(t, Position{}, at)
		_, err = Replay(bytes.NewReader(b.Bytes()), c)
		require.ErrorIs(t, err, cache.ErrVersion)
		h.is(t, c, 20)
	})
	t.Run("an event that contradicts the state", func(t *testing.T) {
		var b bytes.Buffer
		w := NewWriter(&b)
		require.NoError(t, w.Append(
			cache.Event{Version: 1, Kind: cache.NodeAdded, Node: &berth.Node{Name: "n1"}},
			cache.Event{Version: 2, Kind: cache.NodeAdded, Node: &berth.Node{Name: "n1"}}))
		c := empty(t)
		at, err := Replay(&b, c)
		require.ErrorIs(t, err, cache.ErrNodeExists)
		require.Equal(t, uint64(1), at.Version)
		require.Equal(t, uint64(1), c.Version())
	})
	t.Run("two logs in one", func(t *testing.T) {
		_, err := follow(t, h, slices.Concat(log, log))
		require.ErrorIs(t, err, ErrCorrupt)
	})
	t.Run("a record that is missing, twice there, or in another's place", func(t *testing.T) {
		first, second, third := log[ends[0]:ends[1]], log[ends[1]:ends[2]], log[ends[2]:ends[3]]
		for _, rest := range [][]byte{slices.Concat(second, third), slices.Concat(first, first), slices.Concat(second, first), third} {
			at, err := follow(t, h, slices.Concat(log[:ends[0]], rest))
			require.ErrorIs(t, err, ErrCorrupt)
			if at.Version == 1 {
				require.ErrorIs(t, err, ErrGap)
			}
		}
	})
	t.Run("other files", func(t *testing.T) {
		for _, file := range []string{"x", "berthlog\x02\x00\x00\x00", `{"event":{}}`, "BERTHLOG\x01\x00\x00\x00"} {
			_, err := Replay(bytes.NewReader([]byte(file)), empty(t))
			require.ErrorIs(t, err, ErrFormat, "%q", file)
		}
	})
	t.Run("a reader that fails", func(t *testing.T) {
		broken := errors.New("broken")
		for _, n := range []int{0, 5, headerSize, headerSize + 3, int(ends[3]), int(ends[3]) + 20} {
			c := empty(t)
			at, err := Replay(io.MultiReader(bytes.NewReader(log[:n]), iotest.ErrReader(broken)), c)
			require.ErrorIs(t, err, broken)
			require.Equal(t, uint64(wholeBefore(ends, n)), at.Version)
			h.is(t, c, at.Version)
		}
	})
}

// TestRecordsThatCannotBe are whole, and still no log was written like this.
func TestRecordsThatCannotBe(t *testing.T) {
	checkpoint := `{"checkpoint":{"version":9,"namespaces":0,"nodes":1,"pods":0,"nominations":0}}`
	for name, payloads := range map[string][]string{
		"no JSON":                            {"{"},
		"two values":                         {`{"event":{"version":1,"kind":3,"name":"n"}} {}`},
		"nothing":                            {"{}"},
		"null":                               {"null"},
		"two members":                        {`{"event":{"version":1,"kind":3,"name":"n"},"node":{"name":"n"}}`},
		"unknown member":                     {`{"event":{"version":1,"kind":3,"name":"n","more":1}}`},
		"unknown field of a spec":            {`{"event":{"version":1,"kind":1,"node":{"name":"n","more":1}}}`},
		"unknown kind":                       {`{"event":{"version":1,"kind":99,"name":"n"}}`},
		"kind without its spec":              {`{"event":{"version":1,"kind":1,"name":"n"}}`},
		"version 0":                          {`{"event":{"version":0,"kind":3,"name":"n"}}`},
		"negative version":                   {`{"event":{"version":-1,"kind":3,"name":"n"}}`},
		"node outside a checkpoint":          {`{"node":{"name":"n"}}`},
		"checkpoint after an event":          {`{"event":{"version":1,"kind":3,"name":"n"}}`, checkpoint},
		"event in a checkpoint":              {checkpoint, `{"event":{"version":10,"kind":3,"name":"n"}}`},
		"node after a checkpoint":            {checkpoint, `{"node":{"name":"n"}}`, `{"node":{"name":"n"}}`},
		"event that does not follow on it":   {checkpoint, `{"node":{"name":"n"}}`, `{"event":{"version":11,"kind":3,"name":"n"}}`},
		"placed pod without a pod":           {`{"checkpoint":{"version":1,"namespaces":0,"nodes":0,"pods":1,"nominations":0}}`, `{"pod":{}}`},
		"checkpoint of nothing, and a node":  {`{"checkpoint":{"version":0,"namespaces":0,"nodes":0,"pods":0,"nominations":0}}`, `{"node":{"name":"n"}}`},
		"checkpoint of nothing, and a later": {`{"checkpoint":{"version":0}}`, `{"event":{"version":2,"kind":3,"name":"n"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(framed(payloads...)))
			var err error
			for err == nil {
				_, err = r.Next()
			}
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
	t.Run("length that is out of range", func(t *testing.T) {
		for _, length := range []uint32{0, maxRecord + 1, 1<<32 - 1} {
			b := binary.LittleEndian.AppendUint32(appendHeader(nil), length)
			b = binary.LittleEndian.AppendUint32(b, checksum(b[headerSize:]))
			b = append(b, 0, 0, 0, 0, '{', '}')
			_, err := NewReader(bytes.NewReader(b)).Next()
			require.ErrorIs(t, err, ErrCorrupt, "%d", length)
		}
	})
}

func framed(payloads ...string) []byte {
	b := appendHeader(nil)
	for _, p := range payloads {
		b = appendFrame(b, []byte(p))
	}
	return b
}
