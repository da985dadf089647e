// Package openb reads the openb GPU cluster trace (Alibaba's cluster-trace-gpu-v2023, in the CSV form of the FGD paper:
// Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC
// 2023) and draws from it the workloads and the allocation curve of that paper's experiment.
//
// [ReadNodes] and [ReadPods] turn a file into the vocabulary of package berth. [Draw] makes the arrivals of one seed: the
// shuffled list, tuned to a share of the cluster's GPUs, and the ranks that break ties. [Curve] gathers what was placed
// against what arrived.
//
// # Guarantees
//
// The same files and seed give the same workload on every platform: the source of randomness is math/rand's first version,
// drawn in the order of the authors' simulator. A file that cannot be read completely is an error ([SyntaxError]) that
// names file, line and column, and gives nothing.
package openb
