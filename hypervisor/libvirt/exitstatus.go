package libvirt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"vjob/cluster"
)

// maxTail bounds what is read of a console for the exit status, in bytes. The status is the last that the work of a
// guest prints; after it come the messages of a system that shuts down.
const maxTail = 256 << 10

// printed is the size of the console of a VM in bytes: what earlier guests have printed; 0 without one.
func (c Config) printed(vm cluster.VMID) (int64, error) {
	info, err := os.Stat(c.consolePath(vm))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("console of VM %s: %w", vm, err)
	}
	return info.Size(), nil
}

// exitStatus reads the exit status that a guest has printed on the console of its VM, after what earlier guests had
// printed; [cluster.UnknownExit] if it has printed none.
func (c Config) exitStatus(vm cluster.VMID, printed int64) (cluster.ExitStatus, error) {
	f, err := os.Open(c.consolePath(vm))
	if errors.Is(err, fs.ErrNotExist) {
		return cluster.UnknownExit, nil
	}
	if err != nil {
		return 0, fmt.Errorf("exit status of VM %s: %w", vm, err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("exit status of VM %s: %w", vm, err)
	}
	from := max(printed, info.Size()-maxTail)
	if from >= info.Size() {
		return cluster.UnknownExit, nil
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, from, maxTail))
	if err != nil {
		return 0, fmt.Errorf("exit status of VM %s: %w", vm, err)
	}
	return cluster.ReadExit(tail), nil
}
