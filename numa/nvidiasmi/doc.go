// Package nvidiasmi reads a numa.Machine from the text that
// `nvidia-smi topo -m` prints: GPUs, NICs, the links between them, and the
// CPUs and NUMA nodes near them.
//
// The text knows no cores: each CPU counts as one, each node as a package.
// Older drivers print no NUMA column; GPUs with the same CPU affinity are
// then taken to share a node, numbered in the order of their lowest CPU.
package nvidiasmi
