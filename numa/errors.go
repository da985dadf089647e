package numa

import "errors"

// Errors that callers tell apart with errors.Is. Every error of this package
// starts with "numa: " and names the field and the value that caused it.
var (
	// ErrSyntax marks input text that no reader can make sense of.
	ErrSyntax = errors.New("numa: syntax")
	// ErrMachine marks a Machine that contradicts itself.
	ErrMachine = errors.New("numa: machine")
	// ErrConfig marks options that are out of range or exclude one another.
	ErrConfig = errors.New("numa: config")
	// ErrRequest marks a request that is malformed whatever the machine.
	ErrRequest = errors.New("numa: request")
	// ErrNotEnough marks a request for more than is free.
	ErrNotEnough = errors.New("numa: not enough free")
	// ErrEndless marks, in the compatible mode only, an input on which the
	// kubelet's own loop never ends (kubernetes#140730).
	ErrEndless = errors.New("numa: the kubelet does not terminate on this input")
	// ErrConflict marks a placement that no longer fits the state it is
	// applied to, or is not part of the state it is released from.
	ErrConflict = errors.New("numa: state conflict")
)
