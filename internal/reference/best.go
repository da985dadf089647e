package reference

import (
	"math"
	"time"
)

// best returns the nodes of the candidates that are left when each criterion in turn has had its say
// (framework/preemption/preemption.go, pickOneNodeForPreemption).
func best(candidates []Candidate) []int {
	criteria := []func(*Candidate) int64{
		func(c *Candidate) int64 { return int64(c.Violations) },
		func(c *Candidate) int64 { return int64(c.Victims[0].Priority) },
		sumOfPriorities,
		func(c *Candidate) int64 { return int64(len(c.Victims)) },
		func(c *Candidate) int64 { return -earliestStart(c).Unix() },
		func(c *Candidate) int64 { return -int64(earliestStart(c).Nanosecond()) },
	}
	left := candidates
	for _, criterion := range criteria {
		var smallest []Candidate
		for i := range left {
			switch {
			case len(smallest) == 0 || criterion(&left[i]) < criterion(&smallest[0]):
				smallest = []Candidate{left[i]}
			case criterion(&left[i]) == criterion(&smallest[0]):
				smallest = append(smallest, left[i])
			}
		}
		left = smallest
	}
	var nodes []int
	for i := range left {
		nodes = append(nodes, left[i].Node)
	}
	return nodes
}

// sumOfPriorities lifts each priority above zero, so that fewer victims of one negative priority are better.
func sumOfPriorities(c *Candidate) int64 {
	var sum int64
	for _, p := range c.Victims {
		sum += int64(p.Priority) + math.MaxInt32 + 1
	}
	return sum
}

// earliestStart is the start of the oldest of the victims with the highest priority.
func earliestStart(c *Candidate) time.Time {
	return started(c.Victims[0])
}
