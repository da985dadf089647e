package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth"
)

// ErrUnsupported is what an error about a field wraps that bears on placement and that the other side has no words for.
var ErrUnsupported = errors.New("convert: unsupported")

// FieldError is one field that could not be carried over.
type FieldError struct {
	// Object says what was being converted: "pod ns/name", "node name", ...
	Object string
	// Path is the field, in the spelling of the object's own API: "spec.volumes[0].persistentVolumeClaim".
	Path string
	// Value is the value at fault, cut to a bounded length.
	Value string
	// Detail says why.
	Detail string
	// Err is [berth.ErrInvalid] or [ErrUnsupported].
	Err error
}

// Error names object, field and value.
func (e *FieldError) Error() string {
	kind := "unsupported"
	if e.Err != ErrUnsupported {
		kind = "invalid"
	}
	return fmt.Sprintf("convert: %s: %s: %s %q: %s", e.Object, e.Path, kind, e.Value, e.Detail)
}

// Unwrap tells an invalid field from an unsupported one.
func (e *FieldError) Unwrap() error { return e.Err }

// Errors are all the fields of one object that could not be carried over.
type Errors []*FieldError

// Error lists the fields, one a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As each field.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// maxValue is the length that FieldError.Value is cut to.
const maxValue = 128

// report gathers the errors of one conversion.
type report struct {
	object string
	errs   Errors
}

func (r *report) add(kind error, value, detail, format string, args ...any) {
	if len(value) > maxValue {
		value = value[:maxValue] + "..."
	}
	path := fmt.Sprintf(format, args...)
	r.errs = append(r.errs, &FieldError{Object: r.object, Path: path, Value: value, Detail: detail, Err: kind})
}

func (r *report) invalid(value, detail, format string, args ...any) {
	r.add(berth.ErrInvalid, value, detail, format, args...)
}

func (r *report) unsupported(value, detail, format string, args ...any) {
	r.add(ErrUnsupported, value, detail, format, args...)
}

// refused says whether the object as a whole is refused.
func (r *report) refused() bool {
	for _, e := range r.errs {
		if e.Err != ErrUnsupported {
			return true
		}
	}
	return false
}

func (r *report) err() error {
	if r.errs == nil {
		return nil
	}
	return r.errs
}
