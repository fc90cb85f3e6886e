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

// lines are those of a driver, with the errors of the API.
type lines struct{ driver hypervisor.Attacher }

// attacher is what the driver has of lines; nil if it has none.
func attacher(driver hypervisor.Driver) api.Attacher {
	if a, ok := driver.(hypervisor.Attacher); ok {
		return lines{a}
	}
	return nil
}

// Attach opens a line.
func (l lines) Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	line, err := l.driver.Attach(ctx, vm, node)
	switch {
	case err == nil:
		return line, nil
	case errors.Is(err, hypervisor.ErrNoSuchVM), errors.Is(err, hypervisor.ErrRefused):
		return nil, fmt.Errorf("%w: %w", cluster.ErrConflict, err)
	}
	return nil, fmt.Errorf("%w: %w", cluster.ErrUnavailable, err)
}
