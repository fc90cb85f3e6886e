// Package simulated is a simulated cluster of hypervisors in virtual time: nodes, guests with
// work to do, an image store, and the faults that real ones have. [Cluster] is a discrete-event
// engine, single-threaded and deterministic for a seed. [Driver] implements
// [hypervisor.Driver] with it and a clock, so that the daemon runs on it as on real nodes.
//
// Its semantics were measured: the effects of each verb when it is interrupted, repeated or late
// follow the tables of two lab reports on libvirt 9.0 with QEMU 7.2. Comments cite their rows as
// M0-M14, E1-E5b, 6a-6f, 7h, 16-18 (failures of migration, of save and restore, and of locks)
// and as "lab §4" to "lab §6" (timings and experiments).
//
// It carries out every call, also a harmful one. [Cluster.Truth] and [Cluster.OnChange] show the
// ground truth to checkers.
package simulated
