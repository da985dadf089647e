// Package nccl reads a numa.Machine from the topology XML of NCCL and RCCL
// (NCCL_TOPO_DUMP_FILE): NUMA nodes, PCI trees, GPUs and NICs with their
// links.
//
// The file knows which CPUs are near a node, but not which of them share a
// core: each CPU counts as a core, each node as a package.
package nccl
