package conformance

// Waiting is a pod in the queue of a scheduler, which has taken in of it what it can.
type Waiting interface {
	// Decide says where the pod goes.
	Decide() (node string, err error)
	// Assume puts the pod on a node.
	Assume(node string) error
}
