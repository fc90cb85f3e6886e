// Package db stores in one SQLite file what vjob must not forget: vjobs and their VMs, gangs,
// nodes, plans, the intent before each call and its result after it, the event log, accounts
// and users. It implements scheduler.Store for the loop and a read model for the API.
//
// What was acknowledged is on the disk. Every write returns after its transaction was
// committed with synchronous=FULL; a step of the scheduler is written as a whole or not at
// all. Writes that wait at the same moment share one transaction (group commit), which one of their callers
// carries out.
//
// [OpenMemory] is the same store in memory, for replays and simulations.
//
// The store rejects only what would make the record untrue: versions must grow, transitions
// must be edges of the state diagram, results need an intent, names and idempotency keys are
// unique. It does not read the clock: times come from the callers and are stored as
// nanoseconds since 1970, UTC.
package db
