//go:build libvirt_dlopen

package lab

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"vjob/cluster"
)

// ImageStore injects faults into the image store of a lab.
type ImageStore struct{ lab *Lab }

// ballast fills the image disk.
const ballast = "ballast"

// Fill leaves the given room on the disk for images. It may be used while
// others write there: it takes what they leave.
func (s ImageStore) Fill(leave cluster.MiB) {
	s.lab.t.Helper()
	f, err := os.OpenFile(s.lab.path("images", ballast), os.O_CREATE|os.O_WRONLY, 0o600)
	s.lab.must(err)
	defer f.Close() //nolint:errcheck // nothing is buffered
	for tries := 100; ; {
		var fsys syscall.Statfs_t
		s.lab.must(syscall.Fstatfs(int(f.Fd()), &fsys))
		size := min(int64(fsys.Bavail)*fsys.Bsize-int64(leave)<<20, 16<<20)
		if size <= 0 {
			return
		}
		end, err := f.Seek(0, 2)
		s.lab.must(err)
		err = syscall.Fallocate(int(f.Fd()), 0, end, size)
		if tries--; err != nil && (tries == 0 || !errors.Is(err, syscall.ENOSPC)) {
			s.lab.must(err)
		}
	}
}

// Empty gives back what Fill took.
func (s ImageStore) Empty() {
	s.lab.t.Helper()
	if err := os.Remove(s.lab.path("images", ballast)); !errors.Is(err, os.ErrNotExist) {
		s.lab.must(err)
	}
}

// LimitReads limits the rate at which the QEMUs of a host read images, in KiB per second, and
// makes reads fail with an I/O error after some KiB. 0 is no limit and no failure. The lab must
// have been started with SlowImages.
func (s ImageStore) LimitReads(node cluster.NodeID, perSecond, failAfter int) {
	s.lab.t.Helper()
	s.lab.must(os.WriteFile(s.lab.path("faults", s.lab.host(node).name), fmt.Appendf(nil, "%d %d\n", perSecond, failAfter), 0o644))
}

// Unmount takes the image store away from the scheduler, and leaves the empty mount
// point. The hosts keep it.
func (s ImageStore) Unmount() {
	s.lab.t.Helper()
	s.lab.must(os.MkdirAll(s.lab.path("away"), 0o755))
	s.lab.must(syscall.Mount(s.lab.path("images"), s.lab.path("away"), "", syscall.MS_BIND, ""))
	s.lab.must(syscall.Unmount(s.lab.path("images"), syscall.MNT_DETACH))
}

// Mount ends Unmount.
func (s ImageStore) Mount() {
	s.lab.t.Helper()
	s.lab.must(syscall.Mount(s.lab.path("away"), s.lab.path("images"), "", syscall.MS_BIND, ""))
	s.lab.must(syscall.Unmount(s.lab.path("away"), syscall.MNT_DETACH))
}

// UseUpInodes leaves room for a number of further files in the image store.
func (s ImageStore) UseUpInodes(leave int) {
	s.lab.t.Helper()
	for tries := 100; ; tries-- {
		var fsys syscall.Statfs_t
		s.lab.must(syscall.Statfs(s.lab.path("images"), &fsys))
		used := fsys.Files - fsys.Ffree
		err := s.remount(fmt.Sprintf("nr_inodes=%d", used+uint64(leave)))
		if err == nil {
			return
		}
		if tries == 0 { // others make files meanwhile
			s.lab.must(err)
		}
	}
}

// FreeInodes ends UseUpInodes.
func (s ImageStore) FreeInodes() {
	s.lab.t.Helper()
	s.lab.must(s.remount("nr_inodes=100000"))
}

func (s ImageStore) remount(option string) error {
	return syscall.Mount("", s.lab.path("images"), "", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm,%s", s.lab.opts.ImageDiskMiB, option))
}
