package libvirt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vjob/cluster"
	"vjob/hypervisor"
)

// lastGuest is the guest of a VM that was started last. It is kept in a file beside the console: the description of a
// machine, which says the same, is gone with the machine.
type lastGuest struct {
	Incarnation int   `json:"incarnation"`
	Printed     int64 `json:"printed"` // by earlier guests, in bytes
}

// noteGuest writes which guest of a VM is started now.
func (c Config) noteGuest(ctx context.Context, vm cluster.VMID, g lastGuest) error {
	text, err := json.Marshal(g)
	if err == nil {
		err = writeFileDurably(ctx, c.guestPath(vm), text)
	}
	if err != nil {
		return fmt.Errorf("note of the guest of VM %s: %w", vm, err)
	}
	return nil
}

// told returns the exit status that a guest has printed; [cluster.UnknownExit] if it has printed none, or if it is not
// the last guest of its VM.
func (c Config) told(g hypervisor.Guest) (cluster.ExitStatus, error) {
	text, err := os.ReadFile(c.guestPath(g.VM))
	if errors.Is(err, fs.ErrNotExist) { // it was started by an older version
		return cluster.UnknownExit, nil
	}
	var last lastGuest
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err != nil {
		return 0, fmt.Errorf("note of the guest of VM %s: %w", g.VM, err)
	}
	if last.Incarnation != g.Incarnation {
		return cluster.UnknownExit, nil
	}
	return c.exitStatus(g.VM, last.Printed)
}
