// Package mapping says what a request of OAR means in VMs: how many of what size, and
// where they may be.
//
// A job of OAR gets cores of nodes; a vjob gets VMs. [Shapes] turns the levels of each
// group into VMs without knowing any node: nodes=4/core=2 is four VMs of two
// processors on nodes of their own. [Place] looks at the nodes: it counts what ALL and
// BEST stand for, gives sizes where the request has none, refuses what could not even
// be had on an empty cluster, and states the places as rules in the language of
// package repack/script. docs/oar-compatibility.md has the table.
//
// It refuses to know what runs at present, but for the nodes that are free.
package mapping
