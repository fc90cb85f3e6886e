// Package endtoend drives the real thing as its users do: the vjobd binary as a
// process of its own, the REST API on its unix socket, libvirt hosts of the lab
// and guests that count on their consoles. A watcher looks at every host all the
// while: no VM ever runs twice, and what is not vjob's is left alone.
//
// TestKilledAnywhere kills the daemon at points of every step of a context
// switch. It takes some of the points, spread evenly; with VJOB_EVERY_POINT=1 it
// takes all of them, which takes a quarter of an hour.
package endtoend
