// Package benchmarks compares placement strategies on recorded workloads, and measures how decisions scale.
//
// A [Strategy] is a name and a pipeline configuration; [Replay] lets the pods of a workload arrive one by one at an empty
// cluster and reports how much of the GPUs was put to use. Command compare prints a table of it:
//
//	go run ./benchmarks/compare
//	go test -bench . ./benchmarks
//
// The trace under testdata is Alibaba's, as published with FGD (Weng et al., "Beware of Fragmentation: Scheduling
// GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023); see the README there.
//
// The package is for comparing and for examples of how to do it; it may change more freely than the others.
package benchmarks
