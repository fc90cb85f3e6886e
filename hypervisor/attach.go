package hypervisor

import (
	"context"
	"io"

	"vjob/cluster"
)

// Attacher is a driver with interactive consoles: the second serial port of each guest. Not all
// drivers implement it.
type Attacher interface {
	// Attach opens the interactive console of a copy: bytes both ways, as for a terminal. A later
	// Attach takes the console over. Reading ends with [io.EOF] when the copy leaves the node
	// because the guest ends, is saved or migrates; closing does not affect the guest. The error
	// is [ErrNoSuchVM] if the node holds no copy, [ErrRefused] if the copy has no such console.
	// The context is for the opening only.
	Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error)
}
