// Package sysfs reads a numa.Machine from a Linux /sys tree.
//
// Read takes the root of the tree as an io/fs.FS: os.DirFS("/") on a running
// machine, a recorded or hand-made tree in a test. It needs no privileges and
// runs no program. Everything but sys/devices/system/cpu may be missing: a
// kernel without NUMA becomes one node 0, unknown packages become one, cores
// without topology are single threads.
//
// The machine is what the kernel sees online, whatever the cgroup of the
// reader allows.
//
// What is used, below sys/ unless it starts with proc/:
//
//	devices/system/cpu        online CPUs, cores, dies, packages, caches
//	devices/system/node       nodes, memory, huge pages, distances, bandwidth
//	devices/cpu_core/cpus     performance cores of a hybrid package
//	bus/pci/devices           GPUs, NICs, storage, accelerators, their node
//	bus/dax/devices           nodes of persistent or device memory
//	proc/meminfo              memory of a machine without NUMA
//	proc/driver/nvidia/gpus   nodes that are the memory of a GPU
package sysfs
