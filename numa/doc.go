// Package numa decides which CPUs, memory and devices of one machine a pod
// gets. It follows the kubelet's topology, CPU, memory and device managers, so
// that a scheduler and a node agent that ask it get the same answer, and
// answers where the kubelet cannot: it searches for the best NUMA mask instead
// of going through all of them.
//
// # Concepts
//
// A [Machine] is a plain description, filled by the readers in numa/sysfs,
// numa/hwloc, numa/nccl and numa/nvidiasmi or by hand. [Compile] turns it into
// a [Layout], immutable and shared. A [State] is what is taken of it.
//
//   - [State.Plan] finds a place for a pod: CPUs, memory and devices together.
//     It changes nothing. Its error [*Unplaceable] names the resources in the
//     way, on which nodes, and what would clear it. [State.Apply] and
//     [State.Release] are exact inverses.
//   - [Layout.Merge] merges resources given as capacity predicates;
//     [Layout.MergeHints] merges explicit hint lists as the kubelet does.
//   - [Layout.TakeCPUs], [Layout.BestConnected] choose CPUs and devices alone.
//   - Score functions rate a placement for schedulers.
//
// numa/runqueue distributes tasks over a caller's workers by distance, and
// numa/ring is a queue for their completions.
//
// # The caller's duties
//
// What is aligned at all is the caller's decision: the kubelet pins whole CPUs
// and memory of guaranteed pods only. Ids of CPUs and nodes are those of the
// operating system; nodes are 0..[MaxNodeID]. A State has one owner at a time.
//
// # Guarantees
//
// Same inputs, same answer: no clock, no randomness, no map order. A Layout may
// be used from any number of goroutines. No CPU, page or device is ever in two
// placements of one State. Searches are bounded by a budget of steps and say
// if they ran into it.
//
// Where it differs from the kubelet, deliberately, is written in
// docs/differences/numa.md. Long tests run with -berth.steps=N, a multiple of
// the default number of random steps.
package numa
