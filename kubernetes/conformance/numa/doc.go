// Package numa holds package numa of berth against the kubelet: the topology
// manager's merge, the static CPU manager, the static memory manager.
//
// The tests ask both sides the same random questions, a few thousand by
// default. More on demand:
//
//	go test ./numa -run Merge -numa.merges=1000000 -timeout 2h
//	go test ./numa -run CPUs -numa.cpus=100000 -timeout 6h
//	go test ./numa -run Memory -numa.memory=100000 -timeout 2h
//
// Machines are the recorded trees of numa/sysfs/testdata. Where the kubelet
// has a known fault (docs/differences/numa.md) the compatible mode is held to
// it, and the ordinary mode is allowed to differ, and only there.
//
// [Answer] is for case files: it asks package numa, in the terms of a case,
// what the kubelet would do.
package numa
