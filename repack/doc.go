// Package repack is the bin repacking scheduling problem as data (Hermenier,
// Demassey, Lorca: Bin Repacking Scheduling in Virtualized Datacenters, 2011):
// an [Instance] is where VMs run now and the wanted state, a [Plan] is the timed
// actions that lead there, a [Rule] restricts both, and [Check] tells whether a
// plan is right, however it was made.
//
// VMs and nodes are numbers, resources are named dimensions, and time is in ticks
// of the caller's unit.
package repack
