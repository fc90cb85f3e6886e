package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vjob/cluster"
	"vjob/hypervisor"
)

// prepare creates the files that a machine needs before it boots, and none after the end of its
// context. The overlay of an incarnation is created once: a boot that is repeated or late must
// not overwrite a disk that may be in use.
func (c Config) prepare(ctx context.Context, vm cluster.VMID, s hypervisor.Stamp, p cluster.Payload) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.Lease != nil {
		f, err := os.OpenFile(c.Lease.leasePath(vm), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("lease: %w", err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("lease: %w", err)
		}
	}
	image, err := c.image(p.Image)
	if err != nil || image.Kind != KindDisk {
		return err
	}
	seed, err := makeSeed(vm, s, p)
	if err != nil {
		return err
	}
	iso, err := seed.iso()
	if err != nil {
		return err
	}
	if err := writeFileDurably(ctx, c.seedPath(vm, s), iso); err != nil {
		return err
	}
	overlay := c.overlayPath(vm, s)
	if _, err := os.Stat(overlay); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return createOverlay(ctx, overlay, image.Disk, image.Format)
}
