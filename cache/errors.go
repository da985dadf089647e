package cache

import "errors"

// The errors of this package, for errors.Is. What is wrong with a spec is a *berth.Fault.
var (
	// ErrConfig is returned for a Config that makes no sense.
	ErrConfig = errors.New("cache: bad configuration")
	// ErrUnknownNode is returned for a node that the cache does not hold.
	ErrUnknownNode = errors.New("cache: unknown node")
	// ErrNodeExists is returned for a node that the cache holds already.
	ErrNodeExists = errors.New("cache: node exists")
	// ErrUnknownPod is returned for a pod that the cache does not hold.
	ErrUnknownPod = errors.New("cache: unknown pod")
	// ErrPodExists is returned for a pod that the cache holds already.
	ErrPodExists = errors.New("cache: pod exists")
	// ErrNotAssumed is returned for a pod that is not assumed, where it should be.
	ErrNotAssumed = errors.New("cache: pod is not assumed")
	// ErrNoNode is returned for a pod that names no node, where it should.
	ErrNoNode = errors.New("cache: pod has no node")
	// ErrVersion is returned for an event that does not follow on the state.
	ErrVersion = errors.New("cache: event out of order")
	// ErrEvent is returned for an event that makes no sense.
	ErrEvent = errors.New("cache: bad event")
	// ErrRefused is returned for a placement that a rule forbids.
	ErrRefused = errors.New("cache: placement refused")
	// ErrConflict is what a ConflictError wraps.
	ErrConflict = errors.New("cache: conflict")
	// ErrPodMoved is the conflict of a pod that is on another node than it was.
	ErrPodMoved = errors.New("cache: pod moved")
	// ErrNodeChanged is the conflict of a node that somebody else has changed.
	ErrNodeChanged = errors.New("cache: node changed")
	// ErrGroup is what became of a pod whose group did not find room for enough of its pods.
	ErrGroup = errors.New("cache: group not placed")
	// ErrClock is why clock drift is not repaired: clocks are the caller's.
	ErrClock = errors.New("cache: clocks are not the cache's to set")
	// ErrOpen is returned while a transaction of the replica is open.
	ErrOpen = errors.New("cache: a transaction is open")
	// ErrDone is returned by a transaction that was committed or rolled back.
	ErrDone = errors.New("cache: transaction is over")
	// ErrSavepoint is returned for a savepoint that is not one of the transaction's any more.
	ErrSavepoint = errors.New("cache: no such savepoint")
)

// errNothing ends an operation that changed nothing, without an event.
var errNothing = errors.New("cache: nothing to do")
