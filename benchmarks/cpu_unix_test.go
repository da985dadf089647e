//go:build unix

package benchmarks_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of the processors so far, garbage collection and system included. It does not count the time
// that other processes take, so that it can be trusted on a machine that is shared.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no other process to ask for
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
