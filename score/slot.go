package score

// Slot holds what a plugin works out once for a decision and reads again in it: a field of the plugin, of the type that it
// needs. What was put in for another decision is not found. The zero value is empty.
//
// Put is for the methods that are called once a decision, Filter and Prepare. Get may be called by several goroutines at a
// time. A plugin with slots belongs to one pipeline.
type Slot[T any] struct {
	value  T
	in     *Input
	serial uint64
}

// Put sets the value for the decision of in.
func (s *Slot[T]) Put(in *Input, value T) {
	s.value, s.in, s.serial = value, in, in.serial
}

// Get returns the value that was put in during the decision of in, and whether there is one.
func (s *Slot[T]) Get(in *Input) (value T, ok bool) {
	if s.in == nil || s.in != in || s.serial != in.serial {
		return value, false
	}
	return s.value, true
}
