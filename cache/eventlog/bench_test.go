package eventlog

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/gen"
)

const benchEvents = 2000

// BenchmarkAppend is the cost of an event but for the io.Writer's, one by one and in batches.
func BenchmarkAppend(b *testing.B) {
	h := recorded(b, 1, gen.Everything(), benchEvents)
	for _, batch := range []int{1, 100} {
		b.Run(map[int]string{1: "one", 100: "batch of 100"}[batch], func(b *testing.B) {
			b.ReportAllocs()
			bytes := int64(0)
			for b.Loop() {
				w := NewWriter(io.Discard)
				for i := 0; i < benchEvents; i += batch {
					if err := w.Append(h.events[i : i+batch]...); err != nil {
						b.Fatal(err)
					}
				}
				bytes = w.Position().Offset
			}
			perEvent(b)
			b.ReportMetric(float64(bytes)/benchEvents, "bytes/event")
		})
	}
}

// BenchmarkRead is the reading alone; BenchmarkReplay also applies what is read.
func BenchmarkRead(b *testing.B) {
	h := recorded(b, 1, gen.Everything(), benchEvents)
	log, _ := h.log(b)
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(log))
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	perEvent(b)
}

func BenchmarkReplay(b *testing.B) {
	h := recorded(b, 1, gen.Everything(), benchEvents)
	log, _ := h.log(b)
	b.ReportAllocs()
	for b.Loop() {
		c, err := cache.New(cache.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Replay(bytes.NewReader(log), c); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b)
}

func perEvent(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEvents, "ns/event")
}

// BenchmarkCheckpoint writes and restores the state of 1,000 nodes and their pods.
func BenchmarkCheckpoint(b *testing.B) {
	c := empty(b)
	d := newDriver(1, gen.Everything())
	for range 1000 {
		n := d.g.Node()
		require.NoError(b, c.AddNode(&n))
		for range 10 {
			p := d.g.Pod()
			p.NodeName = n.Name
			_ = c.AddPod(&p)
		}
	}
	s := c.Publish()
	nodes, pods := s.Len()
	objects := float64(nodes + pods)
	var log bytes.Buffer
	require.NoError(b, NewWriter(&log).Checkpoint(s))
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if err := NewWriter(io.Discard).Checkpoint(s); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/objects, "ns/object")
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			if _, err := Replay(bytes.NewReader(log.Bytes()), empty(b)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/objects, "ns/object")
	})
}
