// Package powercut cuts the power of programs that keep files: it records what a program
// asks of the operating system, computes with package disk what a disk may hold after a
// cut at any moment, and hands each such folder to a check.
//
// The recorder is a tracer of system calls (ptrace). SQLite calls the C library, while
// the Go code beside it, which creates the database, syncs folders and seals images,
// calls the kernel itself: an LD_PRELOAD library or a SQLite VFS would see one half,
// and a seam in the product would have to be trusted. The tracer sees both in their
// true order, in the program as it is. It stops at what it does not model (asynchronous
// or mapped writes, copies within the kernel, O_DSYNC) instead of missing it.
// The one mapped file of SQLite, the index of the WAL, is rebuilt at each start and
// needs no content.
//
// Two calls of different threads at once are logged in the order in which they return.
// A sync covers what had returned when it was called.
package powercut
