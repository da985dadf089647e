// Package gpu is the slow, obvious version of the GPU placement policies that the FGD paper compares (Weng et al., "Beware
// of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023, sections 3 and
// 4), with the integer scores of the authors' simulator (hkust-adsl/kubernetes-scheduler-simulator, pkg/simulator/plugin).
// Fast code is tested against it, with which it shares nothing but the vocabulary.
//
// A [Cluster] holds the nodes; [Cluster.Place] puts one pod where its policy wants it. Each formula stands as the paper or
// the authors' code has it. The only economy is that a node's score for a kind of pod is kept until the node changes.
package gpu
