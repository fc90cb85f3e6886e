// Package simulated is a cluster of hypervisors in virtual time: nodes, guests
// with work to do, an image store and the faults that real ones have. [Cluster]
// is a discrete-event engine, single-threaded and the same for the same seed;
// [Driver] puts it behind the seam of package hypervisor, with a clock, so that
// the daemon runs on it as on real hosts.
//
// Its semantics are measurements, not wishes: what each verb leaves behind when
// it is cut, repeated or late follows the tables of two lab reports on libvirt
// 9.0 with QEMU 7.2, whose rows are quoted as M0-M14, E1-E5b, 6a-6f, 7h, 16-18
// (failure tables of migration, of save and restore, and of locks) and as
// "lab §4" to "lab §6" (timings and experiments).
//
// It refuses to know about vjobs, gangs, plans and queues: it does what it is
// told, however unwise, and [Cluster.Truth] and [Cluster.OnChange] show the
// ground truth to checkers.
package simulated
