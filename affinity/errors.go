package affinity

import (
	"errors"

	"github.com/berth-go/berth/internal/ledger"
)

// The errors of this package, for errors.Is. What is wrong with a spec is a *berth.Fault.
var (
	// ErrUnknownNode is returned for a node that is not in the graph.
	ErrUnknownNode = errors.New("affinity: unknown node")
	// ErrNodeExists is returned for a node that is in the graph already.
	ErrNodeExists = errors.New("affinity: node exists")
	// ErrNodeInUse is returned for the removal of a node that still has pods.
	ErrNodeInUse = errors.New("affinity: node has pods")
	// ErrUnknownPod is returned for a pod that is not in the graph.
	ErrUnknownPod = errors.New("affinity: unknown pod")
	// ErrPodExists is returned for a pod that is in the graph already.
	ErrPodExists = errors.New("affinity: pod exists")
	// ErrConfig is returned for a Config or ProfileConfig that makes no sense.
	ErrConfig = errors.New("affinity: bad configuration")
	// ErrAmount is returned for a pod whose requests would make the sum on its node too large to count: more than
	// 2^61 of a resource.
	ErrAmount = errors.New("affinity: sum of requests out of range")
	// ErrDevices is returned for a pod whose GPUs are not there or not free.
	ErrDevices = ledger.ErrDevices
)
