// Package db keeps what vjob must not forget in one SQLite file: vjobs and their
// VMs, gangs, nodes, plans, the intent before each call and its result after it,
// the event log, accounts and users. It implements scheduler.Store for the loop
// and a read model for those who show things to people.
//
// The promise: what was acknowledged is on the disk. Every write returns after
// its transaction was committed with synchronous=FULL; a step of the scheduler is
// written as a whole or not at all. All writes go through one goroutine, which
// puts those that wait at the same moment into one transaction (group commit).
// DESIGN.md says why.
//
// It refuses to know why anything is written. It checks only what keeps the
// record true: versions that grow, edges of the state diagram, results with an
// intent, names and idempotency keys. It never looks at the clock: times come
// from its callers and are kept as nanoseconds since 1970, UTC.
package db
