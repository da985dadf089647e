// Package topology turns nodes and their labels into dense numbers and sets.
//
// An [Index] gives each node a [NodeID], each label key a [KeyID] and each value of a key a [ValueID], all small integers
// that index slices. A key and a value together are a [Domain]: the nodes that carry that label ("the zone a"). For each
// domain the index holds the posting list of its nodes, in a form that suits its size: a domain of one node, as with
// kubernetes.io/hostname, costs two words, a large one a bitset. A [NodeSet] is that bitset, with the usual algebra. A
// [Tree] arranges the domains of several keys as levels (region, zone, rack, host) and knows the lowest domain that two
// nodes have in common, and so their distance.
//
// # The caller's duties
//
// An Index and a NodeSet have one owner: no method may run while another changes the same value. Ids are handed out
// anew after a node or the last use of a value is gone; whoever stores them must drop them by then.
//
// # Guarantees
//
// Adding, relabelling and removing a node costs O(labels), plus O(size of the domain) for the list forms of its domains.
// The same sequence of calls gives the same ids. Nothing iterates in map order.
package topology
