// Package differential puts random questions to two schedulers and shows the smallest question that they answer
// differently.
//
// [Generate] draws a [Script]: a cluster with every feature that berth has in the mix, pods to ask about, and changes in
// between. [Script.Run] puts it to a scheduler and to the judge. [Minimise] drops whatever a difference does not need, and
// [File] writes what is left as YAML that replays it.
//
// What is drawn leaves out the few things that kube-scheduler answers one way or another by chance, or that berth means to
// answer differently (docs/DIFFERENCES.md): equal start times of pods that compete for a reprieve, one host port held twice
// on a node, and image sizes that nodes disagree about.
package differential
