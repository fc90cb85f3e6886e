// Package repack is the bin repacking scheduling problem as data (Hermenier,
// Demassey, Lorca: Bin Repacking Scheduling in Virtualized Datacenters, 2011):
// an [Instance] is where VMs run now and what is wanted of them, a [Plan] is the
// timed actions that lead there, a [Rule] restricts both, and [Check] tells
// whether a plan is right, whoever made it.
//
// VMs and nodes are numbers here, resources are named dimensions, and time has
// no unit but the caller's. The package knows nothing of vjobs, files and
// searches; those who do are above it.
package repack
