package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"

	"vjob/api"
	"vjob/cluster"
	"vjob/hypervisor"
)

// consoles opens the serial consoles of a driver, with the errors of the API.
type consoles struct{ driver hypervisor.Attacher }

// attacher returns the serial consoles of the driver, or nil if it has none.
func attacher(driver hypervisor.Driver) api.Attacher {
	if a, ok := driver.(hypervisor.Attacher); ok {
		return consoles{a}
	}
	return nil
}

// adviser returns the driver if it has notes on submissions, or nil.
func adviser(driver hypervisor.Driver) api.Adviser {
	if a, ok := driver.(hypervisor.Adviser); ok {
		return a
	}
	return nil
}

// Attach opens the serial console of a VM. It returns cluster.ErrConflict if the VM is not on
// the node or cannot be attached to, and cluster.ErrUnavailable for all other errors.
func (c consoles) Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	console, err := c.driver.Attach(ctx, vm, node)
	switch {
	case err == nil:
		return console, nil
	case errors.Is(err, hypervisor.ErrNoSuchVM), errors.Is(err, hypervisor.ErrRefused):
		return nil, fmt.Errorf("%w: %w", cluster.ErrConflict, err)
	}
	return nil, fmt.Errorf("%w: %w", cluster.ErrUnavailable, err)
}
