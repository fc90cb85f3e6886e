package hypervisor

import (
	"context"
	"io"

	"vjob/cluster"
)

// Attacher is a driver whose guests have a line besides their console, on which
// somebody can type: the guest's second serial port. Not all drivers are one.
type Attacher interface {
	// Attach opens the line of the copy that a node holds: bytes both ways, as a terminal
	// has them. Whoever attaches later takes the line over. Reading ends with [io.EOF] when
	// the copy leaves the node, be it that the guest ends, is saved or migrates; closing
	// leaves the guest as it is. A node without a copy is [ErrNoSuchVM], a copy without a
	// line [ErrRefused]. The context is for the opening only.
	Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error)
}
