//go:build !unix

package benchmarks_test

import "time"

var started = time.Now()

// cpuTime is the time that has passed, where it is not known what the process has used of it.
func cpuTime() time.Duration { return time.Since(started) }
