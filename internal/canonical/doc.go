// Package canonical writes specs as bytes that are equal if and only if the specs are: what digests are made of, and what
// logs hold.
//
// The bytes are JSON with the names that the types give their fields, keys sorted, and nil apart from empty. JSON cannot
// carry text that is not UTF-8, which label values may be, nor years out of 0..9999. [Append] refuses these and says
// where they are; [AppendAll] writes them in a form that nobody reads back.
//
// # The caller's duties
//
// A time is written with its offset, so put times into UTC first ([Pod]): one instant should have one form.
package canonical
