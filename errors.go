package berth

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is what every error about a spec wraps.
var ErrInvalid = errors.New("berth: invalid")

// Fault is one thing that is wrong with a spec.
type Fault struct {
	// Object says what is at fault: `pod "namespace/name"`, `node "name"`, ...
	Object string
	// Path is the field, in the spelling of the Kubernetes API: "spec.taints[0].effect", "metadata.labels[app]".
	Path string
	// Value is the value at fault, or the number of entries of what has too many; both of bounded length.
	Value string
	// Detail says what would be right.
	Detail string
	// Soft faults are accepted and reported: the faulty part has no effect or a defined one. Hard ones are refused.
	Soft bool
}

// Error names object, field and value.
func (f *Fault) Error() string {
	kind := "invalid"
	if f.Soft {
		kind = "accepted, but"
	}
	return fmt.Sprintf("berth: %s: %s: %s %q: %s", f.Object, f.Path, kind, f.Value, f.Detail)
}

// Unwrap makes errors.Is(f, ErrInvalid) true for hard faults.
func (f *Fault) Unwrap() error {
	if f.Soft {
		return nil
	}
	return ErrInvalid
}

// Faults are all the faults of a spec, in the order of its fields. Nil means that there are none.
type Faults []*Fault

// Err returns the hard faults as one error, or nil if there are none: errors.As finds each *Fault.
func (fs Faults) Err() error {
	var hard Faults
	for _, f := range fs {
		if !f.Soft {
			hard = append(hard, f)
		}
	}
	if hard == nil {
		return nil
	}
	return hard
}

// Error lists the faults, one a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As each fault.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}
