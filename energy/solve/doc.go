// Package solve finds allocations for the problems of package energy: the best there is
// for small clusters, with proof; for others a good one in milliseconds and better ones
// until it is told to stop.
//
// Once a yield and a number of nodes are fixed, power is a sum over nodes, so that moving
// a job changes two terms only. The search anneals over such moves; nodes may be
// overloaded on the way, at a price. Around it, what is fixed changes: bounds with whole
// nodes say which numbers of nodes and which yields can still be better than the best
// allocation so far, and the others are never looked at.
package solve
