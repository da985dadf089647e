package cache

import "errors"

// The errors of this package, for errors.Is. What is wrong with a spec is a *berth.Fault.
var (
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
)
