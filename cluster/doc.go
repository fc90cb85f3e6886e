// Package cluster is the vocabulary of vjob: resources with units, nodes, VMs,
// vjobs with their life cycle, placement rules, and the configuration (which VM
// is in which state on which node at one instant).
//
// It is pure, and imports no other package of vjob.
package cluster
