package eventlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	magic  = "berthlog"
	format = 1
	// headerSize is the length of the log's header, and frameSize what a record has before its payload.
	headerSize = len(magic) + 4
	frameSize  = 12
)

// maxRecord is how long the payload of a record may be. Kubernetes stores no object of more than 1.5 MiB.
const maxRecord = 16 << 20

// checksum is the CRC-32C. MakeTable returns a table that package crc32 keeps.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func appendHeader(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(b, magic...), format)
}

// The length has a checksum of its own, so that a false one is not taken for a log that ends early.
func appendFrame(b []byte, payload []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, checksum(b[at:]))
	b = binary.LittleEndian.AppendUint32(b, checksum(payload))
	return append(b, payload...)
}

// frames reads the frames of a log. All errors are final.
type frames struct {
	r       io.Reader
	payload bytes.Buffer // of the last frame
	offset  int64        // of the end of the last frame, or of the header
	begun   bool
}

// torn is what frames return in place of a TornError, and bad in place of a CorruptError, which know more.
type (
	torn struct{ lost int64 }
	bad  struct{ reason string }
)

func (e torn) Error() string { return fmt.Sprintf("torn: %d bytes", e.lost) }
func (e bad) Error() string  { return e.reason }

// next returns the next payload, which is good until the next call, or io.EOF.
func (f *frames) next() ([]byte, error) {
	if !f.begun {
		if err := f.header(); err != nil {
			return nil, err
		}
		f.begun = true
	}
	var head [frameSize]byte
	if n, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, f.ended(n, err)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if binary.LittleEndian.Uint32(head[4:]) != checksum(head[:4]) {
		return nil, f.damaged(head[:], frameSize, "the checksum of the length does not match")
	}
	if length == 0 || length > maxRecord {
		return nil, bad{fmt.Sprintf("the length is %d, not in 1..%d", length, maxRecord)}
	}
	// The buffer grows with what is there, not with what the length claims.
	f.payload.Reset()
	n, err := f.payload.ReadFrom(io.LimitReader(f.r, int64(length)))
	if err == nil && n < int64(length) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, f.ended(frameSize+int(n), err)
	}
	payload := f.payload.Bytes()
	if binary.LittleEndian.Uint32(head[8:]) != checksum(payload) {
		return nil, f.damaged(payload, frameSize+n, "the checksum of the payload does not match")
	}
	f.offset += frameSize + n
	return payload, nil
}

func (f *frames) header() error {
	want := appendHeader(nil)
	got := make([]byte, headerSize)
	n, err := io.ReadFull(f.r, got)
	got = got[:n]
	good := 0
	for good < n && got[good] == want[good] {
		good++
	}
	switch {
	case good == headerSize:
		f.offset = int64(headerSize)
		return nil
	case good == n:
		return f.ended(n, err)
	case onlyZeros(got[good:]):
		if err := f.damaged(got, int64(n), ""); err != (bad{}) {
			return err
		}
	}
	if good < len(magic) {
		return fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	return fmt.Errorf("%w: the format is %x, known is %x", ErrFormat, got[len(magic):], want[len(magic):])
}

// ended turns the error of a read that had n bytes of a record.
func (f *frames) ended(n int, err error) error {
	switch {
	case err == io.EOF && n == 0:
		return io.EOF
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return torn{int64(n)}
	}
	return fmt.Errorf("eventlog: reading at byte %d: %w", f.offset+int64(n), err)
}

// damaged tells a torn record from a corrupt one, when n bytes of it have been read that end in tail. Payloads end in a
// brace, so one that ends in a zero was not written to its end, if only zeros follow.
func (f *frames) damaged(tail []byte, n int64, reason string) error {
	if tail[len(tail)-1] != 0 {
		return bad{reason}
	}
	var chunk [4096]byte
	for {
		got, err := f.r.Read(chunk[:])
		if !onlyZeros(chunk[:got]) {
			return bad{reason}
		}
		if n += int64(got); err == io.EOF {
			return torn{n}
		}
		if err != nil {
			return fmt.Errorf("eventlog: reading at byte %d: %w", f.offset+n, err)
		}
	}
}

func onlyZeros(b []byte) bool { return bytes.Count(b, []byte{0}) == len(b) }
