// Package gen makes random clusters, pods and changes for tests that hold fast code against slow.
//
// Everything is drawn from the *rand.Rand that is handed in, so a seed replays. The label vocabularies are small, so that
// rules meet: a selector usually selects something, a taint is usually tolerated by somebody. Values are awkward on
// purpose: empty strings, numbers that are none, absent keys, two nodes with one hostname.
//
// # The caller's duties
//
// Specs have no hard faults (see berth.ValidatePod), except for the kinds that [Faults] switches on, as [Invalid] does. Soft
// ones occur. Names are unique within a Generator. Pods with matchLabelKeys are as a user writes them, to be folded before
// use (berth.Fold).
//
// # Guarantees
//
// What a Generator hands out shares no memory with what it hands out later. A change to a spec (see [Generator.Change])
// replaces its maps and slices and never writes into them, so earlier copies stay as they were. A Generator is not safe
// for concurrent use.
package gen
