package heap

import "errors"

// Errors that callers tell apart with errors.Is. What is returned wraps them and names the key and the value at fault;
// whatever failed has changed nothing.
var (
	// ErrExists is returned when a key, group, tenant or gang is added that is already there.
	ErrExists = errors.New("heap: already present")
	// ErrNotFound is returned for a key, group, tenant or gang that is not there.
	ErrNotFound = errors.New("heap: not found")
	// ErrRange is returned for a number that is not finite, has the wrong sign or could overflow a priority.
	ErrRange = errors.New("heap: value out of range")
	// ErrConfig is returned for a Config that contradicts itself.
	ErrConfig = errors.New("heap: invalid config")
	// ErrUnstable is returned for gains with which a Controller would not settle.
	ErrUnstable = errors.New("heap: controller does not converge")
	// ErrTicket is returned for a Ticket whose attempt is over, or that this queue never gave out.
	ErrTicket = errors.New("heap: no such attempt")
)
