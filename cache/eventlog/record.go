package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/internal/canonical"
)

// record is the payload of a record: one of its members is set.
type record struct {
	Checkpoint *checkpoint        `json:"checkpoint,omitzero"`
	Namespace  *berth.Namespace   `json:"namespace,omitzero"`
	Node       *berth.Node        `json:"node,omitzero"`
	Pod        *canonical.Placed  `json:"pod,omitzero"`
	Nomination *canonical.Promise `json:"nomination,omitzero"`
	Event      *event             `json:"event,omitzero"`
}

// checkpoint says of which version the state is, and how many records of each kind it has.
type checkpoint struct {
	Version     uint64 `json:"version"`
	Namespaces  int64  `json:"namespaces"`
	Nodes       int64  `json:"nodes"`
	Pods        int64  `json:"pods"`
	Nominations int64  `json:"nominations"`
}

// event is a cache.Event.
type event struct {
	Version   uint64           `json:"version"`
	Kind      cache.EventKind  `json:"kind"`
	Node      *berth.Node      `json:"node,omitzero"`
	Pod       *berth.Pod       `json:"pod,omitzero"`
	Namespace *berth.Namespace `json:"namespace,omitzero"`
	Key       berth.PodKey     `json:"key,omitzero"`
	Name      string           `json:"name,omitzero"`
	Deadline  time.Time        `json:"deadline,omitzero"`
}

func newEvent(e *cache.Event) *event {
	return &event{e.Version, e.Kind, e.Node, canonical.Pod(e.Pod), e.Namespace, e.Key, e.Name, e.Deadline.UTC()}
}

func (e *event) cacheEvent() *cache.Event {
	return &cache.Event{
		Version: e.Version, Kind: e.Kind,
		Node: e.Node, Pod: e.Pod, Namespace: e.Namespace, Key: e.Key, Name: e.Name, Deadline: e.Deadline,
	}
}

// check returns ErrEvent if the event lacks what its kind needs. A member more does no harm.
func (e *event) check() error {
	complete := false
	switch e.Kind {
	case cache.NodeAdded, cache.NodeUpdated:
		complete = e.Node != nil
	case cache.PodAdded, cache.PodAssumed, cache.PodConfirmed, cache.PodUpdated, cache.PodNominated:
		complete = e.Pod != nil && (e.Kind != cache.PodNominated || e.Name != "")
	case cache.PodRemoved, cache.PodForgotten, cache.PodExpired, cache.PodDenominated:
		complete = e.Key != berth.PodKey{}
	case cache.NamespaceSet:
		complete = e.Namespace != nil
	case cache.NodeRemoved, cache.NamespaceRemoved:
		complete = e.Name != ""
	default:
		return fmt.Errorf("%w: version %d is of unknown kind %d", ErrEvent, e.Version, uint8(e.Kind))
	}
	if !complete {
		return fmt.Errorf("%w: version %d, %v, does not say what it is about", ErrEvent, e.Version, e.Kind)
	}
	return nil
}

// appendRecord appends a record in its frame. The error is a *berth.Fault for what JSON cannot carry, or ErrTooLong. Then
// b is as it was.
func appendRecord(b []byte, r *record) ([]byte, error) {
	payload, err := canonical.Append(nil, r)
	var fault *berth.Fault
	if errors.As(err, &fault) {
		fault.Object = "record"
	}
	if err == nil && len(payload) > maxRecord {
		err = fmt.Errorf("%w: %d bytes, not in 1..%d", ErrTooLong, len(payload), maxRecord)
	}
	if err != nil {
		return b, err
	}
	return appendFrame(b, payload), nil
}

// parse is the reverse of it. The payload is not kept.
func parse(payload []byte) (*record, error) {
	var r record
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is something after the record")
	}
	members := 0
	for _, set := range [...]bool{
		r.Checkpoint != nil, r.Namespace != nil, r.Node != nil, r.Pod != nil && r.Pod.Pod != nil,
		r.Nomination != nil && r.Nomination.Pod != nil, r.Event != nil,
	} {
		if set {
			members++
		}
	}
	if members != 1 {
		return nil, fmt.Errorf("the record has %d members, not 1", members)
	}
	return &r, nil
}
