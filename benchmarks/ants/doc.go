// Package ants measures a pool of goroutines that stay, github.com/panjf2000/ants, at the same work as BenchmarkParallel of
// package benchmarks: 10,000 pairs of a pod and a node. It is a module of its own, so that berth does not depend on ants.
//
//	go test -bench Parallel -cpu 1,2
package ants
