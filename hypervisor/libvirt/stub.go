//go:build !libvirt_dlopen || !cgo

package libvirt

import (
	"fmt"
	"log/slog"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Driver drives nodes through libvirt. This build does not include it.
type Driver struct{ hypervisor.Driver }

// New fails: this build has no libvirt.
func New(Config, *slog.Logger) (*Driver, error) {
	return nil, fmt.Errorf("this program was built without libvirt; build it with cgo and -tags libvirt_dlopen: %w",
		cluster.ErrUnavailable)
}
