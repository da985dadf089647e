// Package eventlog keeps the events of a cache in an append-only log, from which the same state can be made again.
//
// A [Writer] appends the events that cache.Cache.EventsSince returns to an io.Writer that the caller brings. [Replay]
// reads such a log from an io.Reader and applies it to a cache, which then has the same version and the same digest; a
// [Reader] yields the events one by one. A log may begin with a checkpoint, the whole state of a snapshot: to cut off the
// past, begin a new log with the checkpoint of a snapshot and go on there with the events since its version.
//
// # Format
//
// A log is a header and records. Numbers are little-endian.
//
//	header   "berthlog", then the version of the format in 4 bytes, which is 1
//	record   the length of the payload in 4 bytes, the CRC-32C of these 4 bytes, the CRC-32C of the payload, the payload
//	payload  a JSON object with one member: "checkpoint", "namespace", "node", "pod", "nomination" or "event"
//
// The specs in it have the names that package berth gives their fields in JSON, and a kind of event is its number. A
// checkpoint says how many namespaces, nodes, pods and nominations follow it, in this order; with the last of them it is
// whole. Whatever changes the meaning of a log changes the version of the format, and a member that a reader does not
// know is an error, since leaving it out could make a wrong state.
//
// # Damage
//
// A writer that dies leaves its last record torn: the log ends within it, or only zeros follow from some point in it, as
// some file systems leave behind. A reader tells this by a [TornError] in place of io.EOF: all before it is good, and the
// log can go on once it is cut at the offset that the error says. What is not as it was written anywhere else is a
// [CorruptError], and nothing after it is read. The checksums find every damage of up to 32 bits in a row in a payload,
// and overlook any other with a probability of 2^-32; they do not protect against somebody who writes a false log on
// purpose.
//
// # The caller's duties
//
// A record is safe when the caller's io.Writer has it on stable storage: sync it as often as losing events would matter.
// Of two writers on one log only one may write. A Writer or Reader must not be used by two goroutines at a time.
//
// # Guarantees
//
// Replaying gives the state after one of the logged events, that of the checkpoint, or the empty one, never another; an
// error says what was left out. The length of a record is bounded before memory is taken for it. Specs that JSON cannot
// carry unchanged, which are those with text that is not UTF-8, are refused when they are to be written.
package eventlog
