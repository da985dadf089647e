package canonical

import (
	"bytes"
	"encoding/json"

	"github.com/berth-go/berth"
)

// Pod returns p with its time in UTC: p itself if it is, otherwise a copy that shares with p all but that.
func Pod(p *berth.Pod) *berth.Pod {
	if p == nil {
		return nil
	}
	// This also drops a monotonic clock reading and the name of a location, neither of which JSON has.
	start := p.StartTime.UTC()
	if start == p.StartTime {
		return p
	}
	inUTC := *p
	inUTC.StartTime = start
	return &inUTC
}

// Append appends the canonical JSON of v, a struct of specs. The error is a *berth.Fault for what JSON cannot carry: it
// names the field by its path in the JSON, and the value, and leaves the object to be named by the caller. b comes back as
// it was then. O(size of the spec).
func Append(b []byte, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	// encoding/json writes U+FFFD in this form only in place of text that is not UTF-8; a real one it writes as it is.
	if err != nil || bytes.Contains(data, []byte(`\ufffd`)) {
		if fault := unfit(v); fault != nil {
			return b, fault
		}
	}
	if err != nil {
		return b, err
	}
	return append(b, data...), nil
}

// AppendAll appends what Append does where that is possible. Otherwise it appends a zero byte, which JSON never has, and
// everything that v holds, with quotes around text, so that different values have different bytes.
func AppendAll(b []byte, v any) []byte {
	if data, err := Append(b, v); err == nil {
		return data
	}
	return appendRaw(append(b, 0), v)
}
