package libvirt

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// hungBoot is a boot that hangs in the reading of its disk image, which is a pipe, after
// it has found that there is no overlay. release lets it go on and returns how it ended.
func hungBoot(t *testing.T) (c Config, cancel context.CancelFunc, release func() error) {
	t.Helper()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	if err := syscall.Mkfifo(disk, 0o600); err != nil {
		t.Fatal(err)
	}
	c = Config{SeedDir: filepath.Join(dir, "seeds"), Images: []CatalogueImage{{ID: "d", Kind: KindDisk, Disk: disk, Format: "qcow2"}}}
	if err := os.Mkdir(c.SeedDir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.prepare(ctx, overlayVM, overlayStamp, cluster.Payload{Image: "d"}) }()
	pipe, err := os.OpenFile(disk, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	return c, cancel, func() error {
		head := make([]byte, 32)
		binary.BigEndian.PutUint32(head, qcowMagic)
		binary.BigEndian.PutUint64(head[24:], 1<<20)
		if _, err := pipe.Write(head); err != nil {
			t.Fatal(err)
		}
		_ = pipe.Close()
		return <-ended
	}
}

var (
	overlayVM    = cluster.VMID{VJob: 12, Rank: 3}
	overlayStamp = hypervisor.Stamp{Incarnation: 1}
)

// A boot that hung and wakes late leaves the disk alone that a later one has made.
func TestOverlayOfARunningGuestStays(t *testing.T) {
	c, cancel, release := hungBoot(t)
	defer cancel()
	overlay := c.overlayPath(overlayVM, overlayStamp)
	write(t, overlay, []byte("the guest's work"))
	if err := release(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(overlay)
	if err != nil || string(text) != "the guest's work" {
		t.Errorf("the disk of the guest has %d other bytes, %v", len(text), err)
	}
}

// After its deadline a boot makes no disk.
func TestOverlayOfALateBoot(t *testing.T) {
	c, cancel, release := hungBoot(t)
	cancel()
	if err := release(); !errors.Is(err, context.Canceled) {
		t.Errorf("prepare after the context's end: %v", err)
	}
	if _, err := os.Stat(c.overlayPath(overlayVM, overlayStamp)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a boot made its disk after its context's end: %v", err)
	}
}

// A boot gets the files that its image needs, and none if it cannot be.
func TestFilesOfABoot(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		payload cluster.Payload
		ctx     context.Context //nolint:containedctx // of one case
		tmp     string
		want    []string
		is      error
	}{
		"a disk":                 {cluster.Payload{Image: "d"}, t.Context(), "", []string{"l/vjob-12-3", "s/12.3.i1.qcow2", "s/12.3.i1.seed.iso"}, nil},
		"a kernel":               {cluster.Payload{Image: "k"}, t.Context(), "", []string{"l/vjob-12-3"}, nil},
		"no such image":          {cluster.Payload{Image: "x"}, t.Context(), "", []string{"l/vjob-12-3"}, cluster.ErrInvalid},
		"a name that is refused": {cluster.Payload{Image: "d", Env: map[string]string{"1": ""}}, t.Context(), "", []string{"l/vjob-12-3"}, cluster.ErrInvalid},
		"no room for a seed":     {cluster.Payload{Image: "d"}, t.Context(), "missing", []string{"l/vjob-12-3"}, os.ErrNotExist},
		"too late":               {cluster.Payload{Image: "k"}, ended, "", nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, folder := range []string{"l", "s"} {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			disk := filepath.Join(t.TempDir(), "disk")
			sparse(t, disk, 512)
			c := Config{
				SeedDir: filepath.Join(dir, "s"), Lease: &Lease{Path: dir, Lockspace: "l"},
				Images: []CatalogueImage{{ID: "k", Kind: KindKernel}, {ID: "d", Kind: KindDisk, Disk: disk, Format: "raw"}},
			}
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), tt.tmp))
			err := c.prepare(tt.ctx, overlayVM, overlayStamp, tt.payload)
			if !errors.Is(err, tt.is) {
				t.Errorf("%v, want %v", err, tt.is)
			}
			got, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], dir+"/")
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("files %v, want %v", got, tt.want)
			}
		})
	}
}
